#!/bin/sh
# Makes each rule of the exact search, and of order and offsets together, wrong in turn, and checks that the oracles notice.
# usage: wrong_rules.sh COMPILER SOURCE_DIRECTORY
compiler=$1 source=$2
test=allocation/planners_test.cpp
flags="-DMEMSCHED_ORACLE_FIRST=0 -DMEMSCHED_ORACLE_LAST=20000"
. "$source/tests/support/wrong_rules.sh"
header=allocation/fit_search.hpp state=allocation/fit_state.hpp

wrong "A1: only the first candidate" $header 's/if (answer != fit_answer::never) return answer;/return answer;/'
wrong "A2: up to the higher wall" $header 's/units level = std::min(p > v.a/units level = std::max(p > v.a/'
wrong "A2: above the size before a drop" $header 's/level = std::min(level, h + item.least)/level = std::min(level, h + item.size)/'
wrong "A2: alignments and fixed offsets forgotten" $header 's/return special_level(v.from, v.to, p, q, x, level);/return level;/'
wrong "A3: alignments and fixed offsets forgotten" $state 's/level = special_level(from, to, v.a, v.b, none, v.slack)/level = v.slack/'
wrong "A3: raised sections never supported" $state 's/support |= offset_\[i\] < 0.*/(void)item;/'
wrong "A3: one supported section is not enough" $state 's/if (supported_\[s\] != 0) return true;/if (supported_[s] != 0 \&\& s + 1 == q) return true;/'
wrong "A4: the capacity itself is too much" $state 's/if (jobs_.back().first + sum > top_) return false;/if (jobs_.back().first + sum >= top_) return false;/'
wrong "A4: a section that is just full is too full" $state 's/if (low > safe) return false;/if (low >= safe) return false;/'
wrong "A5: a part ends too early" $header 's/if (parts.empty() || item.first >= parts.back().b)/if (parts.empty() || item.first + 1 >= parts.back().b)/'
wrong "A6: floors not in the key" $header 's/mix(static_cast<std::uint64_t>(floor_\[s\]) << 1 |/mix(/'
wrong "A6: items not in the key" $header 's/mix(pool_\[k\] + (std::uint64_t{1} << 40));/mix(1);/'
wrong "A7: also with alignments, fixed offsets, uneven caps" $header 's/if (!rules_.everywhere || !even_) return none;/if (!rules_.everywhere) return none;/'
wrong "A7: also where the floor is uneven" $header 's/if (wall(s) != floor_\[v.a\]) return none;/if (wall(s) > floor_[v.a]) return none;/'
wrong "A8: a twin never gets its turn" $header 's/return rules_.twins \&\& other != none \&\& offset_\[other\] < 0;/return rules_.twins \&\& other != none;/'

test=allocation/joint_test.cpp
flags="-DMEMSCHED_LAW_JOINT=2000"
header=allocation/joint_search.hpp
wrong "J1: an order of the least peak decides" $header 's/if (conflict.buffers.empty()) return answer::open;/return answer::no;/'
wrong "J1: a before b is forgotten" $header 's/if (order_edges edges; before(a, b, edges)) add(std::move(edges));//'
wrong "J1: (b) what meets may not tie" $header 's/        tie(a, b), tie(b, a);$/        (void)tie;/;s/done.insert(std::minmax(a.buffer, b.buffer)).second) continue;/&/'
wrong "J1: (c) what is tied may not part" $header 's/if (r != fresh.writer) add({{fresh.writer, r}});/(void)r;/'
wrong "J1: under cbp the writer is no last reader" $header 's/else if (rule(r) != firing::cbp) return false;/else return false;/'
wrong "J1: drops ignored" $header 's/const bool rectangles = .*/const bool rectangles = true;/'
wrong "joint: open is no" $header 's/if (a == answer::open) all = a;//'
header=allocation/plan_order_and_offsets.hpp
wrong "joint: bounds grow too far" $header 's|bound = target / step \* step + step|bound = target / step * step + 2 * step|'

test=allocation/traffic_test.cpp
flags="-DMEMSCHED_LAW_TRAFFIC=20000 -I $source/examples"
header=allocation/traffic.hpp
wrong "traffic of an order: waiting outputs move twice" $header 's/bool ends = next_\[t\] == order_.size()/bool ends = false/'
wrong "traffic of an order: inputs move twice" $header 's/fresh = p_.writer(t) == none \&\& read_at_\[t\] == never/fresh = false/'
wrong "traffic of an order: what is written for nothing moves" $header 's/if (!p_.kept(t)) for_nothing += p_.size(t);/if (!p_.kept(t)) continue;/'
wrong "traffic of an order: outputs that stream out move twice" $header 's/else if (p_.readers(t).empty()) once += p_.size(t);//'
wrong "traffic of an order: operands that do not fit" $header 's/if (operands > capacity_) return;//'
header=allocation/traffic_bound.hpp
wrong "traffic of all orders: operands that do not fit" $header 's/if (operands > capacity) return 0;//'
wrong "traffic of all orders: ends move twice" $header 's/return std::max(moved(with_ends, ends),/return std::max(moved(with_ends, 0),/'
wrong "traffic of all orders: what is written for nothing moves" $header 's/nothing += p.size(t);/nothing += 0;/'
wrong "traffic of all orders: inputs are no ends" $header 's/ends_at\[t\] = .*/ends_at[t] = p.stays(t) \&\& inputs + many > 0;/;s/.*(p.producer(t) == none \&\& (++inputs.*//'
wrong "traffic of all orders: outputs in place of inputs" $header 's/in_place += p.size(r.output);/in_place += 0;/'
wrong "traffic of all orders: a capacity beyond all bounds" $header 's/peak - std::min(peak, capacity);/peak - std::min(peak, capacity + for_nothing + written_for_nothing);/;s/outside -= std::min.*//'
exit $status
