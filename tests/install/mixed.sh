#!/bin/sh
# Two units of one program exchange a value of the library's. They link where they see the library in the same way, and must not
# where one expects the compiled library, or where the standard library's types are laid out differently.
# usage: mixed.sh COMPILER INCLUDE_DIRECTORY
set -eu
compiler=$1 include=$2
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
compile() { "$compiler" -std=c++20 -I "$include" -c "$@"; }
compile "$work/one.cpp" -o "$work/one.o"
compile "$work/two.cpp" -o "$work/two.o"
"$compiler" "$work/one.o" "$work/two.o" -o "$work/program"
"$work/program"
for flag in -DMEMSCHED_SEPARATE_COMPILATION -D_GLIBCXX_DEBUG -D_GLIBCXX_USE_CXX11_ABI=0; do
  compile "$flag" "$work/two.cpp" -o "$work/two.o"
  if "$compiler" "$work/one.o" "$work/two.o" -o "$work/program" 2>"$work/errors"; then
    echo "a unit with $flag links with one without" >&2
    exit 1
  fi
  grep -q budget_of "$work/errors"
done
