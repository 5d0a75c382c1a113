# For scripts that make rules wrong on purpose, one at a time, in one program: the environment says which. Read with `.`, in the
# directory of the repository. With APPLY_ONLY set it only checks that each rule is still found in its header.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r include "$copy/include"
: >"$copy/names"
count=0

# mutant NAME FILE SED-SCRIPT, an extended one, in which @ is the condition that the rule is to be wrong
mutant() {
  count=$((count + 1))
  header=$(cd "$copy/include" && find memsched -path "*/$2")
  cp "$copy/include/$header" "$copy/before"
  sed -i -E "$(printf "%s\n" "$3" | sed "s/@/(wrong_rule == $count)/g")" "$copy/include/$header"
  if cmp -s "$copy/before" "$copy/include/$header"; then
    echo "mutants: '$1' changes nothing in $header" >&2
    exit 2
  fi
  echo "$1" >>"$copy/names"
}

# build_mutants PROGRAM.cpp FLAGS...: makes $copy/mutants, which takes the number of a mutant from WRONG_RULE; none is 0
build_mutants() {
  program=$1
  shift
  [ -z "${APPLY_ONLY:-}" ] || exit 0
  cat >"$copy/mutant.hpp" <<'TEXT'
#pragma once
#include <cstdlib>
inline const int wrong_rule = std::atoi(std::getenv("WRONG_RULE"));
TEXT
  ${CXX:-g++} -std=c++20 -w -include "$copy/mutant.hpp" -I "$copy/include" -I tests "$@" "$program" -o "$copy/mutants" -pthread
}

# notice_each COMMAND...: which mutants since the last call make a command fail that does not fail without one; 1 where one is not
# noticed
notice_each() {
  WRONG_RULE=0 "$@" >/dev/null 2>&1 || { echo "mutants: $1 fails as it is" >&2; exit 2; }
  number=$((count - $(wc -l <"$copy/names"))) survivors=0
  while read -r name; do
    number=$((number + 1))
    if WRONG_RULE=$number timeout 300 "$@" >/dev/null 2>&1; then
      echo "$name: not noticed"
      survivors=$((survivors + 1))
    else
      echo "$name: noticed"
    fi
  done <"$copy/names"
  : >"$copy/names"
  [ $survivors -eq 0 ]
}

# notice_with PROGRAM.cpp FLAGS...: both, for the mutants since the last call; PROGRAM has Catch tests
notice_with() {
  [ -z "${APPLY_ONLY:-}" ] || return 0
  build_mutants "$@" -O1 tests/main.cpp || exit 2
  notice_each "$copy/mutants" -a
}
