#!/bin/sh
# Checks that a header includes its own room or one that its room may include. README.md says which, in indented lines
# `room: other rooms`; what a room may include, those that include it may too. memsched.hpp and definitions.hpp are the roof and include
# what they like.
# No header outside formats/ has more than 430 lines. Comments are sentences: no header begins with a question word, and no line or
# sentence of a comment with What, Who or Whose, or, unless there is a question mark in its line, with Which, How or Why; none is
# longer than 128 columns.
# With a second directory, of the tests: each room has tests there, under its name; comments in C++ there, and in examples/ and
# benchmarks/ beside it, are sentences, too.
# usage: check.sh HEADERS [TESTS]
tests=${2:+$(cd "$2" && pwd)}
cd "$1" || exit 2
plan=$(sed -n 's/^    \([a-z_.]*:.*\)/\1/p' README.md)
status=0

complain() {
  echo "$1"
  status=1
}

check_words() { # of comments in these files
  faults=$(awk '
    FNR == 1 && /^\/\/ *(What|Who|Whose|Where|How|Why|Which|Whether)[^A-Za-z]/ {
      print FILENAME ": begins with a question word; say what it holds: a noun, or a verb and its object"
      next }
    /^ *\/\// && length($0) > 128 { print FILENAME ":" FNR ": a comment of more than 128 columns; wrap it" }
    /\/\/+<? *(.*[.!?][*)]* +)?(What|Who|Whose) / || (!/\?/ && /\/\/+<? *(.*[.!][*)]* +)?(Which|How|Why) /) {
      print FILENAME ":" FNR ": a comment or a sentence of one that begins with What, Who, Whose, Which, How or Why; say subject, verb, object" }' "$@")
  [ -z "$faults" ] || complain "$faults"
}

below() { # the room $1 and all that it may include
  echo "$1"
  for next in $(echo "$plan" | sed -n "s/^$1://p"); do below "$next"; done
}

rooms=$(find . -name '*.hpp' ! -path ./memsched.hpp ! -path ./definitions.hpp | sed 's|^\./||; s|/.*||' | sort -u)
for room in $rooms; do
  echo "$plan" | grep -q "^$room:" || { complain "README.md: no room $room"; continue; }
  allowed=" $(below "$room" | sort -u | tr '\n' ' ') "
  [ -z "$tests" ] || [ ! -d "$room" ] || [ -n "$(find "$tests/$room" -name '*_test.cpp' 2>/dev/null)" ] || complain "$room: no tests under its name"
  headers=$(find "$room" -name '*.hpp' | sort)
  check_words $headers
  for header in $headers; do
    [ "$room" = formats ] || [ "$(wc -l <"$header")" -le 430 ] || complain "$header: more than 430 lines; split it by job"
    for included in $(sed -n 's|^ *# *include *[<"]memsched/\([^/>"]*\).*|\1|p' "$header"); do
      case $allowed in
        *" $included "*) ;;
        *) complain "$header: includes $included" ;;
      esac
    done
  done
done
if [ -n "$tests" ]; then
  cd "$tests/.." || exit 2
  check_words $(find tests examples benchmarks -path tests/layers/wrong -prune -o -name '*.[ch]pp' -print 2>/dev/null | sort)
fi
exit $status
