#!/bin/sh
# Checks that a header includes its own room or one that its room may include. README.md says which, in indented lines
# `room: other rooms`; what a room may include, those that include it may too. memsched.hpp is the roof and includes what it likes.
# usage: check.sh DIRECTORY of the headers
cd "$1" || exit 2
plan=$(sed -n 's/^    \([a-z_.]*:.*\)/\1/p' README.md)
status=0

complain() {
  echo "$1"
  status=1
}

below() { # the room $1 and all that it may include
  echo "$1"
  for next in $(echo "$plan" | sed -n "s/^$1://p"); do below "$next"; done
}

rooms=$(find . -name '*.hpp' ! -path ./memsched.hpp | sed 's|^\./||; s|/.*||' | sort -u)
for room in $rooms; do
  echo "$plan" | grep -q "^$room:" || { complain "README.md: no room $room"; continue; }
  allowed=" $(below "$room" | sort -u | tr '\n' ' ') "
  for header in $(find "$room" -name '*.hpp' | sort); do
    for included in $(sed -n 's|^ *# *include *[<"]memsched/\([^/>"]*\).*|\1|p' "$header"); do
      case $allowed in
        *" $included "*) ;;
        *) complain "$header: includes $included" ;;
      esac
    done
  done
done
exit $status
