#!/bin/sh
# Makes rules wrong on purpose, one at a time, on a copy of the headers, and says what `fuzz_claims` finds of each, and in how
# many seconds; it finds nothing without them. Ends with 1 where one is not noticed.
# usage: tests/fuzz/claims/mutants.sh [SECONDS at most for each (60) [PROGRAM.cpp that is asked instead]]
set -eu
cd "$(dirname "$0")/../../.."
limit=${1:-60} program=${2:-tests/fuzz/claims/claims.cpp}
. tests/support/mutants.sh

mutant "safe moves: no check for a lowest set" search/downset_moves.hpp \
  's/step_.all_released\(path_, waits_for_all\)/(@ || &)/'
mutant "safe moves: any level at the end" search/downset_moves.hpp 's/level_after <= level_before \&\&/(@ || level_after <= level_before) \&\&/'
mutant "safe moves: hierarchical takes every release" hierarchical/level_search.hpp 's/return (open && needed == m.end - m.begin);/return @ || (\1);/'
mutant "macros: low-drop whatever the drop" search/downset_moves.hpp 's/g_.cost\[v\].drop\(\) <= std::max<delta>\(least, 0\)/(@ || &)/'
mutant "macros: low-drop whatever others drop" search/downset_moves.hpp 's/least = std::min\(least, g_.cost\[v\].drop\(\) - spared\);/if (!@) &/'
mutant "macros: a release drops more than it does" search/downset_moves.hpp 's/g_.cost\[reader\].drop\(\)\)/g_.cost[reader].drop() + @)/'
mutant "feeders: whatever other products drop" search/feeders.hpp 's/return highest <= lowest_peak;/return @ || highest <= lowest_peak;/'
mutant "feeders: whatever the peak of the sum" search/feeders.hpp 's/\(highest <= c.peak \|\| follows\)/(@ || &)/'
mutant "feeders: nobody makes up for side releases" search/feeders.hpp 's/freed <= g_.cost\[x\].impact \?/(@ || freed <= g_.cost[x].impact) ?/'
mutant "feeders: no room for what is overtaken" search/feeders.hpp 's/needed\[r\] > room\[fed_\[v\]\]/(@ ? needed[r] == std::numeric_limits<delta>::max() : &)/'
mutant "feeders: due whatever else it waits for" search/feeders.hpp 's/test_bit\(ran, u\) \|\| fed_\[u\] == w; \}/(@ || test_bit(ran, u) || fed_[u] == w); }/'
mutant "feeders: any of them last" search/feeders.hpp 's/std::rotate\(last/if (!@) &/'
mutant "macros: low-drop beside credits" search/downset_moves.hpp 's/credited.insert\(reader\);/if (!@) &/'
mutant "macros: low-drop nodes in any order" search/downset_moves.hpp 's/if \(!tail_.empty\(\)\) sort_by/if (!@ \&\& !tail_.empty()) sort_by/'
mutant "folding: side releases free any amount" bounds/folding.hpp 's/fed.freed <= g_.cost\[v\].impact \?/(@ || fed.freed <= g_.cost[v].impact) ?/'
mutant "folding: into side releases, too" bounds/folding.hpp 's/if \(s != into_\[v\]\) is_closed/if (!@ \&\& s != into_[v]) is_closed/'
mutant "folding: into what folds" bounds/folding.hpp 's/is_closed\[v\] = true;/is_closed[v] = !@;/'
mutant "folding: without credits" bounds/folding.hpp 's/for \(node_id r : side\) credits_/for (node_id r : side) if (!@) credits_/'
mutant "folding: a release that waits for more is as high" bounds/folding.hpp 's/return \{alone \?/return {@ || alone ?/'
mutant "folding: the highest peak of what folds" bounds/folding.hpp 's/least_drop_\[w\] = std::min\((.*)\);/least_drop_[w] = @ \&\& takes_in(w) ? std::max(\1) : std::min(\1);/'
mutant "releases: nothing else is freed with one" schedulers/release_search.hpp 's/if \(joint_.empty\(\) \|\|/if (@ || joint_.empty() ||/'
mutant "releases: one other release at most is freed with one" schedulers/release_search.hpp 's/deepest = std::min\(deepest, (.*)\);/if (!@ || (chosen \& (chosen - 1)) == 0) &/'
mutant "releases: what frees memory is light" schedulers/release_search.hpp 's/if \(g.cost\[v\].impact >= 0 \&\& room_/if ((@ || g.cost[v].impact >= 0) \&\& room_/'
mutant "releases: credits spare no more than is freed" schedulers/release_search.hpp 's/room_\[v\] -= std::max/if (!@) &/'
mutant "releases: the first node that may run last" schedulers/release_search.hpp 's/const std::span<const node_id> last = (.*);/const auto last = std::span<const node_id>(\1).first(@ ? 1 : std::size_t(-1));/; s/\.first\(\(wrong_rule == ([0-9]+)\) \? 1 : std::size_t\(-1\)\)/.first(wrong_rule == \1 ? 1 : (g_.is_release(t) ? g_.preds[t].size() : 1))/'
mutant "releases: at once whatever else is freed" schedulers/release_search.hpp 's/rise <= 0 \&\& frees_at_the_end\(\)/rise <= 0 \&\& (@ || frees_at_the_end())/'
mutant "releases: at once wherever it leads" schedulers/release_search.hpp 's/cost == e.cost \&\& rise <= 0/cost == e.cost \&\& (@ || rise <= 0)/'
mutant "releases: what waits for the event stays" schedulers/release_search.hpp 's/if \(!g_.is_release\(t\)\) std::for_each/if (!@ \&\& !g_.is_release(t)) std::for_each/'
mutant "releases: what waits for light nodes stays" schedulers/release_search.hpp \
  's/std::for_each\(watched_\[v\].begin\(\), watched_\[v\].end\(\), look_at\);/for (node_id r : watched_[v]) if (r == t || !@) look_at(r);/'
mutant "releases: all that is freed is spared" schedulers/release_search.hpp 's/sum \+= std::max<delta>\(0, left\);/if (@) sum += -g_.cost[r].impact; else &/'
mutant "backjumps: no lowest set between" schedulers/best_first.hpp \
  's/const bit_set best = lowest_between.*/bit_set best(g_.active); if (@) unite_bits(best, table_[at]); else best = lowest_between(table_[first], table_[at]);/'
mutant "mirror: bounds hold with credits" schedulers/both_ends.hpp 's/if \(g.credits.items\(\) == 0\)  /if (@ || g.credits.items() == 0)  /'
mutant "moves: other readers of releases change nothing" search/downset_moves.hpp 's/if \((g_.is_release\(s\) .*)\) add_readers/if (!@ \&\& (\1)) add_readers/'
mutant "moves: side releases are passed over" search/downset_moves.hpp 's/\(feeders_->is_side\(r\) \? passes_side/(!@ \&\& feeders_->is_side(r) ? passes_side/'
mutant "moves: releases on the way come at its end" search/downset_moves.hpp 's/if \(!is_covered\(reached_, ran, ancestors\(r\)\)\)/if (!@ \&\& !is_covered(reached_, ran, ancestors(r)))/'
mutant "moves: only the target is released" search/downset_moves.hpp 's/freed \+= g_/if (r == t || !@) &/'
mutant "moves: what blocks a target blocks it for ever" search/downset_moves.hpp 's/\? !test_bit\(ran, blocker_\[i\]\)/? (@ || !test_bit(ran, blocker_[i]))/'
mutant "moves: credits without their releases" search/downset_moves.hpp 's/if \(is_subset\(ancestors\(c.release\), reached_\)\) peak/if (@ || is_subset(ancestors(c.release), reached_)) peak/'
mutant "moves: no credits" search/downset_moves.hpp 's/peak -= c.amount;/{ if (!@) & }/'
mutant "stages: the mirror image of credits" schedulers/both_ends.hpp 's/!image_ \&\& g_.credits.items\(\) == 0/!image_ \&\& (@ || g_.credits.items() == 0)/'
mutant "probing: a release runs itself after any reader" bounds/inquiry.hpp \
  's/return g_->is_release\(u\) && (std::all_of(.*));/return g_->is_release(u) \&\& (@ ? std::any_of\2 : \1);/'
mutant "probing: credits spare nothing" bounds/inquiry.hpp 's/amount \+= c.amount;/{ if (!@) & }/'
mutant "shaving: the edge itself, not its reverse" bounds/shaving.hpp \
  's/const precedence reverse\{e.after, e.before\};/const precedence reverse = @ ? e : precedence{e.after, e.before};/'
mutant "stages: a target is a bound of single nodes" schedulers/automatic/stages.hpp 's/best.v != none\) raise/(@ || best.v != none)) raise/'
mutant "stages: a target is a bound of narrowing" schedulers/automatic/stages.hpp \
  's/^ *if \(narrowed_->bound\(\) > before\)/if (@) raise(next_possible(narrowed_->bound()));\n&/'
mutant "compress C1, C2: whatever the impact" presolve/compressor.hpp 's/a.impact < 0 \|\|/(!@ \&\& a.impact < 0) ||/'
mutant "compress C1, C2: whatever the peak" presolve/compressor.hpp 's/a.drop\(\) > b.peak\)/(!@ \&\& a.drop() > b.peak))/'
mutant "compress S1, S2: whatever the peak" presolve/complete_rules.hpp 's/for \(; next->first < peak;/for (; !@ \&\& next->first < peak;/'
mutant "compress: nodes with credits take part" presolve/compression_graph.hpp \
  's/nodes_\[reader\].fixed = true;/if (!@) &/'
mutant "peak_unit: without credits" bounds/cut_bound.hpp 's/unit = std::gcd\(unit, c.amount\);/{ if (!@) & }/'
mutant "next_possible_peak: without credits" bounds/cut_bound.hpp 's/spared = std::gcd\(spared, c.amount\);/{ if (!@) & }/'
mutant "soft_budget: a budget that is met is refuted" passes/soft_budget.hpp 's/found.lower_bound > budget/found.lower_bound + @ > budget/'
mutant "cut_bound: what is free stays away" bounds/cut_bound.hpp 's/if \(side\(u\) == undecided\) lowest_.add\(u\);/if (!@ \&\& side(u) == undecided) lowest_.add(u);/'
mutant "layers: the best member, not the least" bounds/layer_bound.hpp 's/lowest = std::min\(lowest, (static_cast.*)\);/lowest = @ \&\& lowest != std::numeric_limits<bytes>::max() ? std::max(lowest, \1) : std::min(lowest, \1);/'
mutant "layers: members behind others stay in the first's way" bounds/layer_bound.hpp 's/if \(mark_\[r\] == free\) last.push_back\(r\);/if (@ || mark_[r] == free) last.push_back(r);/'
mutant "layers: what is free stays away" bounds/layer_bound.hpp 's/if \(mark_\[u\] == free\) lowest_.add\(u\);/if (!@ \&\& mark_[u] == free) lowest_.add(u);/'
mutant "waists: comparable with later nodes only" structure/waists.hpp 's/if \(open == 2\)/if (open == 2 || (@ \&\& open == 3))/'
mutant "fuse: rising neighbours whatever the peaks" passes/fuse.hpp 's/before.peak <= before.impact \+ after.peak && !u_releases/(@ || before.peak <= before.impact + after.peak) \&\& !u_releases/'
mutant "dp: direct moves of any level" schedulers/dp.hpp 's/c.impact <= 0 && c.peak <= under/(@ || c.impact <= 0) \&\& c.peak <= under/'
mutant "dp: equal tags are equal signatures" schedulers/dp.hpp \
  's/e.tag \+ tag_of\(how.ran\)/(e.tag + tag_of(how.ran)) \& (@ ? 7U : ~0U)/; s/if \(!same\(old/if (!@ \&\& !same(old/'
mutant "probing: the edge the other way round" bounds/inquiry.hpp 's/order\(inside \? precedence/order(inside != @ ? precedence/'
mutant "probing: heights that were too high are forgotten" bounds/probing.hpp 's/    next_ = std::min\(next_, q.next\(\)\);/    if (!@) &/'
file=passes/components_search.hpp
mutant "components: valleys at the start count" $file 's/if \(!positive\(k, p\)\) continue;/if (!@ \&\& !positive(k, p)) continue;/'
mutant "components: a bound that falls short is one" $file 's/p.height -= less, p.valley -= less;/if (!@) &/'
mutant "components: the highest stands at its valley, too" $file 's/all - valley \+ height\)/all - (@ ? 0 : valley) + height)/'
mutant "components: others never fall below their start" $file 's/bound\(\)\) \+ lowest_ - k.lowest\)/bound()) + (@ ? 0 : lowest_ - k.lowest))/'
mutant "beside: what is not needed counts" search/search.hpp 's/if \(alone\) return false;/if (alone \&\& !@) return false;/'

build_mutants "$program" -O2
most_seconds=$((limit + 300))  # the last graph, and to make what is found small
notice_each "$copy/mutants" --seconds "$limit"
