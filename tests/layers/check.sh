#!/bin/sh
# Checks that a header includes its own room or one that its room may include. README.md says which, in indented lines
# `room: other rooms`; what a room may include, those that include it may too. memsched.hpp and definitions.hpp are the roof and include
# what they like.
# With a second directory, of the tests: each room has tests there, under its name. No header outside formats/ has more than
# 430 lines. Comments are sentences: no header begins with a question word, and no comment line with What, Who or Whose.
# usage: check.sh HEADERS [TESTS]
tests=${2:+$(cd "$2" && pwd)}
cd "$1" || exit 2
plan=$(sed -n 's/^    \([a-z_.]*:.*\)/\1/p' README.md)
status=0

complain() {
  echo "$1"
  status=1
}

check_words() { # of the header $1
  faults=$(awk -v name="$1" '
    NR == 1 && /^\/\/ *(What|Who|Whose|Where|How|Why|Which|Whether)[^A-Za-z]/ {
      print name ": begins with a question word; say what it holds: a noun, or a verb and its object" }
    NR > 1 && /^ *\/\/+ *(What|Who|Whose) / {
      print name ":" NR ": a comment that begins with What, Who or Whose; say subject, verb, object" }' "$1")
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
  for header in $(find "$room" -name '*.hpp' | sort); do
    [ "$room" = formats ] || [ "$(wc -l <"$header")" -le 430 ] || complain "$header: more than 430 lines; split it by job"
    check_words "$header"
    for included in $(sed -n 's|^ *# *include *[<"]memsched/\([^/>"]*\).*|\1|p' "$header"); do
      case $allowed in
        *" $included "*) ;;
        *) complain "$header: includes $included" ;;
      esac
    done
  done
done
exit $status
