#!/bin/sh
# Runs the RUN lines of each file in semantics/; %opt is mlir-opt with the plugin, %s the file.
# usage: semantics.sh PLUGIN
set -u
cd "$(dirname "$0")/semantics" || exit 2
opt="mlir-opt-22 --allow-unregistered-dialect --load-pass-plugin=$1"
failures=0
for file in *.mlir; do
  lines=$(sed -n 's,^// RUN: ,,p' "$file" | sed "s|%opt|$opt|; s|%s|$file|g")
  if [ -n "$lines" ] && output=$(echo "$lines" | sh -e 2>&1); then
    echo "semantics/$file: $(echo "$lines" | wc -l) runs hold"
  else
    echo "FAILED: semantics/$file" >&2
    echo "$output" | head -12 >&2
    failures=$((failures + 1))
  fi
done
exit "$failures"
