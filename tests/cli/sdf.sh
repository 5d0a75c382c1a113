#!/bin/sh
# The program on graphs of synchronous dataflow: what it prints, checks and refuses, and C that runs.
# usage: sdf.sh PROGRAM SOURCE_DIR CORPUS_DIR [GRAPH...]; graphs beside those made here
set -u
[ $# -ge 3 ] || { echo "usage: sdf.sh PROGRAM SOURCE_DIR CORPUS_DIR [GRAPH...]" >&2; exit 2; }
source=$(cd "$2" && pwd) corpus=$(cd "$3" && pwd) || exit 2
. "$(dirname "$0")/checks.sh"
shift 3
cp "$corpus"/*.xml .

# chain FILE RATES...: actors a0, a1, ... with channels of those rates (PRODUCED,CONSUMED,TOKENS,SIZE)
chain() {
  file=$1
  shift
  {
    echo "<sdf3><applicationGraph name='chain'><sdf name='chain' type='chain'>"
    i=0
    for rates in "$@" end; do
      echo "<actor name='a$i' type='a'>"
      [ $i -eq 0 ] || echo "<port name='i' type='in' rate='$(echo "$last" | cut -d, -f2)'/>"
      [ "$rates" = end ] || echo "<port name='o' type='out' rate='$(echo "$rates" | cut -d, -f1)'/>"
      echo "</actor>"
      last=$rates
      i=$((i + 1))
    done
    i=0
    for rates in "$@"; do
      echo "<channel name='c$i' srcActor='a$i' srcPort='o' dstActor='a$((i + 1))' dstPort='i'" \
        "initialTokens='$(echo "$rates" | cut -d, -f3)'/>"
      i=$((i + 1))
    done
    echo "</sdf><sdfProperties>"
    i=0
    for rates in "$@"; do
      echo "<channelProperties channel='c$i'><tokenSize sz='$(echo "$rates" | cut -d, -f4)'/></channelProperties>"
      i=$((i + 1))
    done
    echo "</sdfProperties></applicationGraph></sdf3>"
  } >"$file"
}
chain rates.xml 1,1,0,4 2,3,0,2 2,7,0,1 8,7,0,3 5,1,0,1
chain delays.xml 3,2,5,2 1,4,2,8 5,3,0,1
chain equal.xml 1,1,0,64 1,1,0,16 1,1,0,256

says 'two: 2 actors, 2 channels, 5 firings, automatic, pbc' schedule two.xml
says 'peak         4 tokens' schedule two.xml
says 'lower bound  4 tokens: optimal: no iteration takes less' schedule two.xml
says '4 appearances of 2 actors' schedule two.xml
says 'peak         16 bytes' schedule two.xml --token-size 4
says '(3 left) (2 right)' schedule two.xml --loops flat
says '(15 left) (10 right)' schedule two.xml --loops flat --iterations 5
says 'separate' compare two.xml sized.xml
says 'firings of an iteration' inspect sized.xml
says '"schedule":[[2,0],1,0,1]' schedule two.xml --format json
exits 3 schedule two.xml --budget 3

refuses stuck.xml 'line 12: deadlock: "left" waits for 1 more token on "own"' schedule stuck.xml
refuses rate.xml 'line 6: port "o" of "left": rate "12x" is no whole number above 0' inspect rate.xml
refuses unknown.xml 'line 11: channel "link" goes to "write", which is no actor' compare unknown.xml
refuses large.xml '' schedule large.xml
refuses cut.xml 'line ' schedule cut.xml
refuses lost.xml '' schedule lost.xml
refuses two.xml 'takes no --certificate with --loops' schedule two.xml --loops flat --certificate x
refuses stuck.xml 'line 12: deadlock: "left" waits for 1 more token on "own"' inspect stuck.xml
says 'separate     4 tokens where each channel has its own memory; optimal' schedule two.xml --buffers separate
refuses two.xml 'takes no --shape' schedule two.xml --shape x=1
refuses builtin:swiftnet 'takes no --loops' schedule builtin:swiftnet --loops flat
refuses builtin:swiftnet 'takes no --emit-c' schedule builtin:swiftnet --emit-c x

for graph in two.xml sized.xml rates.xml delays.xml equal.xml "$@"; do
  for firing in pbc cbp; do
    exits 0 schedule "$graph" --firing $firing --format json -o result.json
    says 'a valid schedule of' verify "$graph" result.json
    sed 's/"peak":/"peak":1/' result.json >wrong.json
    refuses wrong.json 'peak: says 1' verify "$graph" wrong.json
    refuses result.json 'has no certificate' verify "$graph" --certificate result.json
    exits 0 schedule "$graph" --firing $firing --certificate proof.json
    says 'proves that no schedule takes less than' verify "$graph" --certificate proof.json
    sed 's/"bound":/"bound":1/' proof.json >wrong.json
    refuses wrong.json 'certificate: fingerprint' verify "$graph" --certificate wrong.json
    for buffers in shared separate; do
      exits 0 schedule "$graph" --firing $firing --buffers $buffers --emit-c schedule.c
      rule=
      [ $firing = pbc ] || rule=-DCBP
      # The header's functions that a graph without initial tokens does not call are no error.
      check "C of $graph compiles" cc -std=c99 -Wall -Wextra -pedantic -Werror -Wno-unused-function $rule -I . \
        "-DSCHEDULE=\"$directory/schedule.c\"" "$source/sdf_actors.c" -o actors
      check "tokens of $graph, $firing, $buffers" ./actors
    done
  done
done

# at_peak FILE: the sum of what the page's channels hold at the peak
at_peak() { sed 's/<tr>/\n/g' "$1" | awk -F'<td' 'NF == 10 { gsub(/[^0-9]/, "", $10); sum += $10 } END { print sum }'; }
for graph in rates.xml delays.xml equal.xml; do
  for firing in pbc cbp; do
    succeeds schedule "$graph" --firing $firing --format json --svg memory.svg
    peak=$(number peak)
    check "a drawing of $graph" grep -q 'firings, in the order of the schedule' memory.svg
    exits 0 report "$graph" --firing $firing -o page.html
    check "the page of $graph, $firing: the channels add up to the peak" is "$(at_peak page.html)" "$peak"
    check "the page of $graph has its choices" grep -q -e '--buffers separate' page.html
  done
done
exits 3 report two.xml --budget 3 -o page.html
check "a page of an unmet budget" grep -q 'not met; none can meet it' page.html
refuses two.xml 'takes no --ci' report two.xml --ci
says 'peak 16 bytes' report two.xml --token-size 4 -o page.html
refuses builtin:swiftnet 'takes no --loops' report builtin:swiftnet --loops flat -o page.html
refuses two.xml 'takes no --trace' report two.xml --trace t.json -o page.html

sed 's/"schedule":\[/"schedule":[[5,[[7,0]]],/' result.json >wrong.json
refuses wrong.json 'schedule' verify equal.xml wrong.json
echo '{"kind": "sdf", "schedule": {}}' >wrong.json
refuses wrong.json 'schedule: must be a list' verify equal.xml wrong.json

report
