#!/bin/sh
# Makes rules of the bounds of extra costs, and of the checker of their proofs, wrong in turn, and checks that a law notices.
# usage: wrong_rules.sh COMPILER SOURCE_DIRECTORY
compiler=$1 source=$2
test=recompute/laws_test.cpp
flags=""
. "$source/tests/support/wrong_rules.sh"
rows=recompute/rows.hpp needs=recompute/needs.hpp cover=recompute/priced_cover.hpp decided=recompute/decided_needs.hpp
closure=recompute/priced_closure.hpp checker=proof/check_recompute.hpp parts=proof/proof_needs.hpp

wrong "rows: room in place is forgotten" $rows 's/return sum - spared;/return sum;/'
wrong "rows: a read that ends first is in memory" $rows 's/if (table.rule(op, model) == firing::cbp) return sum;//'
wrong "rows: a gap goes on over a use" $rows 's/for (index_t use : uses_) {/for (index_t use : uses_) { continue;/'
wrong "needs: sizes are rounded up" $needs 's/n.size -= n.size % unit;/n.size += (unit - n.size % unit) % unit;/'
wrong "needs: the room loses a unit more" $needs 's/room -= room % unit;/room -= room % unit + (unit > 1 ? unit : 0);/'
wrong "needs: reads of the row may be absent" $needs 's/for (tensor_id t : p.reads(op)) found\[t\] = there;/;/'
wrong "needs: graph inputs are made again" $needs 's/if (producer == none || !table.may_repeat(producer)) continue;/if (producer == none) continue;/'
wrong "rows: tails are paid at any row" $rows 's/if (first < rows) out_.tails.push_back({t, first,/if (first < rows) out_.tails.push_back({t, 0,/'
wrong "decisions: what is in memory is made again for another one" $decided 's/if (taken(input) \&\& /if (/'
wrong "decisions: a storage is back a row early" $decided 's/return rows_.gaps\[n.stretch\].back;/return rows_.gaps[n.stretch].last;/'
wrong "decisions: a storage is back where nothing uses it" $rows 's/add(end, none);/add(end, end);/'
wrong "decisions: what is absent takes bytes for others" $decided 's/certain_\[i\] = true;//'
wrong "decisions: absent at some row is absent at each" $decided 's/else if (d.first == d.last \&\& !d.again/else if (!d.again/'
wrong "decisions: what is loaded is made from inputs" $decided 's/if (loads_) return found;//;s/ \&\& !loads_//'
wrong "decisions: made again in a gap of one row is absent there" $decided 's/ \&\& !d.again//'
wrong "reruns: a gap may begin before its storage is made" $needs 's/(g.first <= row || g.since == row)/(g.first <= row + 1)/'
wrong "reruns: a gap may end before its last use" $needs 's/(g.last >= back || g.back == back)/(g.last + 1 >= back)/'
wrong "reruns: reads of the producer count twice" $needs 's/ \&\& !has(p_.reads(producer))//'
wrong "reruns: all are certain" $closure 's/if (!decided_.is_absent(rerun.need)) continue;//'
wrong "decisions: one rerun pays for two windows" $cover 's/if (w.row < rest.from ||/if (/'
wrong "decisions: a tail is cut where its storage is not needed" $cover 's/if (!is_tail(rest.stretch)) {/{/'
wrong "decisions: what is absent in one of two pieces is paid in both" $cover 's/if (d.absent \&\& p.from <= d.first \&\& d.last <= p.to)/if (d.absent \&\& p.from <= d.last \&\& d.first <= p.to)/'
wrong "checker: sizes are not rounded" $checker 's|p_.size(t) / n.unit \* n.unit|p_.size(t)|'
wrong "checker: the room loses a unit more" $parts 's/(cut < 0 ? whole : 0)/(unit > 1 ? whole : 0)/'
wrong "checker: tails are paid at any row" proof/proof_rows.hpp 's/^    return first;/    return 0;/'
wrong "checker: what is decided holds in other cases, too" $checker 's/path.resize(v.depth), //'
wrong "checker: what is in memory is made again for another one" $parts \
  's/if (input.is != absent || input.back/if (input.back/;s/if (m.is == absent \&\& m.back != nowhere)/if (m.back != nowhere \&\& m.stretch != nowhere)/'
wrong "checker: a storage is back a row early" $parts 's/\.storage) ? behind : nowhere/.storage) ? behind - 1 : nowhere/'
wrong "checker: a storage is back where nothing uses it" $parts 's/\.storage) ? behind : nowhere/.storage) || behind > 0 ? behind : nowhere/'
wrong "checker: what is absent takes bytes for others" $parts 's/m.certain = true;//'
wrong "checker: absent at some row is absent at each" $parts 's/else if (d.first == d.last \&\& !d.again/else if (!d.again/'
wrong "checker: a gap may begin before its storage is made" $parts 's/return has(p_.reads(here), g.storage) .*;/return true;/'
wrong "checker: a gap that begins during a row begins before it" $parts 's/if (has(p_.reads(next), g.storage) \&\& rows_.rule(next) == firing::cbp) return false;//'
wrong "checker: a gap may end before its last use" $parts 's/(g.last + 1 == back \&\& use_behind(i) == back)/g.last + 1 == back/'
wrong "checker: reads of the producer count twice" $parts 's/ \&\& !has(p_.reads(op), g.storage)//'
wrong "checker: all reruns are certain" $parts 's/return rows\[r.need_row\].members\[r.member\].is == absent;/return true;/'
wrong "checker: one rerun pays for two windows" $parts 's/if (first <= w.row \&\& w.row < w.back/if (w.row < w.back/'
wrong "checker: a tail is cut where its storage is not needed" $parts 's/if (!is_tail(i))$//'
wrong "checker: what is absent in one of two parts is paid in both" $parts 's/if (d.absent \&\& first <= d.first \&\& d.last <= last)/if (d.absent \&\& first <= d.last \&\& d.first <= last)/'
wrong "cover: the smallest gap is doubled" $cover 's/std::max(smallest\[k\], (excess/std::max(2 * smallest[k], (excess/'
wrong "cover: an excess is rounded up twice" $cover 's/(excess\[k\] + divisor\[k\] - 1)/(excess[k] + 2 * divisor[k] - 1)/'
wrong "checker: the smallest gap is doubled" proof/proof_rows.hpp 's/static_cast<int128>(smallest\[k\])/2 * static_cast<int128>(smallest[k])/'
wrong "checker: an excess is rounded up twice" proof/proof_rows.hpp 's/(excess\[k\] + d - 1)/(excess[k] + 2 * d - 1)/'
wrong "rows: what ends outside is read back" $rows 's/g.load = ends_outside(g) ? 0 : /g.load = /'
wrong "rows: what ends outside is not written" $rows 's/if (load == none) continue;/if (load == none || ends_outside(g)) continue;/;s/g.load = ends_outside(g) ? 0 : table_.cost(load)/g.load = table_.cost(load)/'
wrong "checker: what ends outside is read back" proof/proof_rows.hpp 's/share + (ends_outside ? 0 : \(.*\)));/share + \1);/'
wrong "writes: each gap bears the whole" recompute/write_shares.hpp 's/left -= g.gap.write;/left -= 0;/;s/(g.worth \/ sum)/(g.worth > 0)/;s/->gap.write += left;/->gap.write += 0;/'
wrong "checker: each gap bears what is left" proof/proof_rows.hpp 's/unpaid -= share, ++shares_;/++shares_;/'
wrong "checker: shares may be used twice" $checker 's/\*from -= amount;//'

test=recompute/spills_test.cpp
flags="-DMEMSCHED_LAW_SPILLS=10000 -I $source/examples"
traffic=proof/traffic_problem.hpp
wrong "traffic: an update leaves the copy good" $traffic 's/if (needed_behind(k, p_.storage(t))) updated.push_back(p_.storage(t));//'
wrong "traffic: inputs that are consumed first are not there at once" $traffic 's/^      end_operator(k, 0);$//'
wrong "traffic: operands of later use are consumed" $traffic 's/if (needed_behind(k, t)) draft_.reads.push(value_\[t\]);/;/'
wrong "traffic: outputs take no inputs" $traffic 's/draft_.overwrites.push({value_\[r.output\], before\[r.input\]})/;/'
wrong "traffic: an updated storage is there twice" $traffic 's/, draft_.overwrites.push({value_\[t\], before\[t\]})//'
wrong "traffic: what stays comes back" $traffic 's/.write = 1, .ends_outside = true/.write = 1, .ends_outside = false/'
wrong "traffic: nothing is written" $traffic 's/.write = 1, .ends_outside/.write = 0, .ends_outside/'
wrong "spills: a spill begins before the last use" recompute/plan_spills.hpp 's/t.step_of\[last\] + 1;/t.step_of[last];/'
wrong "spills: each is written" recompute/plan_spills.hpp 's/written\[value\] = true;//'
wrong "spills: copies stay good" allocation/traffic.hpp 's/if (updates_storage(p_, order_\[now_\], t)) copied_\[t\] = 0;//'
wrong "spills: operands are not there at once" allocation/traffic.hpp 's/return std::max(sum, operands);/return sum;/'
exit $status
