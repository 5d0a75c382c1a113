#!/bin/sh
# Lets both checkers of certificates judge what CASES makes of so many random graphs.
# usage: both.sh CASES GRAPHS
set -eu
cases=$(mktemp)
trap 'rm -f "$cases"' EXIT
"$1" "$2" >"$cases"
python3 "$(dirname "$0")/both.py" <"$cases"
