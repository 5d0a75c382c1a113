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
check "standard input tells its kind: exit status 0" is $? 0
echo hello | "$program" schedule - >out 2>err
check "standard input of unknown kind: exit status 1" is $? 1
check "standard input of unknown kind: says what to write" grep -q 'standard input: is none of .* --input-format says which' err
"$program" schedule - --input-format json </dev/null >out 2>err
check "nothing on standard input" grep -q 'standard input: is empty' err
cp g.json graph.txt
succeeds schedule graph.txt --input-format json
check "control characters stay away from the terminal" fails grep -q "$(printf '\033')" out

# The text for people.
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

# Inspect leaves out the figures that there is no time for.
succeeds inspect builtin:watts_strogatz:300 --time-limit 0
check "no compression" grep -q 'left after compression  *not computed: no time' out
check "but a bound" grep -q 'a short search  *[0-9]' out
succeeds inspect builtin:watts_strogatz:300 --time-limit 0 --format json
check "nor in JSON" grep -q '"nodes_compressed":null' out

# While a graph is read there is no answer yet.
mkfifo never
exec 3<>never
timeout --preserve-status -s INT 2 "$program" schedule - --input-format json <&3 >out 2>err
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
for section in 'EXIT STATUS' EXAMPLES 'SEE ALSO' FILES SCHEDULERS; do
  check "the page has the section $section" sh -c "'$program' man | grep -qx '.SH $section'"
done
check "the page has what verify takes" sh -c "'$program' man | grep -q 'certificate'"

# Words that shells complete.
if command -v bash >/dev/null; then
  "$program" completion bash >complete.sh
  completes() { # completes WANTED WORD...: the last word, in bash
    wanted=$1
    shift
    found=$(bash -c '. ./complete.sh; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _memsched; echo "${COMPREPLY[@]}"' bash "$@")
    check "bash completes $*: $found" is "$found" "$wanted"
  }
  completes schedule memsched sch
  completes --budget memsched schedule --bud
  completes --certificate memsched verify --cert
  completes 'fradet' memsched schedule --scheduler fra
  completes 'json' memsched schedule --format js
  completes 'json' memsched schedule --format = js
  completes 'swiftnet-cell-a' memsched schedule builtin : swiftnet-cell-a
  completes 'bash' memsched completion ba
fi
if command -v fish >/dev/null; then
  "$program" completion fish >memsched.fish
  of_fish() { HOME=. fish --no-config -c "source memsched.fish; complete -C '$1'" 2>/dev/null | cut -f1 | tr '\n' ' '; }
  check "fish completes a scheduler: $(of_fish 'memsched schedule --scheduler fra')" is "$(of_fish 'memsched schedule --scheduler fra')" 'fradet '
  check "fish completes an option" is "$(of_fish 'memsched verify --cert')" '--certificate '
fi
if command -v zsh >/dev/null; then
  "$program" completion zsh >_memsched
  check "completion of zsh is a script" zsh -n _memsched
  check "completion of zsh has values" grep -qF -e '--format[of the result]:value:(text json csv)' _memsched
  check "completion of zsh has networks" grep -qF 'builtin\:swiftnet-cell-a' _memsched
fi

# Help.
too_wide() { awk 'length > 80 { wide = 1 } END { exit !wide }' out; }
for command in schedule report rewrite reorder compare inspect explain diff plan traffic sample batch verify networks completion man help; do
  succeeds help $command
  check "help of $command fits 80 columns" fails too_wide
  cp out by_topic
  succeeds $command --help
  check "the same as of --help" cmp -s out by_topic
  check "an example of $command" grep -q '^Example:' out
done
succeeds --help
check "help fits 80 columns" fails too_wide
succeeds help schedulers
check "help of schedulers" grep -q '^  automatic ' out

# Messages suggest the word that was meant.
means() { # means WORD ARGUMENTS...
  word=$1
  shift
  misused "$@"
  check "one line: $* ($(cat err))" one_line err
  check "did you mean $word: $* ($(cat err))" grep -qF "did you mean '$word'?" err
}
means schedule shedule x.json
means --version --verison
means --time-limit schedule $cell --time-limt 3
means automatic schedule $cell --scheduler automatc
means optimal schedule $cell --scheduler optmal
means json schedule $cell --format jsn
means schedule help shedule
misused sample $cell --count 0
check "a number too small, in a short line: $(cat err)" grep -q "count: '0' is less than 1 (see" err
misused schedule $cell b.json
check "one operand too many: $(cat err)" grep -qF "'b.json' is one operand too many" err
misused schedule $cell --budget
misused schedule $cell --list=yes
misused schedule $cell --budget 1 --budget 2
misused schedule --reals $cell
check "an option that needs another: $(cat err)" grep -qF -- '--reals needs --rewrite' err
misused schedule $cell --parts 2
check "an option that would do nothing: $(cat err)" grep -qF -- '--parts is for --scheduler ilp' err
misused schedule $cell --explain
misused verify $cell
exits 1 schedule -- --help
exits 0 schedule $cell --budget=1M -o- --format=json

# Pipes tell what they hold.
"$program" schedule $cell --format json | "$program" verify $cell - >out 2>err
check "a result from a pipe: exit status 0, not $?" grep -q 'a valid order' out
mkfifo graph_pipe
cat g.json >graph_pipe &
run schedule graph_pipe --format json
check "a graph from a pipe without an ending: $(cat err)" is "$status $(number peak)" "0 10"
wait

# Tables and logs.
succeeds schedule $cell --format csv
check "a row a step" [ "$(wc -l <out)" -eq 22 ]
check "with a head" [ "$(head -1 out)" = step,operator,name,bytes ]
exits 0 schedule $cell -o table.csv
check "CSV by the name" [ "$(head -1 table.csv)" = step,operator,name,bytes ]
exits 0 schedule $cell --log=json
check "JSON lines of the search: $(head -1 err)" grep -qE '^\{"seconds":[0-9.]+,"states":[0-9]+,"peak":[0-9]+,"lower_bound":250880,"found":"(order|bound)","by":"[a-z ]*"\}$' err
for command in "compare $cell" "inspect $cell" "traffic $cell --capacity 100K"; do
  exits 0 $command -o there.json
  check "JSON by the name: $command" grep -q '^{"version":1' there.json
done
exits 0 plan $cell --budget 300K
exits 3 plan $cell --budget 200K

report
