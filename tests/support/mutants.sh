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
  [ -n "$header" ] || { echo "mutants: '$1': no header $2" >&2; exit 2; }
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

# judge NAME COMMAND...: whether a command fails, as it does where the rule NAME is wrong, and the last line of its output; 1 where it
# does not. A command that is still running after $most_seconds (300) shows nothing and is 1, too: a rule that makes it run forever
# needs a law with a limit of its own.
judge() {
  judged=$1 ended=0
  shift
  said=$(timeout "${most_seconds:-300}" "$@" 2>&1) || ended=$?
  case $ended in
    0) verdict="not noticed" ;;
    124) verdict="no end within ${most_seconds:-300} s" ;;
    *) verdict=noticed ;;
  esac
  echo "$judged: $verdict: $(printf '%s\n' "$said" | tail -n 1)"
  [ "$verdict" = noticed ]
}

# notice_each COMMAND...: judges a command, which does not fail without a mutant, with each of them since the last call; 1 where one is
# not noticed
notice_each() {
  WRONG_RULE=0 "$@" >/dev/null 2>&1 || { echo "mutants: $1 fails as it is" >&2; exit 2; }
  number=$((count - $(wc -l <"$copy/names"))) all_noticed=true
  while read -r name; do
    number=$((number + 1))
    judge "$name" env WRONG_RULE=$number "$@" </dev/null || all_noticed=false
  done <"$copy/names"
  : >"$copy/names"
  $all_noticed
}

# notice_with PROGRAM.cpp FLAGS...: both, for the mutants since the last call; PROGRAM has Catch tests
notice_with() {
  [ -z "${APPLY_ONLY:-}" ] || return 0
  build_mutants "$@" -O1 tests/main.cpp || exit 2
  notice_each "$copy/mutants" -a
}
