#!/bin/sh
# Makes each rule of the exact search wrong in turn, and checks that the oracle notices.
# usage: wrong_rules.sh COMPILER SOURCE_DIRECTORY
compiler=$1 source=$2
test=allocation/planners_test.cpp
flags="-DMEMSCHED_ORACLE_FIRST=0 -DMEMSCHED_ORACLE_LAST=20000"
. "$source/tests/support/wrong_rules.sh"
header=allocation/fit_search.hpp

wrong "A1: only the first candidate" $header 's/if (answer != fit_answer::never) return answer;/return answer;/'
wrong "A2: up to the higher wall" $header 's/units level = std::min(p > v.a/units level = std::max(p > v.a/'
wrong "A2: above the size before a drop" $header 's/level = std::min(level, h + item.least)/level = std::min(level, h + item.size)/'
wrong "A2: alignments and fixed offsets forgotten" $header 's/return special_level(v.from, v.to, p, q, x, level);/return level;/'
wrong "A3: alignments and fixed offsets forgotten" $header 's/level = special_level(from, to, v.a, v.b, none, v.slack)/level = v.slack/'
wrong "A3: raised sections never supported" $header 's/support |= offset_\[i\] < 0.*/(void)item;/'
wrong "A3: one supported section is not enough" $header 's/if (supported_\[s\] != 0) return true;/if (supported_[s] != 0 \&\& s + 1 == q) return true;/'
wrong "A4: the capacity itself is too much" $header 's/if (least_\[i\] + sum > top_) return false;/if (least_[i] + sum >= top_) return false;/'
wrong "A5: a part ends too early" $header 's/if (parts.empty() || item.first >= parts.back().b)/if (parts.empty() || item.first + 1 >= parts.back().b)/'
wrong "A6: floors not in the key" $header 's/mix(static_cast<std::uint64_t>(floor_\[s\]) << 1 |/mix(/'
wrong "A6: items not in the key" $header 's/mix(pool_\[k\] + (std::uint64_t{1} << 40));/mix(1);/'
wrong "A7: also with alignments, fixed offsets, uneven caps" $header 's/if (!rules_.everywhere || !even_) return none;/if (!rules_.everywhere) return none;/'
wrong "A7: also where the floor is uneven" $header 's/if (wall(s) != floor_\[v.a\]) return none;/if (wall(s) > floor_[v.a]) return none;/'
wrong "A8: a twin never gets its turn" $header 's/return rules_.twins \&\& other != none \&\& offset_\[other\] < 0;/return rules_.twins \&\& other != none;/'
exit $status
