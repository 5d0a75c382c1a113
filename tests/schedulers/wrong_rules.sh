#!/bin/sh
# Makes rules of stages wrong that small graphs do not show (`tests/fuzz/claims/mutants.sh` has the others), and checks that a law of
# longer graphs notices.
# usage: wrong_rules.sh COMPILER SOURCE_DIRECTORY
CXX=$1
cd "$2" || exit 2
. tests/support/mutants.sh

file=passes/window_bounds.hpp
mutant "windows: bound the whole without their lift" $file 's/window->lowered\(s.lower_bound\)/(@ ? s.lower_bound : window->lowered(s.lower_bound))/'
mutant "windows: a target is a bound" $file 's/best > q.target\) raise/@ || best > q.target) raise/'

notice_with tests/schedulers/highest_test.cpp -I examples
