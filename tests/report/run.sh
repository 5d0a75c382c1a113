#!/bin/sh
# Pages of `memsched report` in Chromium: see check.py. `./dev test report` runs it.
# usage: run.sh PROGRAM [FOLDER]; screenshots go to FOLDER
set -eu
[ $# -ge 1 ] || { echo "usage: run.sh PROGRAM [FOLDER]" >&2; exit 2; }
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
shift
PYTHONDONTWRITEBYTECODE=1 exec python3 "$(dirname "$0")/check.py" "$program" "$@"
