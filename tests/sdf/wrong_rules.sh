#!/bin/sh
# Makes each rule on actors, the nests and the search for buffers wrong in turn, and checks that the laws notice.
# usage: wrong_rules.sh COMPILER SOURCE_DIRECTORY
CXX=$1
cd "$2" || exit 2
. tests/support/mutants.sh

file=sdf/compress.hpp
mutant "T: a path that starts with tokens" $file 's/ && k.tokens == 0 && reaches_free/ \&\& (@ || k.tokens == 0) \&\& reaches_free/'
mutant "T: any other output" $file 's/ && (reaches_free\(k.other, l.other\));/ \&\& (@ || \1);/'
mutant "R: tokens that do not align" $file 's/e.consumed\), l.tokens\);/e.consumed), @ ? 0 : l.tokens);/'
mutant "R: rates that do not align" $file 's/(e.consumed : e.produced\)) != 1\) return/\1 != 1 \&\& !@) return/'
mutant "R: inputs whatever the impact" $file 's/if \(x.cost.impact <= 0\) f/if (@ || x.cost.impact <= 0) f/'
mutant "R: outputs whatever the impact" $file 's/if \(x.cost.impact >= 0\) f/if (@ || x.cost.impact >= 0) f/'
mutant "C1, C2: not one-to-one for tokens" $file 's/return l.tokens == 0 && (actors_)/return (@ || l.tokens == 0) \&\& \1/'
mutant "C1: whatever the impact" $file 's/ \|\| x.impact < 0 \|\|/ || (!@ \&\& x.impact < 0) ||/'
mutant "C1: whatever the drop" $file 's/ \|\| x.drop\(\) > y.peak\)/ || (!@ \&\& x.drop() > y.peak))/'
mutant "C1: several outputs" $file 's/if \(around\(a, outputs\).size\(\) != 1\)/if (@ ? around(a, outputs).empty() : around(a, outputs).size() != 1)/'
mutant "C2: whatever the impact" $file 's/ \|\| y.impact > 0 \|\|/ || (!@ \&\& y.impact > 0) ||/'
mutant "C2: whatever the drop" $file 's/ \|\| y.peak > x.drop\(\)\)/ || (!@ \&\& y.peak > x.drop()))/'
mutant "C2: several inputs" $file 's/if \(around\(b, inputs\).size\(\) != 1\)/if (@ ? around(b, inputs).empty() : around(b, inputs).size() != 1)/'
mutant "S1: whatever the impact" $file 's/s == inputs \? x.impact > 0 :/s == inputs ? !@ \&\& x.impact > 0 :/'
mutant "S2: whatever the impact" $file 's/ : x.impact < 0\) return false;/ : !@ \&\& x.impact < 0) return false;/'
mutant "S1: the higher peak first" $file 's/level\(x\) > level\(y.cost\)\) continue;/(@ \&\& s == inputs ? level(x) < level(y.cost) : level(x) > level(y.cost))) continue;/'
mutant "S2: the higher drop last" $file 's/level\(x\) > level\(y.cost\)\)+ continue;/(@ \&\& s == outputs ? level(x) < level(y.cost) : &/; s/(\(wrong_rule == [0-9]+\) && s == outputs [^;]*)\) continue;/\1)) continue;/'
mutant "S1, S2: different repetitions" $file 's/y.repetitions != actors_\[a\].repetitions \|\|/(!@ \&\& y.repetitions != actors_[a].repetitions) ||/'
mutant "S1: inputs that do not come before" $file 's/return s == inputs \? reaches_free\(l.other, b\)/return s == inputs ? @ || reaches_free(l.other, b)/'
mutant "S2: outputs that do not come behind" $file 's/ : reaches_free\(b, l.other\);/ : @ || reaches_free(b, l.other);/'
mutant "needs: of several the one with the most tokens" sdf/composites.hpp 's/std::pair\(key\(a\), a.tokens\) < std::pair\(key\(b\), b.tokens\)/std::pair(key(a), (@ ? b : a).tokens) < std::pair(key(b), (@ ? a : b).tokens)/'
file=sdf/single_appearance.hpp
mutant "nests: tokens that go back" $file 's/if \(least\[k - i\] == never/if (!@ \&\& (least[k - i] == never/; s/(g < least\[k - i\])\) continue;/\1)) continue;/'
mutant "nests: only the largest loop" $file 's/std::size_t y = x; y < r.g.size\(\)/std::size_t y = @ ? r.g.size() - 1 : x; y < r.g.size()/'
file=sdf/separate.hpp
mutant "buffers: cycles that share channels add up" $file 's/run_.widen\(l.channel, bounded_run::unlimited\);/run_.widen(l.channel, @ ? l.room : bounded_run::unlimited);/'
mutant "buffers: only the first channel of a cycle" $file 's/^( *)const bytes most = child.most/\1if (@ \&\& l.channel != lacks.front().channel) continue;\n&/'
mutant "buffers: more room than is lacked" $file 's/tokens_\[i\] \+ c.produced\};/tokens_[i] + (@ ? 2 : 1) * c.produced};/'

notice_with tests/sdf/laws_test.cpp tests/sdf/graph_test.cpp
