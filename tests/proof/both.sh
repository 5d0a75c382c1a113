#!/bin/sh
# Lets both checkers of certificates judge what CASES makes of so many random graphs.
# usage: both.sh CASES GRAPHS [COMPARER]
set -eu
cases=$(mktemp)
trap 'rm -f "$cases"' EXIT
"$1" "$2" >"$cases"
python3 "$(dirname "$0")/${3:-both.py}" <"$cases"
