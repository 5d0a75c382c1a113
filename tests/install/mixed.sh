#!/bin/sh
# Two units of one program, one with the headers alone and one that expects the compiled library, exchange a value of the
# library's. They must not link: the names of the two ways differ.
# usage: mixed.sh COMPILER INCLUDE_DIRECTORY
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/one.cpp" <<'TEXT'
#include <memsched/search/options.hpp>
memsched::bytes budget_of(const memsched::options& o) { return o.budget; }
TEXT
cat >"$work/two.cpp" <<'TEXT'
#include <memsched/search/options.hpp>
memsched::bytes budget_of(const memsched::options& o);
int main() { return budget_of({.budget = 0}) == 0 ? 0 : 1; }
TEXT
build() { "$1" -std=c++20 -I "$2" "$work/one.cpp" -c -o "$work/one.o" && "$1" -std=c++20 -I "$2" $3 "$work/two.cpp" -c -o "$work/two.o" &&
  "$1" "$work/one.o" "$work/two.o" -o "$work/program"; }
build "$1" "$2" "" && "$work/program"
if build "$1" "$2" -DMEMSCHED_SEPARATE_COMPILATION 2>"$work/errors"; then
  echo "units of both ways link" >&2
  exit 1
fi
grep -q budget_of "$work/errors"
