#!/bin/sh
# Lets COMPARER and what it compares with judge what CASES prints about random graphs, as many as ARGUMENTS say.
# usage: both.sh COMPARER CASES ARGUMENTS...
set -eu
comparer=$1
shift
cases=$(mktemp)
trap 'rm -f "$cases"' EXIT
"$@" >"$cases"
python3 "$(dirname "$0")/$comparer" <"$cases"
