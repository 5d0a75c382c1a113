#!/bin/sh
# Checks that a header includes lower floors or its own room only; the floors are those of README.md.
# memsched.hpp is the roof and includes what it likes.
# usage: check.sh DIRECTORY of the headers
cd "$1" || exit 2
floors=$(sed -n 's/^ *floors: *//p' README.md)
status=0

complain() {
  echo "$1"
  status=1
}

up_to() { # the floors up to $1
  for floor in $floors; do
    printf '%s ' "$floor"
    [ "$floor" != "$1" ] || return
  done
}

allowed_for() { # what the room $1 may include; nothing for an unknown room
  case " $floors " in *" $1 "*) up_to "$1" && return ;; esac
  below=$(sed -n "s/^ *off \([a-z]*\):.* $1\( .*\)*$/\1/p" README.md)
  [ -z "$below" ] || echo "$(allowed_for "$below") $1"
}

for header in $(find . -name '*.hpp' ! -path ./memsched.hpp | sed 's|^\./||' | sort); do
  room=${header%%/*}
  allowed=$(allowed_for "$room")
  [ -n "$allowed" ] || complain "$header: no floor of README.md holds $room"
  for included in $(sed -n 's|^ *# *include *[<"]memsched/\([^/>"]*\).*|\1|p' "$header"); do
    case " $allowed " in
      *" $included "*) ;;
      *) complain "$header: includes $included" ;;
    esac
  done
done
exit $status
