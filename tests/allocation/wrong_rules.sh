#!/bin/sh
# Makes each rule of the exact search wrong in turn, and checks that the oracle notices.
# usage: wrong_rules.sh COMPILER SOURCE_DIRECTORY
compiler=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
header=memsched/allocation/fit_search.hpp
printf '#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n' >"$work/main.cpp"
$compiler -std=c++20 -c "$work/main.cpp" -o "$work/main.o" || exit 2

# wrong NAME EXPRESSION: a sed expression that changes the header
wrong() {
  rm -rf "$work/include"
  cp -r "$source/include" "$work/include"
  sed "$2" "$source/include/$header" >"$work/include/$header"
  if cmp -s "$source/include/$header" "$work/include/$header"; then
    echo "$1: changes nothing"
    status=1
    return
  fi
  $compiler -std=c++20 -O1 -I "$work/include" -I "$source/tests" -DMEMSCHED_ORACLE_FIRST=0 -DMEMSCHED_ORACLE_LAST=20000 \
    "$source/tests/allocation/planners_test.cpp" "$work/main.o" -o "$work/test" || exit 2
  if timeout 300 "$work/test" -a >"$work/log" 2>&1; then
    echo "$1: not noticed"
    status=1
  else
    echo "$1: noticed"
  fi
}

wrong "A1: only the first candidate" 's/if (answer != fit_answer::never) return answer;/return answer;/'
wrong "A2: up to the higher wall" 's/units level = std::min(p > v.a/units level = std::max(p > v.a/'
wrong "A2: above the size before a drop" 's/level = std::min(level, h + item.least)/level = std::min(level, h + item.size)/'
wrong "A2: alignments and fixed offsets forgotten" 's/return special_level(v.from, v.to, p, q, x, level);/return level;/'
wrong "A3: alignments and fixed offsets forgotten" 's/level = special_level(from, to, v.a, v.b, none, v.slack)/level = v.slack/'
wrong "A3: raised sections never supported" 's/support |= offset_\[i\] < 0.*/(void)item;/'
wrong "A3: one supported section is not enough" 's/if (supported_\[s\] != 0) return true;/if (supported_[s] != 0 \&\& s + 1 == q) return true;/'
wrong "A4: the capacity itself is too much" 's/if (least_\[i\] + sum > top_) return false;/if (least_[i] + sum >= top_) return false;/'
wrong "A5: a part ends too early" 's/if (parts.empty() || item.first >= parts.back().b)/if (parts.empty() || item.first + 1 >= parts.back().b)/'
wrong "A6: floors not in the key" 's/mix(static_cast<std::uint64_t>(floor_\[s\]) << 1 |/mix(/'
wrong "A6: items not in the key" 's/mix(pool_\[k\] + (std::uint64_t{1} << 40));/mix(1);/'
wrong "A7: also with alignments, fixed offsets, uneven caps" 's/if (!rules_.everywhere || !even_) return none;/if (!rules_.everywhere) return none;/'
wrong "A7: also where the floor is uneven" 's/if (wall(s) != floor_\[v.a\]) return none;/if (wall(s) > floor_[v.a]) return none;/'
wrong "A8: a twin never gets its turn" 's/return rules_.twins \&\& other != none \&\& offset_\[other\] < 0;/return rules_.twins \&\& other != none;/'
exit $status
