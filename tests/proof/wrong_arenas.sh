#!/bin/sh
# Makes each rule of both checkers of arenas wrong in turn, and checks that their comparison notices: what the library's
# accepts is compared with the truth, and what check_packing.py accepts, too.
# usage: wrong_arenas.sh COMPILER SOURCE_DIRECTORY [COUNT]
CXX=$1 count_of_cases=${3:-1500}
cd "$2" || exit 2
. tests/support/mutants.sh
here=tests/proof
status=0

file=proof/packing_ranges.hpp
mutant "height ignores drops" $file 's/signed_of\(buffers_\[a\]->size_at\(first\)\)/signed_of(@ ? buffers_[a]->size : buffers_[a]->size_at(first))/'
mutant "the most is too little" $file 's/signed_of\(capacity\) - signed_of\(b.size\)/& - @/'
mutant "the least is rounded too far" $file 's|n \+ a - 1\) / a|n + a - !@) / a|'
mutant "a fit is none" $file 's/height\(a, b\) <= most_\[b\]/height(a, b) + @ <= most_[b]/'
mutant "twins of any lifetime" $file 's/a.lower == b.lower && a.upper == b.upper &&/(@ || (a.lower == b.lower \&\& a.upper == b.upper)) \&\&/'
mutant "twins of any size" $file 's/a.size == b.size &&/(@ || a.size == b.size) \&\&/'
mutant "fixed twins" $file 's/a.offset == no_offset && b.offset == no_offset &&/(@ || (a.offset == no_offset \&\& b.offset == no_offset)) \&\&/'
mutant "all round up" $file 's/sum - spared > static_cast/sum - (@ ? 0 : spared) > static_cast/'
mutant "the room itself is too little" $file 's/> static_cast<bytes>\(high - low\)/+ @ &/'
file=proof/check_packing.hpp
mutant "one case is enough" $file 's/(if \(!refutes\(std::move\(one\), depth \+ 1\)\)) return false;/if (@ \&\& second) continue; \1 return false;/'
mutant "sums of what is not live" $file 's/if \((known\[i\].lower > s.at .*)\)$/if (!@ \&\& (\1))/'
mutant "sums of one buffer twice" $file 's/if \(std::adjacent_find/if (!@ \&\& std::adjacent_find/'
mutant "empty buffers" $file 's/if \(buffers\[i\].empty\(\)\) return/if (!@ \&\& buffers[i].empty()) return/'
file=proof/check_joint.hpp
mutant "nothing parts" $file 's/^    return refuted\(edges, way\);/    return @ || refuted(edges, way);/'
mutant "under cbp, too" $file 's/else if \((arena_pieces.* != firing::cbp)\) return true;/else if (@ || \1) return true;/'
mutant "nothing takes the place" $file 's/if \(!refuted\(edges, way\)\) return false;/if (!@ \&\& !refuted(edges, way)) return false;/'
mutant "what lies in one place stays" $file 's/return r == b.writer \|\|/return r == b.writer || (@ \&\& r != none) ||/'
mutant "every edge is refuted" $file 's/return refuted_.count\(both\) > 0/return @ || refuted_.count(both) > 0/'
mutant "any peak" $file 's/return r.peak->bound >= arena \?/return @ || r.peak->bound >= arena ?/'
mutant "under some edges" $file 's/\|\| (!proof.refutations.back\(\).edges.empty\(\))\)/|| (!@ \&\& \1))/'
mutant "one pair is enough" $file 's/if \((!held.buffers\[a.buffer\].drops.empty\(\) .*)\) \{/if (!@ \&\& (\1)) {/; s/one \|= whole && meets;/one |= (@ || whole) \&\& meets;/'

build_mutants $here/arena_cases.cpp -O1 || exit 2
export WRONG_RULE=0
"$copy/mutants" "$count_of_cases" >"$copy/lines" || exit 2
python3 $here/both_arenas.py <"$copy/lines" >/dev/null || exit 2
notice_each "$copy/mutants" "$count_of_cases" || status=1

# wrong_second NAME FILE EXPRESSION: likewise of the second checker, of the proofs that the first one's cases hold
wrong_second() {
  cp $here/*.py "$copy"
  sed "$3" "$here/$2" >"$copy/$2"
  if cmp -s "$here/$2" "$copy/$2"; then
    echo "$1: changes nothing"
    status=1
    return
  fi
  judge "$1" python3 "$copy/both_arenas.py" <"$copy/lines" || status=1
}

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
exit $status
