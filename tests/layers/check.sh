#!/bin/sh
# Checks that a header includes lower floors or its own room only; the floors are those of README.md.
# usage: check.sh DIRECTORY of the headers
cd "$1" || exit 2
floors=$(sed -n 's/^ *floors: *//p' README.md)
off_analysis=$(sed -n 's/^ *off analysis: *//p' README.md)
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

for header in $(find . -name '*.hpp' | sed 's|^\./||' | sort); do
  room=${header%%/*}
  case " memsched.hpp $floors | $off_analysis " in
    " $room "*) allowed="$floors $off_analysis" ;;
    *" $room "*"|"*) allowed=$(up_to "$room") ;;
    *" $room "*) allowed="$(up_to analysis) $room" ;;
    *) complain "$header: no floor of README.md holds $room" && continue ;;
  esac
  for included in $(sed -n 's|^ *# *include *[<"]memsched/\([^/>"]*\).*|\1|p' "$header"); do
    case " $allowed " in
      *" $included "*) ;;
      *) complain "$header: includes $included" ;;
    esac
  done
done
exit $status
