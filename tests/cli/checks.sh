# Functions for the tests of the program; sourced by a script whose first argument is the program, which it then runs in an empty
# directory. The script ends with `report`.
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
trap 'exit 1' HUP INT TERM
cd "$directory" || exit 1
passed=0
failed=0
check() { # check WHAT COMMAND...: the command must succeed
  what=$1
  shift
  if "$@" >/dev/null 2>&1; then
    passed=$((passed + 1))
  else
    echo "FAILED: $what"
    failed=$((failed + 1))
  fi
}

run() { # run ARGUMENTS...: leaves out, err and status
  "$program" "$@" >out 2>err
  status=$?
}

fails() { ! "$@"; }
status_is() { [ "$status" -eq "$1" ]; }
one_line() { [ "$(wc -l <"$1")" -eq 1 ]; }
number() { sed -n "s/.*\"$1\":\([0-9][0-9.e+-]*\).*/\1/p" out; }
word() { sed -n "s/.*\"$1\":\"\([a-z_]*\)\".*/\1/p" out; }
is() { [ "$1" = "$2" ]; }
at_most() { [ "$1" -le "$2" ]; }

# succeeds ARGUMENTS...
succeeds() {
  run "$@"
  check "exit status 0: $*" status_is 0
  check "nothing on standard error: $*" fails test -s err
  check "something on standard output: $*" test -s out
}

# exits STATUS ARGUMENTS...
exits() {
  wanted=$1
  shift
  run "$@"
  check "exit status $wanted, not $status: $* ($(cat err))" status_is "$wanted"
}

# says TEXT [ARGUMENTS...]: the output, of these arguments where there are any, holds TEXT
says() {
  text=$1
  shift
  [ $# -eq 0 ] || exits 0 "$@"
  check "says '$text': $(head -c 400 out)" grep -qF -e "$text" out
}

# refuses PLACE REASON ARGUMENTS...: bad input, and one line that starts with the place and holds all words of REASON
refuses() {
  place=$1 reason=$2
  shift 2
  run "$@"
  check "exit status 1, not $status: $*" status_is 1
  check "nothing on standard output: $*" fails test -s out
  check "one line on standard error: $*" one_line err
  check "names $place: $*" grep -qF "memsched: $place: " err
  for part in $reason; do check "says '$part': $* ($(cat err))" grep -qF -e "$part" err; done
}

# misused ARGUMENTS...
misused() {
  run "$@"
  check "exit status 2, not $status: $*" status_is 2
  check "nothing on standard output: $*" fails test -s out
  check "something on standard error: $*" test -s err
}

report() {
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}
