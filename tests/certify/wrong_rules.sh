#!/bin/sh
# Makes rules of the checkers of events and of windows, and of the search that finds events, wrong in turn, and checks that a law notices.
# usage: wrong_rules.sh COMPILER SOURCE_DIRECTORY
CXX=$1
cd "$2" || exit 2
. tests/support/mutants.sh

file=proof/check_events.hpp
mutant "folds: what waits may free more than is added" $file 's/return feeds_w && freed <= (.*);/return feeds_w \&\& (@ || freed <= \1);/'
mutant "folds: others may wait for it" $file 's/^      else return false;$/      else if (!@) return false;/'
mutant "folds: a host that frees memory may wait for others" $file 's/(guests_\[v\].size\(\) != needs_\[v\].size\(\))/!@ \&\& \1/'
mutant "light: nodes may free memory" $file 's/ && impact_\[v\] >= 0 && / \&\& (@ || impact_[v] >= 0) \&\& /'
mutant "light: the number is not looked at" $file 's/room\(v\) <= static_cast<delta>\(m.most_light\)/(@ || &)/'
mutant "room: of the highest guest" $file 's/least = std::min\(least, drop\(u\)\);/least = @ \&\& u != runs(v).front() ? std::max(least, drop(u)) : std::min(least, drop(u));/'
mutant "events: others may wait for them" $file 's/&& feeds_\[v\].empty\(\);/\&\& (@ || feeds_[v].empty());/'
mutant "events: open with other events" $file 's/return !is_event\(u\); \}\);/return @ || !is_event(u); });/'
mutant "sets: nothing is freed on the way" $file 's/^          larger\[r\] = true, freed_/          if (!@) larger[r] = true, freed_/'
mutant "sets: a folded node comes without its host" $file 's/add\(u\), add\(host\(u\)\);/add(u), add(@ ? u : host(u));/'
mutant "at once: the level may rise" $file 's/there <= here && frees/(@ || there <= here) \&\& frees/'
mutant "at once: what is freed may wait for less" $file 's/&& frees_at_the_end\(ran\);/\&\& (@ || frees_at_the_end(ran));/'
mutant "at once: at any charge" $file 's/cost.high < bound\)/(@ || cost.high < bound))/; s/std::size_t most = 4/const std::size_t most = @ ? 1 : 4/; s/constexpr const/const/'
mutant "at once: to anywhere" $file 's/if \(inside && at_once/if ((@ || inside) \&\& at_once/'
mutant "charge: all that is freed" $file 's/if \(contains\(needs_\[r\], u\)\) takes/if (@ || contains(needs_[r], u)) takes/'
mutant "charge: of any node that may run last" $file 's/^        least = \{std::min/        if (@) least = {takes + fall.low, takes + fall.high};\n        else &/'
mutant "charge: of nodes that are folded" $file 's/const node_id w = host\(x\);/const node_id w = @ ? x : host(x);/'
mutant "fall: none" $file 's/if \(side.empty\(\)\) return/if (@ || side.empty()) return/'
mutant "fall: one node alone" $file 's/side.size\(\); \+\+chosen\)/side.size(); chosen += @ ? chosen : 1)/'
mutant "fall: of many nodes none" $file 's/return \{std::min<delta>\(0, all \+ least_rise\), 0\};/return {@ ? 0 : std::min<delta>(0, all + least_rise), 0};/; s/std::size_t most = /&@ ? 1 : /'
mutant "end: an order may end anywhere" $file 's/if \(!any && g_/if (!@ \&\& !any \&\& g_/'
mutant "needs: not past merged nodes" $file 's/if \(past_all \|\| g_.merged/if (past_all || (!@ \&\& g_.merged/; s/(\(!\(wrong_rule == [0-9]+\) && g_.merged\(\)\[u\])\)/\1))/'
file=schedulers/release_search.hpp
mutant "found: sets grow from the start" $file 's/emplace_back\(place\[e.parent\], /emplace_back(@ ? 0 : place[e.parent], /'
file=certify/find_events.hpp
mutant "found: releases that wait for others are hosts" $file 's/bounds::fold_into::closed/@ ? bounds::fold_into::all : &/'
mutant "found: merged nodes stay" $file 's/is_merged\[merge_costs\(cost, r\)\] = true;/is_merged[merge_costs(cost, r)] = !@;/'

notice_with tests/certify/events_test.cpp || missed=1

file=proof/check_window.hpp
mutant "window: the slack counts at either end" $file 's/> w_.slack - early\)/> w_.slack - (@ ? 0 : early))/'
mutant "window: nodes may run before the start" $file 's/if \(early > w_.slack\)/if (!@ \&\& early > w_.slack)/'
mutant "window: one of the listed nodes is enough" $file 's/std::any_of\(list.begin\(\), list.end\(\), /std::any_of(list.begin(), @ \&\& !list.empty() ? list.begin() + 1 : list.end(), /'
file=proof/check_certificate.hpp
mutant "window: the slack is not taken off" $file 's/c.window->lift \+ c.window->slack/c.window->lift + (@ ? 0 : c.window->slack)/'
notice_with tests/proof/certificate_test.cpp || missed=1
exit "${missed:-0}"
