#!/bin/sh
# Makes each rule on actors, the nests and the search for buffers wrong in turn, and checks that the laws notice.
# usage: wrong_rules.sh COMPILER SOURCE_DIRECTORY
compiler=$1 source=$2
test=sdf/laws_test.cpp
flags=
. "$source/tests/support/wrong_rules.sh"
header=sdf/compress.hpp

wrong "T: a path that starts with tokens" $header 's/k.other != l.other \&\& k.tokens == 0 \&\&/k.other != l.other \&\&/'
wrong "T: any other output" $header 's/ \&\& reaches_free(k.other, l.other);/;/'
wrong "R: tokens that do not align" $header 's/f = std::gcd(std::gcd(f, \(.*\)), l.tokens);/f = std::gcd(f, \1);/'
wrong "R: rates that do not align" $header 's/if ((s == inputs ? e.consumed : e.produced) != 1) return bytes{1};//'
wrong "R: inputs whatever the impact" $header 's/if (x.cost.impact <= 0) f = divisor(inputs);/f = divisor(inputs);/'
wrong "R: outputs whatever the impact" $header 's/if (x.cost.impact >= 0) f = /f = /'
wrong "C1, C2: not one-to-one for tokens" $header 's/return l.tokens == 0 \&\& actors_/return actors_/'
wrong "C1: whatever the impact" $header 's/x.impact < 0 || //'
wrong "C1: whatever the drop" $header 's/ || x.drop() > y.peak) return false;/) return false;/'
wrong "C1: several outputs" $header 's/if (around(a, outputs).size() != 1) return false;/if (around(a, outputs).empty()) return false;/'
wrong "C2: whatever the impact" $header 's/y.impact > 0 || //'
wrong "C2: whatever the drop" $header 's/ || y.peak > x.drop()) return false;/) return false;/'
wrong "C2: several inputs" $header 's/if (around(b, inputs).size() != 1) return false;/if (around(b, inputs).empty()) return false;/'
wrong "S1: whatever the impact" $header 's/s == inputs ? x.impact > 0 :/s == inputs ? false :/'
wrong "S2: whatever the impact" $header 's/ : x.impact < 0) return false;/ : false) return false;/'
wrong "S1: the higher peak first" $header 's/level(x) > level(y.cost)) continue;/s == inputs ? level(x) < level(y.cost) : level(x) > level(y.cost)) continue;/'
wrong "S2: the higher drop last" $header 's/level(x) > level(y.cost)) continue;/s == outputs ? level(x) < level(y.cost) : level(x) > level(y.cost)) continue;/'
wrong "S1, S2: different repetitions" $header 's/y.repetitions != actors_\[a\].repetitions || //'
wrong "S1: inputs that do not come before" $header 's/s == inputs ? reaches_free(l.other, b) :/s == inputs ? true :/'
wrong "S2: outputs that do not come behind" $header 's/ : reaches_free(b, l.other);/ : true;/'
wrong "needs: of several the one with the most tokens" sdf/composites.hpp 's/std::pair(key(a), a.tokens) < std::pair(key(b), b.tokens)/std::pair(key(a), b.tokens) < std::pair(key(b), a.tokens)/'
wrong "nests: tokens that go back" sdf/single_appearance.hpp 's/if (least\[k - i\] == never || g < least\[k - i\]) continue;//'
wrong "buffers: cycles that share channels add up" sdf/separate.hpp 's/run_.widen(l.channel, bounded_run::unlimited);/run_.widen(l.channel, l.room);/'
wrong "buffers: only the first channel of a cycle" sdf/separate.hpp 's/const bytes most = child.most/if (l.channel != lacks.front().channel) continue;\n        const bytes most = child.most/'
wrong "buffers: more room than is lacked" sdf/separate.hpp 's/const lack l{i, tokens_\[i\] + c.produced};/const lack l{i, tokens_[i] + 2 * c.produced};/'
test=sdf/graph_test.cpp
wrong "nests: only the largest loop" sdf/single_appearance.hpp 's/std::size_t y = x; y < r.g.size()/std::size_t y = r.g.size() - 1; y < r.g.size()/'
exit $status
