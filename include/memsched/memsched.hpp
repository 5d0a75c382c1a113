// Every room that needs nothing but the standard library.
#pragma once

#include <memsched/analysis/reachability.hpp>
#include <memsched/base/bitset.hpp>
#include <memsched/passes/divide.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/as_given.hpp>
#include <memsched/schedulers/best_first.hpp>
#include <memsched/schedulers/exhaustive.hpp>
#include <memsched/schedulers/greedy.hpp>
#include <memsched/schedulers/kahn.hpp>
#include <memsched/schedulers/rpo.hpp>
