#!/bin/sh
# Lets both checkers of certificates judge what a program prints about so many random graphs.
# usage: both.sh PROGRAM GRAPHS
set -eu
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
"$1" "$2" >"$lines"
python3 "$(dirname "$0")/both.py" <"$lines"
