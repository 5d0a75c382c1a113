# For scripts that make rules wrong in turn and check that a test notices; read with `.`.
# Set before: compiler, source (the repository), test (of it, a file with Catch tests), flags for it. With APPLY_ONLY set it
# only checks that each rule is still found in its header.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
[ -n "${APPLY_ONLY:-}" ] || $compiler -std=c++20 -c "$source/tests/main.cpp" -o "$work/main.o" || exit 2

# wrong NAME HEADER EXPRESSION: a sed expression that changes a header
wrong() {
  sed "$3" "$source/include/memsched/$2" >"$work/wrong.hpp"
  if cmp -s "$source/include/memsched/$2" "$work/wrong.hpp"; then
    echo "$1: changes nothing"
    status=1
    return
  fi
  [ -z "${APPLY_ONLY:-}" ] || return 0
  rm -rf "$work/include"
  cp -r "$source/include" "$work/include"
  cp "$work/wrong.hpp" "$work/include/memsched/$2"
  # shellcheck disable=SC2086
  $compiler -std=c++20 -O1 -I "$work/include" -I "$source/tests" $flags "$source/tests/$test" "$work/main.o" \
    -o "$work/test" || exit 2
  if timeout 300 "$work/test" -a >"$work/log" 2>&1; then
    echo "$1: not noticed"
    status=1
  else
    echo "$1: noticed"
  fi
}
