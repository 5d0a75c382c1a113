#!/bin/sh
# Runs the test of other solvers than Cbc in process: GLPK's and Cbc's programs, and HiGHS, fetched as a package of npm and
# put into PATH as the program `highs`. Needs glpsol, cbc, node, npm and the network; `./dev test solvers` installs the
# first four.
# usage: solvers.sh TEST-PROGRAM
set -eu
[ $# -eq 1 ] || { echo "usage: solvers.sh TEST-PROGRAM" >&2; exit 2; }
missing=
for program in node npm glpsol cbc; do
  command -v "$program" >/dev/null || missing="$missing $program"
done
[ -z "$missing" ] || { echo "solvers.sh: not found in PATH:$missing; ./dev test solvers installs them" >&2; exit 1; }

package=highs@1.15.3
here=$(cd "$(dirname "$0")" && pwd)
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
trap 'exit 1' HUP INT TERM
cd "$directory"
archive=$(npm pack --silent "$package") && tar -xzf "$archive" || { echo "solvers.sh: cannot fetch $package" >&2; exit 1; }

cat >highs <<TEXT
#!/bin/sh
exec node '$here/highs.js' '$directory/package' "\$@"
TEXT
chmod +x highs
PATH=$directory:$PATH "$program"
