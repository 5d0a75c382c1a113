#!/bin/sh
# Makes rules of the checker of events, and of the search that finds them, wrong in turn, and checks that a law notices.
# usage: wrong_rules.sh COMPILER SOURCE_DIRECTORY
compiler=$1 source=$2
test=certify/events_test.cpp
flags=""
. "$source/tests/support/wrong_rules.sh"
checker=proof/check_events.hpp

wrong "folds: what waits may free more than is added" $checker 's/return feeds_w && freed <= g_.cost(v).impact;/return feeds_w;/'
wrong "folds: others may wait for it" $checker 's/^      else return false;$/      else continue;/'
wrong "folds: a host that frees memory may wait for others" $checker 's/guests_\[v\].size() != needs_\[v\].size()/false/'
wrong "light: nodes may free memory" $checker 's/ && impact_\[v\] >= 0 && / \&\& /'
wrong "light: the number is not looked at" $checker 's/ && room(v) <= static_cast<delta>(m.most_light)//'
wrong "room: of the highest guest" $checker 's/least = std::min(least, drop(u));/least = least > 1000000 ? drop(u) : std::max(least, drop(u));/'
wrong "events: others may wait for them" $checker 's/&& feeds_\[v\].empty();/;/'
wrong "events: open with other events" $checker 's/return !is_event(u); });/return true; });/'
wrong "sets: nothing is freed on the way" $checker 's/larger\[r\] = true, freed_.push_back(r);/;/'
wrong "sets: a folded node comes without its host" $checker 's/add(u), add(host(u));/add(u);/'
wrong "at once: the level may rise" $checker 's/there <= here && frees_at_the_end(ran)/frees_at_the_end(ran)/'
wrong "at once: what is freed may wait for less" $checker 's/there <= here && frees_at_the_end(ran)/there <= here/'
wrong "at once: at any charge" $checker 's/inside && at_once && cost.high < bound/inside \&\& at_once/;s/std::size_t most = 4/std::size_t most = 1/'
wrong "at once: to anywhere" $checker 's/inside && at_once && cost.high < bound/at_once \&\& cost.high < bound/'
wrong "charge: all that is freed" $checker 's/if (contains(needs_\[r\], u)) takes -=/takes -=/'
wrong "charge: of any node that may run last" $checker 's/least = {std::min(least.low, takes + fall.low), std::min(least.high, takes + fall.high)};/least = {takes + fall.low, takes + fall.high};/'
wrong "charge: of nodes that are folded" $checker 's/const node_id w = host(x);/const node_id w = x;/'
wrong "fall: none" $checker 's/const range fall = deepest_fall(u, w, ran);/const range fall{0, 0};/'
wrong "fall: one node alone" $checker 's/chosen < std::size_t{1} << side.size(); ++chosen/chosen < std::size_t{1} << side.size(); chosen *= 2/'
wrong "fall: of many nodes none" $checker 's/std::min<delta>(0, all + least_rise), 0}/0, 0}/;s/std::size_t most = 4/std::size_t most = 1/'
wrong "end: an order may end anywhere" $checker 's/if (!any && g_.level_at_end() < bound)/if (false)/'
wrong "needs: not past merged nodes" $checker 's/if (past_all || g_.merged()\[u\]) from.push_back(u);/if (past_all) from.push_back(u);/'
wrong "found: sets grow from the start" schedulers/release_search.hpp 's/states.emplace_back(place\[e.parent\], e.event);/states.emplace_back(0, e.event);/'
wrong "found: releases that wait for others are hosts" certify/find_events.hpp 's/fold_into::closed/fold_into::all/'
wrong "found: merged nodes stay" certify/find_events.hpp 's/ = true;$/ = false;/'
exit $status
