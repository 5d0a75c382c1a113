#!/bin/sh
# How many graphs `memsched batch` schedules, and in how much memory: 10,000 networks of NASNet's search space, with proof, on
# one thread and on two, and gone on with after an end; and 10,000 small random graphs. `./dev bench batch` runs it.
# usage: batch.sh PROGRAM [NETWORKS]
set -eu
[ $# -ge 1 ] || { echo "usage: batch.sh PROGRAM [NETWORKS]" >&2; exit 2; }
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
count=${2:-10000}
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

lines() { # lines PREFIX: one graph a line, with seeds from 1
  awk -v prefix="$1" -v n="$count" 'BEGIN { for (i = 1; i <= n; ++i) printf "{\"graph\": \"builtin:%s%d\", \"id\": %d}\n", prefix, i, i }'
}
now() { date +%s.%N; }
row() { printf '%-26s %8s %9s %10s %12s %13s %19s\n' "$@"; }

# measure WHAT JOBS INPUT OUTPUT [OPTION]: runs, and samples the memory in use; CPU seconds come from the children's times
measure() {
  what=$1 jobs=$2 input=$3 output=$4
  shift 4
  before=$(cpu)
  start=$(now)
  : >"$output"
  "$program" batch "$input" --jobs "$jobs" -o "$output" "$@" &
  child=$!
  early=0 half=0 last=0
  while kill -0 $child 2>/dev/null; do
    most=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' /proc/$child/status 2>/dev/null || true)
    done=$(wc -l <"$output")
    [ -z "$most" ] || last=$most
    [ "$done" -gt $((count / 20)) ] || early=$last
    [ "$done" -gt $((count / 2)) ] || half=$last
    sleep 0.1
  done
  wait $child
  row "$what" "$jobs" "$(wc -l <"$output")" "$(grep -c '"status":"optimal"' "$output" || true)" \
    "$(echo "$count $start $(now)" | awk '{ printf "%.0f", $1 / ($3 - $2) }')" \
    "$(echo "$count $before $(cpu)" | awk '{ printf "%.0f", $1 / ($3 - $2) }')" "$early/$half/$last"
}
cpu() { # CPU seconds of children that have ended
  awk -v tick="$(getconf CLK_TCK)" '{ print ($16 + $17) / tick }' /proc/$$/stat
}

row graphs jobs answers proven "a second" "a CPU second" "KiB 5%/50%/all"
lines nasnet-space: >space
measure "NASNet's space" 1 space one
measure "NASNet's space" 2 space two
untimed() { sed 's/"seconds":[^,]*,//' "$1"; }
untimed one >left
untimed two >right
cmp left right && echo "the same answers with one job and with two"

# A run that ended early has left whole answers and a part of one.
head -c $(($(wc -c <one) / 2)) one >part
start=$(now)
"$program" batch space -o part --resume
untimed part >right
cmp left right && echo "gone on with after half of it: the same answers, in $(echo "$start $(now)" | awk '{ printf "%.1f", $2 - $1 }') s"
start=$(now)
"$program" batch space -o part --resume
echo "a run with nothing left to do: $(echo "$start $(now)" | awk '{ printf "%.2f", $2 - $1 }') s"

lines layered:8:4: >small
measure "layered, 32 operators" 1 small small.one
measure "layered, 32 operators" 2 small small.two
