#!/bin/sh
# Checks that the program has the habits of others: standard input, sizes with units, interrupts, pages for man and shells.
# usage: habits.sh PROGRAM
set -u
[ $# -eq 1 ] || { echo "usage: habits.sh PROGRAM" >&2; exit 2; }
. "$(dirname "$0")/checks.sh"
cell=builtin:swiftnet-cell-a

succeeds --version
check "the version, after the name" grep -qx 'memsched [0-9]*\.[0-9]*\.[0-9]*' out

# Sizes.
for size in 245K 245KiB 0.25M 250880 251kB 1G; do
  run schedule "$cell" --budget $size --format json
  check "a budget of $size is met" status_is 0
done
for size in 244K 250kB 0.0002G; do
  run schedule "$cell" --budget $size --format json
  check "a budget of $size is not met" status_is 3
done
for size in K 2X 2KK -1K 1e30G ""; do misused schedule "$cell" --budget "$size"; done
succeeds schedule "$cell" --memory-limit 64M --format json
misused schedule "$cell" --threads 0
check "--threads 0: a line that fits a screen" [ "$(wc -c <err)" -lt 400 ]

# Standard input.
printf '{"ops": [{"name": "a\\u001b[31m", "inputs": [0], "outputs": [1]}], "tensors": [{"bytes": 4}, {"bytes": 6}],
         "graph_inputs": [0], "graph_outputs": [1]}' >g.json
"$program" schedule - --input-format json --format json <g.json >out 2>err
check "a graph from standard input" is "$? $(number peak)" "0 10"
"$program" schedule - <g.json >out 2>err
check "standard input of unknown kind: exit status 1" is $? 1
check "standard input of unknown kind: says what to write" grep -q 'standard input: needs --input-format' err
"$program" schedule - --input-format json </dev/null >out 2>err
check "nothing on standard input" grep -q 'standard input: is empty' err
cp g.json graph.txt
succeeds schedule graph.txt --input-format json
check "control characters stay away from the terminal" fails grep -q "$(printf '\033')" out

# What people see.
check "what is live at the peak" grep -q '^live when a' out
succeeds schedule builtin:nasnet-cifar
check "a long order is left out, and said to be" grep -q -e '--list writes them' out
check "a long order is left out" at_most "$(wc -l <out)" 30
succeeds schedule builtin:nasnet-cifar --list
check "a long order on request" [ "$(wc -l <out)" -gt 700 ]
succeeds schedule g.json --no-list
check "no order on request" fails grep -q 'bytes while it runs' out
succeeds schedule g.json --format json --explain
check "the JSON says what is live at the peak" grep -q '"live_at_peak":\[0,1\]' out

# Comparisons for programs.
succeeds compare g.json "$cell" --format json
check "one object a graph" [ "$(wc -l <out)" -eq 2 ]
check "with schedulers" grep -q '"scheduler":"serenity","peak":250880' out
succeeds compare "$cell" --format csv
check "one row a scheduler, with a head" grep -qx 'graph,operators,scheduler,peak,lower_bound,seconds' out
check "and figures" grep -q ',21,automatic,250880,250880,' out

# Interrupts: the best answer so far, and status 130.
interrupted() { # interrupted SIGNAL COMMAND
  timeout --preserve-status -s "$1" 1 "$program" "$2" builtin:watts_strogatz:300 --format json >out 2>err
  status=$?
  check "$1: exit status 130, not $status: $2" status_is 130
  check "$1: nothing on standard error, not $(head -c 200 err): $2" fails test -s err
}
interrupted TERM schedule
check "an order all the same" grep -q '"order":\[' out
check "and why it ended" is "$(word stopped)" cancelled
interrupted INT inspect
check "a bound and a peak all the same" grep -q '"search":[0-9].*"peak":[0-9]' out
interrupted INT compare
check "the schedulers so far" grep -q '"scheduler":"file"' out
check "and no others" fails grep -q '"scheduler":"automatic"' out

# A signal that comes again and again, until the program has gone.
"$program" inspect builtin:watts_strogatz:300 >out 2>err &
impatient=$!
sleep 0.5
while kill -INT $impatient 2>/dev/null; do :; done &
wait $impatient
check "INT until the end: exit status 130" is $? 130
wait
check "INT until the end: nothing but that it was interrupted, not $(head -c 200 err)" fails grep -qvx 'memsched: interrupted' err

# What there is no time for, inspect leaves out.
succeeds inspect builtin:watts_strogatz:300 --time-limit 0
check "no compression" grep -q 'left after compression  *not computed: no time' out
check "but a bound" grep -q 'a short search  *[0-9]' out
succeeds inspect builtin:watts_strogatz:300 --time-limit 0 --format json
check "nor in JSON" grep -q '"nodes_compressed":null' out

# While a graph is read there is no answer yet.
mkfifo never
exec 3<>never
timeout --preserve-status -s INT 0.5 "$program" schedule - --input-format json <&3 >out 2>err
check "INT while reading: exit status 130" is $? 130
check "INT while reading: nothing on standard output" fails test -s out
check "INT while reading: says so" grep -qx 'memsched: interrupted' err
exec 3>&-

# Devices and pipes stay what they are.
"$program" schedule "$cell" --format json -o /dev/stdout 2>err | cat >out
check "a result to /dev/stdout" is "$(number peak)" 250880
mkfifo outlet
cat outlet >out &
"$program" schedule "$cell" --format json -o outlet 2>err
check "a result to a pipe: exit status 0" is $? 0
wait $!
check "a result to a pipe" is "$(number peak)" 250880
check "which stays one" test -p outlet
if [ -c /dev/full ]; then
  ln -s /dev/full full
  refuses full 'cannot be written whole' schedule "$cell" -o full
  check "a device stays one" test -c full
fi

# Pages.
succeeds man
check "a manual page that troff takes" grep -q '^\.TH MEMSCHED 1' out
for command in schedule compare plan reorder; do check "the page has $command" grep -qx ".SS $command" out; done
for shell in bash zsh fish; do
  succeeds completion $shell
  check "completion of $shell has commands" grep -q compare out
  check "completion of $shell has options" grep -q 'time-limit' out
  [ $shell != bash ] || check "completion of bash is a script" bash -n out
done
misused completion csh
if command -v bash >/dev/null; then
  "$program" completion bash >complete.sh
  check "bash completes a command" is "$(bash -c '. ./complete.sh; COMP_WORDS=(memsched sch); COMP_CWORD=1; _memsched; echo "${COMPREPLY[@]}"')" schedule
  check "bash completes an option" is \
    "$(bash -c '. ./complete.sh; COMP_WORDS=(memsched schedule --bud); COMP_CWORD=2; _memsched; echo "${COMPREPLY[@]}"')" --budget
fi

report
