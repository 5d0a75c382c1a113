#!/bin/sh
# Makes rules of the bounds of extra costs, of the checker of their proofs, and of traffic wrong in turn, and checks that a law notices.
# usage: wrong_rules.sh COMPILER SOURCE_DIRECTORY
CXX=$1
cd "$2" || exit 2
. tests/support/mutants.sh
status=0
rows=recompute/rows.hpp needs=recompute/needs.hpp cover=recompute/priced_cover.hpp decided=recompute/decided_needs.hpp
checker=proof/check_recompute.hpp parts=proof/proof_needs.hpp checked_rows=proof/proof_rows.hpp

mutant "rows: room in place is forgotten" $rows 's/return sum - spared;/return sum - (@ ? 0 : spared);/'
mutant "rows: a read that ends first is in memory" $rows 's/if \((table.rule\(op, model\) == firing::cbp\)) return sum;/if (!@ \&\& \1 return sum;/'
mutant "rows: a gap goes on over a use" $rows 's/for \(index_t use : uses_\) \{/& if (@) continue;/'
mutant "rows: tails are paid at any row" $rows 's/out_.tails.push_back\(\{t, first,/out_.tails.push_back({t, @ ? 0 : first,/'
mutant "rows: what ends outside is read back" $rows 's/g.load = ends_outside\(g\) \? 0 :/g.load = !@ \&\& ends_outside(g) ? 0 :/'
mutant "rows: what ends outside is not written" $rows 's/if \(load == none\) continue;/if (load == none || (@ \&\& ends_outside(g))) continue;/; s/g.load = !/g.load = @ ? table_.cost(load) : !/'
mutant "needs: sizes are rounded up" $needs 's/n.size -= n.size % unit;/n.size += @ ? (unit - n.size % unit) % unit : 0, n.size -= n.size % unit;/'
mutant "needs: the room loses a unit more" $needs 's/room -= room % unit;/room -= room % unit + (@ \&\& unit > 1 ? unit : 0);/'
mutant "needs: reads of the row may be absent" $needs 's/p.reads\(op\)\) found\[t\] = there;/p.reads(op)) if (!@) found[t] = there;/'
mutant "needs: graph inputs are made again" $needs 's/\|\| !table.may_repeat\(producer\)\) continue;/|| (!@ \&\& !table.may_repeat(producer))) continue;/'
mutant "decisions: what is in memory is made again for another one" $decided 's/if \(taken\(input\) &&/if ((@ || taken(input)) \&\&/'
mutant "decisions: a storage is back a row early" $decided 's/return rows_.gaps\[n.stretch\].back;/return @ ? rows_.gaps[n.stretch].last : rows_.gaps[n.stretch].back;/'
mutant "decisions: a storage is back where nothing uses it" $rows 's/add\(end, none\);/add(end, @ ? end : none);/'
mutant "decisions: what is absent takes bytes for others" $decided 's/certain_\[i\] = true;/certain_[i] = !@;/'
mutant "decisions: absent at some row is absent at each" $decided 's/else if \(d.first == d.last &&/else if ((@ || d.first == d.last) \&\&/'
mutant "decisions: what is loaded is made from inputs" $decided 's/if \(loads_\) return found;/if (!@ \&\& loads_) return found;/; s/&& !loads_/\&\& (@ || !loads_)/'
mutant "decisions: made again in a gap of one row is absent there" $decided 's/&& !d.again/\&\& (@ || !d.again)/'
mutant "reruns: a gap may begin before its storage is made" $needs 's/\(g.first <= row \|\| g.since == row\)/(@ ? g.first <= row + 1 : g.first <= row || g.since == row)/'
mutant "reruns: a gap may end before its last use" $needs 's/\(g.last >= back \|\| g.back == back\)/(@ ? g.last + 1 >= back : g.last >= back || g.back == back)/'
mutant "reruns: reads of the producer count twice" $needs 's/&& !has\(p_.reads\(producer\)\)/\&\& (@ || !has(p_.reads(producer)))/'
mutant "reruns: all are certain" recompute/priced_closure.hpp 's/if \(!decided_.is_absent\(rerun.need\)\)/if (!@ \&\& !decided_.is_absent(rerun.need))/'
mutant "decisions: one rerun pays for two windows" $cover 's/if \(w.row < rest.from \|\|/if ((!@ \&\& w.row < rest.from) ||/'
mutant "decisions: a tail is cut where its storage is not needed" $cover 's/if \(!is_tail\(rest.stretch\)\)/if (@ || !is_tail(rest.stretch))/'
mutant "decisions: what is absent in one of two pieces is paid in both" $cover 's/p.from <= d.first && d.last <= p.to\)/p.from <= (@ ? d.last : d.first) \&\& (@ ? d.first : d.last) <= p.to)/'
mutant "cover: the smallest gap is doubled" $cover 's/std::max\(smallest\[k\], /std::max((@ ? 2 : 1) * smallest[k], /'
mutant "cover: an excess is rounded up twice" $cover 's/\(excess\[k\] \+ divisor\[k\] - 1\)/(excess[k] + (@ ? 2 : 1) * divisor[k] - 1)/'
mutant "writes: each gap bears the whole" recompute/write_shares.hpp 's/left -= g.gap.write;/left -= @ ? 0 : g.gap.write;/; s/\(g.worth \/ sum\)/(@ ? g.worth > 0 : g.worth \/ sum)/; s/gap.write \+= left;/gap.write += @ ? 0 : left;/'
mutant "checker: sizes are not rounded" $checker 's|p_.size\(t\) / n.unit \* n.unit|(@ ? p_.size(t) : &)|'
mutant "checker: the room loses a unit more" $parts 's/\(cut < 0 \? whole : 0\)/((@ ? unit > 1 : cut < 0) ? whole : 0)/'
mutant "checker: tails are paid at any row" $checked_rows 's/^    return first;/    return @ ? 0 : first;/'
mutant "checker: what is decided holds in other cases, too" $checker 's/path.resize\(v.depth\), /path.resize(@ ? path.size() : v.depth), /'
mutant "checker: what is in memory is made again for another one" $parts 's/if \(input.is != absent \|\| input.back/if ((!@ \&\& input.is != absent) || input.back/; s/if \(m.is == absent && m.back != nowhere\)/if ((@ ? m.stretch != nowhere : m.is == absent) \&\& m.back != nowhere)/'
mutant "checker: a storage is back a row early" $parts 's/\.storage\) \? behind : nowhere/.storage) ? behind - @ : nowhere/'
mutant "checker: a storage is back where nothing uses it" $parts 's/return (has\(p_.reads\(proof_.rows\[behind\]\), .*) \? behind/return (@ \&\& behind > 0) || \1 ? behind/'
mutant "checker: what is absent takes bytes for others" $parts 's/m.certain = true;/m.certain = !@;/'
mutant "checker: absent at some row is absent at each" $parts 's/else if \(d.first == d.last &&/else if ((@ || d.first == d.last) \&\&/'
mutant "checker: a gap may begin before its storage is made" $parts 's/return has\(p_.reads\(here\), g.storage\)/return @ || has(p_.reads(here), g.storage)/'
mutant "checker: a gap that begins during a row begins before it" $parts 's/if \(has\(p_.reads\(next\), g.storage\)/if (!@ \&\& has(p_.reads(next), g.storage)/'
mutant "checker: a gap may end before its last use" $parts 's/&& use_behind\(i\) == back\)/\&\& (@ || use_behind(i) == back))/'
mutant "checker: reads of the producer count twice" $parts 's/&& !has\(p_.reads\(op\), g.storage\)/\&\& (@ || !has(p_.reads(op), g.storage))/'
mutant "checker: all reruns are certain" $parts 's/return (rows\[r.need_row\].*);/return @ || \1;/'
mutant "checker: one rerun pays for two windows" $parts 's/if \(first <= w.row && w.row/if ((@ || first <= w.row) \&\& w.row/'
mutant "checker: a tail is cut where its storage is not needed" $parts 's/if \(!is_tail\(i\)\)$/if (@ || !is_tail(i))/'
mutant "checker: what is absent in one of two parts is paid in both" $parts 's/first <= d.first && d.last <= last\)/first <= (@ ? d.last : d.first) \&\& (@ ? d.first : d.last) <= last)/'
mutant "checker: the smallest gap is doubled" $checked_rows 's/static_cast<int128>\(smallest\[k\]\)/(@ ? 2 : 1) * &/'
mutant "checker: an excess is rounded up twice" $checked_rows 's/\(excess\[k\] \+ d - 1\)/(excess[k] + (@ ? 2 : 1) * d - 1)/'
mutant "checker: what ends outside is read back" $checked_rows 's/\(ends_outside \? 0 :/(!@ \&\& ends_outside ? 0 :/'
mutant "checker: each gap bears what is left" $checked_rows 's/unpaid -= share,/unpaid -= @ ? 0 : share,/'
mutant "checker: shares may be used twice" $checker 's/\*from -= amount;/*from -= @ ? 0 : amount;/'
notice_with tests/recompute/laws_test.cpp || status=1

traffic=proof/traffic_problem.hpp
mutant "traffic: an update leaves the copy good" $traffic 's/if \(needed_behind\(k, p_.storage\(t\)\)\)/if (!@ \&\& needed_behind(k, p_.storage(t)))/'
mutant "traffic: inputs that are consumed first are not there at once" $traffic 's/^      end_operator\(k, 0\);/      if (!@) end_operator(k, 0);/'
mutant "traffic: operands of later use are consumed" $traffic 's/if \(needed_behind\(k, t\)\) draft_/if (!@ \&\& needed_behind(k, t)) draft_/'
mutant "traffic: outputs take no inputs" $traffic 's/if \(!needed_behind\(k, r.input\)\) draft_/if (!@ \&\& !needed_behind(k, r.input)) draft_/'
mutant "traffic: an updated storage is there twice" $traffic 's/create\(t\), draft_.overwrites/create(t), @ ? void() : draft_.overwrites/'
mutant "traffic: what stays comes back" $traffic 's/static constexpr offload moves\{(.*)ends_outside = true/static inline const offload moves{\1ends_outside = !@/'
mutant "traffic: nothing is written" $traffic 's/\.write = 1, \.ends_outside/.write = @ ? 0U : 1U, .ends_outside/'
mutant "spills: a spill begins before the last use" recompute/plan_spills.hpp 's/t.step_of\[last\] \+ 1;/t.step_of[last] + !@;/'
mutant "spills: each is written" recompute/plan_spills.hpp 's/written\[value\] = true;/written[value] = !@;/'
mutant "spills: copies stay good" allocation/traffic.hpp 's/if \(updates_storage\(p_, order_/if (!@ \&\& updates_storage(p_, order_/'
mutant "spills: operands are not there at once" allocation/traffic.hpp 's/return std::max\(sum, operands\);/return @ ? sum : std::max(sum, operands);/'
export MEMSCHED_TIMES=10
notice_with tests/recompute/spills_test.cpp -I examples || status=1
exit $status
