#!/bin/sh
# Makes rules of the bounds of extra costs, and of the checker of their proofs, wrong in turn, and checks that a law notices.
# usage: wrong_rules.sh COMPILER SOURCE_DIRECTORY
compiler=$1 source=$2
test=recompute/laws_test.cpp
flags=""
. "$source/tests/support/wrong_rules.sh"
rows=recompute/rows.hpp needs=recompute/needs.hpp closure=recompute/priced_closure.hpp checker=proof/check_recompute.hpp

wrong "rows: room in place is forgotten" $rows 's/return sum - spared;/return sum;/'
wrong "rows: a read that ends first is in memory" $rows 's/if (frees_first(op)) return sum;//'
wrong "rows: a gap goes on over a use" $rows 's/for (index_t use : uses_) {/for (index_t use : uses_) { continue;/'
wrong "needs: sizes are rounded up" $needs 's/n.size -= n.size % unit;/n.size += (unit - n.size % unit) % unit;/'
wrong "needs: the room loses a unit more" $needs 's/room -= room % unit;/room -= room % unit + (unit > 1 ? unit : 0);/'
wrong "needs: reads of the row may be absent" $needs 's/for (tensor_id t : p.reads(op)) found\[t\] = there;/;/'
wrong "needs: graph inputs are made again" $needs 's/if (producer == none || !table.may_repeat(producer)) continue;/if (producer == none) continue;/'
wrong "needs: tails are paid at any row" $needs 's/const bool behind = tail\[t\] != none \&\& r.tails\[tail\[t\]\].first <= k;/const bool behind = tail[t] != none;/'
wrong "checker: sizes are not rounded" $checker 's|p_.size(t) / n.unit \* n.unit|p_.size(t)|'
wrong "checker: the room loses a unit more" $checker 's/(cut < 0 ? unit : 0)/(n.unit > 1 ? unit : 0)/'
wrong "checker: tails are paid at any row" $checker 's/rows_.tails\[t\].first <= k});/true});/'
wrong "checker: what is decided stays open below" $checker 's/open.push_back({none, c.gap, 0});//'
wrong "checker: shares may be used twice" $checker 's/\*from -= amount;//'
exit $status
