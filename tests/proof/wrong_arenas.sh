#!/bin/sh
# Makes each rule of both checkers of arenas wrong in turn, and checks that their comparison notices: what the library's
# accepts is compared with the truth, and what check_packing.py accepts, too.
# usage: wrong_arenas.sh COMPILER SOURCE_DIRECTORY [COUNT]
compiler=$1 source=$2 count=${3:-1500}
here=$source/tests/proof
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

report() { # NAME: whether the last command failed, as it should
  if [ "$2" = 0 ]; then echo "$1: not noticed"; status=1; else echo "$1: noticed"; fi
}

build() { "$compiler" -std=c++20 -O1 -I "$1" -I "$source/tests" "$here/arena_cases.cpp" -o "$work/cases"; }

# wrong NAME HEADER EXPRESSION: a sed expression that changes a header of proof/
wrong() {
  rm -rf "$work/include"
  cp -r "$source/include" "$work/include"
  sed "$3" "$source/include/memsched/proof/$2" >"$work/include/memsched/proof/$2"
  if cmp -s "$source/include/memsched/proof/$2" "$work/include/memsched/proof/$2"; then
    echo "$1: changes nothing"
    status=1
    return
  fi
  build "$work/include" || exit 2
  "$work/cases" "$count" >/dev/null 2>&1
  report "$1" $?
}

# wrong_second NAME FILE EXPRESSION: likewise of the second checker, of the proofs that the first one's cases hold
wrong_second() {
  cp "$here"/*.py "$work"
  sed "$3" "$here/$2" >"$work/$2"
  if cmp -s "$here/$2" "$work/$2"; then
    echo "$1: changes nothing"
    status=1
    return
  fi
  python3 "$work/both_arenas.py" <"$work/lines" >/dev/null 2>&1
  report "$1" $?
}

build "$source/include" || exit 2
"$work/cases" "$count" >"$work/lines" || exit 2
python3 "$here/both_arenas.py" <"$work/lines" >/dev/null || exit 2

file=packing.py
wrong_second "second: height ignores drops" $file 's/self.height\[i, j\] = a.at(shared)/self.height[i, j] = a.size/'
wrong_second "second: the most is too little" $file 's|most = (capacity - b.size) //|most = (capacity - b.size - 1) //|'
wrong_second "second: a fit is none" $file 's/if self.least\[a\] + height > self.most\[b\]:/if self.least[a] + height >= self.most[b]:/'
wrong_second "second: twins of any size" $file 's/alignment, tuple(self.levels)) if/alignment) if/'
wrong_second "second: twins that die at any time" $file 's/self.kind = (lower, upper,/self.kind = (lower,/'
wrong_second "second: fixed twins" $file 's/ if fixed is None else None$//'
wrong_second "second: all round up" $file 's/return sum(rounded) - max(.*) > high - low/return sum(rounded) > high - low/'
wrong_second "second: the room itself is too little" $file 's/ > high - low/ >= high - low/'
wrong_second "second: sums of what is not live" $file 's/need(all(b.lower <= moment < b.upper for b in live)/need(True/'
wrong_second "second: sums of one buffer twice" $file 's/len(set(chosen)) == len(chosen) and //'
wrong_second "second: empty buffers" $file 's/need(not any(b.empty()/need(True or any(b.empty()/'
wrong_second "second: one case is enough" $file 's/waiting += \[known.fork(b, a), known.fork(a, b)\]/waiting += [known.fork(a, b)]/'
file=check_packing.py
wrong_second "second: nothing parts" $file 's/return self.never(edges, {(o, w) for o in users - {w}})/return True/'
wrong_second "second: under cbp, too" $file 's/(w in a\["readers"\] and not self.p.cbp\[w\])/w in a["readers"]/'
wrong_second "second: nothing takes the place" $file 's/if a\["storage"\] is not None and (a/if False and (a/'
wrong_second "second: what lies in one place stays" $file 's/need(all(self.never(edges, {(a\["writer"\], o)}) for o in others)/need(True/'
wrong_second "second: every edge is refuted" $file 's/            return False$/            return True/'
wrong_second "second: any peak" $file 's/need(check.proven(nodes, r\["peak"\]) >= self.arena/need(check.proven(nodes, r["peak"]) >= 0/'
wrong_second "second: under some edges" $file 's/need(refutations and not refutations\[-1\]\["edges"\]/need(refutations/'
wrong_second "second: one pair is enough" $file 's/flat = not any(.*)/flat = True/;s/full = not flat or .*/full = True/'

file=packing_ranges.hpp
wrong "height ignores drops" $file 's/signed_of(buffers_\[a\]->size_at(first))/signed_of(buffers_[a]->size)/'
wrong "the most is too little" $file 's/signed_of(capacity) - signed_of(b.size)/signed_of(capacity) - signed_of(b.size) - 1/'
wrong "the least is rounded too far" $file 's|(n + a - 1) / a \* a|(n + a) / a * a|'
wrong "a fit is none" $file 's/height(a, b) <= most_\[b\]/height(a, b) < most_[b]/'
wrong "twins of any lifetime" $file 's/a.lower == b.lower \&\& a.upper == b.upper \&\& //'
wrong "twins of any size" $file 's/ \&\& a.size == b.size \&\&/ \&\&/'
wrong "fixed twins" $file 's/return a.offset == no_offset \&\& b.offset == no_offset \&\& /return /'
wrong "all round up" $file 's/sum - spared > static_cast/sum > static_cast/'
wrong "the room itself is too little" $file 's/sum - spared > static_cast/sum - spared >= static_cast/'
file=check_packing.hpp
wrong "one case is enough" $file 's/for (const bool second : {false, true})/for (const bool second : {false})/'
wrong "sums of what is not live" $file 's/if (known\[i\].lower > s.at || known\[i\].upper <= s.at)/if (false)/'
wrong "sums of one buffer twice" $file 's/if (std::adjacent_find(.*/if (false)/'
wrong "empty buffers" $file 's/if (buffers\[i\].empty()) return/if (false) return/'
file=check_joint.hpp
wrong "nothing parts" $file 's/    return refuted(edges, way);/    return true;/'
wrong "under cbp, too" $file 's/else if (arena_pieces(p_, model_).rule(r) != firing::cbp) return true;/else return true;/'
wrong "nothing takes the place" $file 's/      if (!refuted(edges, way)) return false;//'
wrong "what lies in one place stays" $file 's/return r == b.writer || refuted(edges, {{b.writer, r}});/return r != none;/'
wrong "every edge is refuted" $file 's/return refuted_.count(both) > 0 || makes_cycle(both);/return true;/'
wrong "any peak" $file 's/return r.peak->bound >= arena ? "" :.*/return "";/'
wrong "under some edges" $file 's/ || !proof.refutations.back().edges.empty())/)/'
wrong "one pair is enough" $file 's/if (!held.buffers\[a.buffer\].drops.empty() || .*/if (false) {/;s/one |= whole \&\& meets;/one |= meets;/'
exit $status
