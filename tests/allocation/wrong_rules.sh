#!/bin/sh
# Makes rules of the exact search for offsets, of order and offsets together, and of traffic wrong in turn, and checks that the oracles
# notice.
# usage: wrong_rules.sh COMPILER SOURCE_DIRECTORY
CXX=$1
cd "$2" || exit 2
. tests/support/mutants.sh
status=0

file=allocation/fit_search.hpp
mutant "A1: only the first candidate" $file 's/if \(answer != fit_answer::never\) return answer;/if (@ || answer != fit_answer::never) return answer;/'
mutant "A2: up to the higher wall" $file 's/units level = std::min\((p > v.a .*)\);/units level = @ ? std::max(\1) : std::min(\1);/'
mutant "A2: above the size before a drop" $file 's/h \+ item.least\)/h + (@ ? item.size : item.least))/'
mutant "A2: alignments and fixed offsets forgotten" $file 's/return special_level\(v.from/return @ ? level : special_level(v.from/'
mutant "A5: a part ends too early" $file 's/item.first >= parts.back\(\).b\)/item.first + @ >= parts.back().b)/'
mutant "A6: floors not in the key" $file 's/mix\((static_cast<std::uint64_t>\(floor_\[s\]\) << 1) \|/mix((@ ? 0 : \1) |/'
mutant "A6: items not in the key" $file 's/mix\((pool_\[k\] .*)\);/mix(@ ? 1 : \1);/'
mutant "A7: also with alignments, fixed offsets, uneven caps" $file 's/ \|\| !even_\) return none;/ || (!@ \&\& !even_)) return none;/'
mutant "A7: also where the floor is uneven" $file 's/if \(wall\(s\) != floor_\[v.a\]\)/if (@ ? wall(s) > floor_[v.a] : wall(s) != floor_[v.a])/'
mutant "A8: a twin never gets its turn" $file 's/ && offset_\[other\] < 0;/ \&\& (@ || offset_[other] < 0);/'
file=allocation/fit_state.hpp
mutant "A3: alignments and fixed offsets forgotten" $file 's/level = special_level\(from/level = @ ? v.slack : special_level(from/'
mutant "A3: raised sections never supported" $file 's/support \|= offset_/support |= !@ \&\& offset_/'
mutant "A3: one supported section is not enough" $file 's/if \(supported_\[s\] != 0\) return/if (supported_[s] != 0 \&\& (!@ || s + 1 == q)) return/'
mutant "A4: the capacity itself is too much" $file 's/if \(jobs_.back\(\).first \+ sum > top_\)/if (jobs_.back().first + sum + @ > top_)/'
mutant "A4: a section that is just full is too full" $file 's/if \(low > safe\)/if (low + @ > safe)/'
export MEMSCHED_TIMES=13
notice_with tests/allocation/planners_test.cpp || status=1

file=allocation/joint_search.hpp
mutant "J1: an order of the least peak decides" $file 's/(if \(conflict.buffers.empty\(\)\) return) answer::open;/\1 @ ? answer::no : answer::open;/'
mutant "J1: a before b is forgotten" $file 's/before\(a, b, edges\)\) add/!@ \&\& before(a, b, edges)) add/'
mutant "J1: (b) what meets may not tie" $file 's/ tie\(a, b\), tie\(b, a\);$/ if (!@)&/'
mutant "J1: (c) what is tied may not part" $file 's/if \(r != fresh.writer\) add/if (!@ \&\& r != fresh.writer) add/'
mutant "J1: under cbp the writer is no last reader" $file 's/else if \(rule\(r\) != firing::cbp\)/else if (@ || rule(r) != firing::cbp)/'
mutant "J1: drops ignored" $file 's/const bool rectangles = (.*);/const bool rectangles = @ || (\1);/'
mutant "joint: open is no" $file 's/if \(a == answer::open\) all/if (!@ \&\& a == answer::open) all/'
mutant "joint: bounds grow too far" allocation/plan_order_and_offsets.hpp 's|bound = target / step \* step \+ step|& * (@ ? 2 : 1)|'
export MEMSCHED_TIMES=5
notice_with tests/allocation/joint_test.cpp || status=1

file=allocation/traffic.hpp
mutant "traffic of an order: waiting outputs move twice" $file 's/bool ends = next_/bool ends = !@ \&\& next_/'
mutant "traffic of an order: inputs move twice" $file 's/fresh = p_.writer/fresh = !@ \&\& p_.writer/'
mutant "traffic of an order: what is written for nothing moves" $file 's/if \(!p_.kept\(t\)\) for_nothing \+= p_.size\(t\);/if (!p_.kept(t)) for_nothing += @ ? 0 : p_.size(t);/'
mutant "traffic of an order: outputs that stream out move twice" $file 's/once \+= p_.size\(t\);/once += @ ? 0 : p_.size(t);/'
mutant "traffic of an order: operands that do not fit" $file 's/if \(operands > capacity_\) return;/if (!@ \&\& operands > capacity_) return;/'
file=allocation/traffic_bound.hpp
mutant "traffic of all orders: operands that do not fit" $file 's/if \(operands > capacity\) return 0;/if (!@ \&\& operands > capacity) return 0;/'
mutant "traffic of all orders: ends move twice" $file 's/moved\(with_ends, ends\)/moved(with_ends, @ ? 0 : ends)/'
mutant "traffic of all orders: what is written for nothing moves" $file 's/nothing \+= p.size\(t\);/nothing += @ ? 0 : p.size(t);/'
mutant "traffic of all orders: inputs are no ends" $file 's/ \|\| \(p.producer\(t\) == none && \(\+\+inputs/ || (!@ \&\& p.producer(t) == none \&\& (++inputs/'
mutant "traffic of all orders: outputs in place of inputs" $file 's/in_place \+= p.size\(r.output\);/in_place += @ ? 0 : p.size(r.output);/'
mutant "traffic of all orders: a capacity beyond all bounds" $file 's/std::min\(peak, capacity\);/std::min(peak, capacity + (@ ? for_nothing + written_for_nothing : 0));/; s/outside -= std::min/if (!@) &/'
export MEMSCHED_TIMES=10
notice_with tests/allocation/traffic_test.cpp -I examples || status=1
exit $status
