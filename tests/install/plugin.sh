#!/bin/sh
# A plugin that links the compiled library and hides its own symbols shows none of the library's but the exceptions that cross its
# border: two plugins with different versions of the library then live in one process.
# usage: plugin.sh COMPILER INCLUDE_DIRECTORY ARCHIVE
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/plugin.cpp" <<'TEXT'
#include <memsched/schedule.hpp>
extern "C" __attribute__((visibility("default"))) unsigned long peak_of_nothing() {
  return memsched::schedule(memsched::problem_builder().build().value()).value().peak;
}
TEXT
"$1" -std=c++20 -O0 -fPIC -fvisibility=hidden -fvisibility-inlines-hidden -DMEMSCHED_SEPARATE_COMPILATION -I "$2" -shared \
  "$work/plugin.cpp" "$3" -pthread -o "$work/plugin.so"
nm -D -C --defined-only "$work/plugin.so" >"$work/symbols"
grep -q peak_of_nothing "$work/symbols"
grep 'memsched::' "$work/symbols" | grep -v 'memsched::v[0-9a-z_]*::bad_graph' >"$work/shown" || true
if [ -s "$work/shown" ]; then
  echo "$(wc -l <"$work/shown") symbols of the library are visible, among them:" >&2
  head -n 5 "$work/shown" >&2
  exit 1
fi
grep -q 'typeinfo for memsched::.*bad_graph' "$work/symbols"
