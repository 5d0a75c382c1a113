#!/bin/sh
# Makes rules of placing, of the destructive search and of windows wrong in turn, and checks that a law notices.
# usage: wrong_rules.sh COMPILER SOURCE_DIRECTORY
CXX=$1
cd "$2" || exit 2
. tests/support/mutants.sh

file=bounds/position_ranges.hpp
mutant "positions: the first is one later" $file 's/std::max\(first_\[v\], k \+ 1\);/std::max(first_[v], k + 1 + @);/'
mutant "positions: due one earlier" $file 's/std::min\(due_\[v\], k\);/std::min(due_[v], k - @);/'
mutant "edges: where both are due" $file 's/due_\[u\] <= first_\[v\];/due_[u] <= first_[v] + @;/'
mutant "positions: uncounted nodes have some" $file 's/return \(\*cost_\)\[v\].peak > 0 \? 1 : 0;/return @ || (*cost_)[v].peak > 0 ? 1 : 0;/'
mutant "positions: two behind an ancestor" $file 's/first_\[u\] \+ weight\(v\)\);/first_[u] + (@ ? 2 : 1) * weight(v));/'
mutant "positions: due two ahead of a descendant" $file 's/due_\[u\] = std::min\(due_\[u\], due_\[v\] - weight\(v\)\);/due_[u] = std::min(due_[u], due_[v] - std::min(due_[v], (@ ? 2 : 1) * weight(v)));/'
mutant "levels: the rise of the last node" $file 's/std::min\(least.value_or\(rise\), rise\);/@ ? rise : std::min(least.value_or(rise), rise);/'
mutant "levels: credits are not spared" $file 's/rise -= c.amount;/rise -= @ ? 0 : c.amount;/'
file=bounds/placing.hpp
mutant "levels: at the limit, too" $file 's/if \(value > scale \* limit\)/if (value > scale * limit - @)/'
mutant "levels: of a set of one node less" $file 's/\{static_cast<delta>\(g_->base\), -static_cast<delta>\(c.k\)\}/{static_cast<delta>(g_->base), @ - static_cast<delta>(c.k)}/'
mutant "next: as if all facts held above" $file 's/next_ = std::min\(next_, static_cast<bytes>\(a.level \+ rise_\)\), facts_/next_ = @ ? next_ : std::min(next_, static_cast<bytes>(a.level + rise_)), facts_/'
mutant "questions: a set without v holds it" $file 's/side_\[i\] = q.inside \?/side_[i] = q.inside != @ ?/'
mutant "sets: nodes are due one early" $file 's/else if \(!positions_.is_due\(c.k, v\)\)/else if (!positions_.is_due(c.k + @, v))/'
mutant "sets: nodes that may be in are out" $file 's/if \(!positions_.may_hold\(c.k, v\)\) out/if (!positions_.may_hold(c.k - @, v)) out/'

notice_with tests/bounds/placing_test.cpp -I examples || missed=1

file=bounds/destructive_search.hpp
mutant "destructive search: hands out a lower peak's graph" $file \
  's/return lower == open_.begin\(\).*/if (@) return open_.empty() ? above_ : open_.front().refuter;\n    &/'
mutant "destructive search: bounds are the next peak tried" $file \
  's/return std::min\(std::max\(a.peak \+ 1, a.refuter.next\(\)\), valid\);/return @ ? valid : std::min(std::max(a.peak + 1, a.refuter.next()), valid);/'
mutant "destructive search: bounds from facts that do not hold" $file \
  's/std::min\(std::max\(a.peak \+ 1, a.refuter.next\(\)\), valid\);/std::min(std::max(a.peak + 1, a.refuter.next()), @ ? ~bytes{0} : valid);/'
mutant "destructive search: a trial below the bound goes on" $file 's/if \(trial_ && (.*)\) trial_.reset\(\);/if (!@ \&\& trial_ \&\& \1) trial_.reset();/'
notice_with tests/bounds/destructive_search_test.cpp || missed=1

file=bounds/closed_window.hpp
mutant "windows: slack that is not lifted" $file 's/c.lift = m \+ c.slack;/c.lift = m + (@ ? 0 : c.slack);/'
mutant "windows: no slack for producers" $file 's/if \(r.from != none && !first\[/if (!@ \&\& r.from != none \&\& !first[/'
mutant "windows: no slack for takers" $file 's/if \(r.to != none && !last\[/if (!@ \&\& r.to != none \&\& !last[/'
mutant "windows: inside after some producers" $file 's/runs && is_subset\(first,/runs \&\& (@ || is_subset(first,/; s/above_\[i - above_from_\]\);/above_[i - above_from_]));/'
mutant "windows: ending before some takers" $file 's/runs && is_subset\(last, below_\[i - a_\]\)/runs \&\& (@ || is_subset(last, below_[i - a_]))/'
notice_with tests/bounds/window_test.cpp || missed=1
exit "${missed:-0}"
