#!/bin/sh
# Makes rules of placing wrong in turn, and checks that a law notices.
# usage: wrong_rules.sh COMPILER SOURCE_DIRECTORY
CXX=$1
cd "$2" || exit 2
. tests/support/mutants.sh

file=bounds/placing.hpp
mutant "positions: the first is one later" $file 's/first_\[v\] = c.k \+ 1;/first_[v] = c.k + 1 + @;/'
mutant "positions: due one earlier" $file 's/else due_\[v\] = c.k;/else due_[v] = c.k - @;/'
mutant "edges: where both are due" $file 's/due_\[u\] <= first_\[v\] \&\&/due_[u] <= first_[v] + @ \&\&/'
mutant "levels: at the limit, too" $file 's/if \(value > scale \* limit\)/if (value > scale * limit - @)/'
mutant "positions: uncounted nodes have some" $file 's/return g_->cost\[v\].peak > 0 \? 1 : 0;/return @ || g_->cost[v].peak > 0 ? 1 : 0;/'
mutant "levels: of a set of one node less" $file 's/\{static_cast<delta>\(g_->base\), -static_cast<delta>\(c.k\)\}/{static_cast<delta>(g_->base), @ - static_cast<delta>(c.k)}/'
mutant "positions: two behind an ancestor" $file 's/first_\[u\] \+ weight\(v\)\);/first_[u] + (@ ? 2 : 1) * weight(v));/'
mutant "positions: due two ahead of a descendant" $file 's/due_\[u\] = std::min\(due_\[u\], due_\[v\] - weight\(v\)\);/due_[u] = std::min(due_[u], due_[v] - std::min(due_[v], (@ ? 2 : 1) * weight(v)));/'
mutant "next: as if all facts held above" $file 's/next_ = std::min\(next_, static_cast<bytes>\(a.level\)\), facts_/next_ = @ ? next_ : std::min(next_, static_cast<bytes>(a.level)), facts_/'
mutant "questions: a set without v holds it" $file 's/side_\[i\] = q.inside \?/side_[i] = q.inside != @ ?/'
mutant "sets: what is due is free" $file 's/else if \(due_\[v\] > c.k\)/else if (due_[v] > c.k + @)/'
mutant "sets: what may be in is out" $file 's/if \(first_\[v\] > c.k\) out.insert/if (first_[v] + @ > c.k) out.insert/'

notice_with tests/bounds/placing_test.cpp -I examples
