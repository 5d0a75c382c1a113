#!/bin/sh
# The program where the system has no threads left: stacks of 1 GiB in a bounded address space.
# usage: threads.sh PROGRAM
set -u
. "$(dirname "$0")/checks.sh"

exits 0 schedule builtin:windowed:300:30 --state-limit 20000 --format json
peak=$(number peak)
for room in 900000 2500000; do # none, and one beside the program's own
  limited() { (ulimit -s 1048576 && ulimit -v "$room" && "$program" "$@" >out 2>err); }
  check "schedule in $room kB" limited schedule builtin:windowed:300:30 --state-limit 20000 --threads 8 --format json
  check "the same peak: $(number peak)" is "$(number peak)" "$peak"
  check "compare in $room kB" limited compare builtin:swiftnet --threads 8 --time-limit 1
  check "each of its schedulers: $(tail -1 out)" grep -q '^fradet' out
done
printf '"builtin:swiftnet-cell-a"\n"builtin:swiftnet-cell-a"\n' >lines
check "batch with fewer threads than asked for" limited batch lines --jobs 8
check "answers every line" is "$(grep -c '"peak":250880' out)" 2
room=900000
check "batch without any says so" fails limited batch lines --jobs 8
check "in one line: $(cat err)" one_line err
report
