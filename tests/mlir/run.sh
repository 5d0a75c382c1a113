#!/bin/sh
# Tests of the adapter of MLIR and its pass: semantics under FileCheck, known values, execution, random graphs, time.
# `./dev test mlir` runs it.
# usage: run.sh PLUGIN PROGRAM
set -eu
[ $# -eq 2 ] || { echo "usage: run.sh PLUGIN PROGRAM" >&2; exit 2; }
plugin=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
program=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
cd "$(dirname "$0")"
./semantics.sh "$plugin"
reference=../../../shared/graphs/mlir
[ -f "$reference/known.json" ] || reference=
PYTHONDONTWRITEBYTECODE=1 python3 check.py "$plugin" "$program" $reference
