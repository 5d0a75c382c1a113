#!/bin/sh
# Lets both checkers of certificates judge what CASES prints about so many random graphs.
# usage: both.sh CASES [--claims EACH] GRAPHS
set -eu
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
"$@" >"$lines"
python3 "$(dirname "$0")/both.py" <"$lines"
