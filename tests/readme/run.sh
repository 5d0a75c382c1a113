#!/bin/sh
# Compiles the program that README.md opens with, as it says, and compares the output with what it says.
# usage: run.sh COMPILER SOURCE_DIRECTORY
set -eu
compiler=$1 root=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -n '/^```cpp$/,/^```$/p' "$root/README.md" | sed -n '2,/^```$/p' | sed '$d' >"$work/hello.cpp"
sed -n '/^\$ g++/{n;p;}' "$root/README.md" >"$work/expected"
[ -s "$work/hello.cpp" ] && [ -s "$work/expected" ]
"$compiler" -std=c++20 -O2 -I "$root/include" "$work/hello.cpp" -o "$work/hello"
"$work/hello" | diff "$work/expected" -
