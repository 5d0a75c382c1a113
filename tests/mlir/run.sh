#!/bin/sh
# Tests of the adapter of MLIR and its pass: semantics under FileCheck, random programs in orders that their graphs allow,
# known values, execution, random graphs, time. `./dev test mlir` runs it.
# usage: run.sh PLUGIN PROGRAM SHUFFLE_PLUGIN
set -eu
[ $# -eq 3 ] || { echo "usage: run.sh PLUGIN PROGRAM SHUFFLE_PLUGIN" >&2; exit 2; }
plugin=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
program=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
shuffle=$(cd "$(dirname "$3")" && pwd)/$(basename "$3")
cd "$(dirname "$0")"
export PYTHONDONTWRITEBYTECODE=1
./semantics.sh "$plugin"
reference=../../../shared/graphs/mlir
[ -f "$reference/known.json" ] || reference=
python3 shuffle.py "$shuffle" ${reference:+--networks "$reference"}
python3 check.py "$plugin" "$program" $reference
