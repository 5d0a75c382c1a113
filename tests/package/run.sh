#!/bin/sh
# Makes the Debian packages of a build, installs them into a system of their own, and uses what they brought: the program, its
# manual page and completions, headers and library by CMake and by pkg-config. `./dev test package` runs it.
# usage: run.sh BUILD_DIRECTORY; configured with -DCMAKE_INSTALL_PREFIX=/usr, and built
set -u
[ $# -eq 1 ] || { echo "usage: run.sh BUILD_DIRECTORY" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd) || exit 2
. "$here/../cli/checks.sh"

cpack --config "$build/CPackConfig.cmake" -G DEB -B "$directory/packages" >log 2>&1 || { cat log; exit 1; }
program_deb=$(echo packages/memsched_*.deb)
library_deb=$(echo packages/libmemsched-dev_*.deb)
check "a package of the program" test -f "$program_deb"
check "a package of the library" test -f "$library_deb"
field() { dpkg-deb -f "$1" "$2"; }
check "the program's package needs its libraries: $(field "$program_deb" Depends)" \
  sh -c "dpkg-deb -f $program_deb Depends | grep -q 'libc6.*libprotobuf'"
for deb in "$program_deb" "$library_deb"; do
  check "apt would install $deb" apt-get install --simulate "./$deb"
done

# A system of its own: dpkg's books, and nothing else.
root=$directory/root
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/triggers"
: >"$root/var/lib/dpkg/status"
in_root() { dpkg --root="$root" --force-not-root --force-depends --log=/dev/null "$@" >log 2>&1; }
check "dpkg installs" in_root --install "$program_deb" "$library_deb"
check "dpkg knows the packages" sh -c "dpkg --root='$root' --list | grep -c '^[ih]i.*memsched' | grep -qx 2"

program=$root/usr/bin/memsched
says "peak         250,880 bytes" schedule builtin:swiftnet-cell-a
check "the version" is "$("$program" --version)" "memsched $(field "$program_deb" Version)"
if command -v man >/dev/null; then
  check "a manual page" sh -c "man -l '$root'/usr/share/man/man1/memsched.1* | grep -q 'smallest peak'"
fi
for file in share/bash-completion/completions/memsched share/zsh/site-functions/_memsched share/fish/vendor_completions.d/memsched.fish; do
  check "a completion: $file" grep -q schedule "$root/usr/$file"
done

for kind in memsched compiled; do
  check "CMake finds memsched::$kind" cmake -S "$here/../install/find_package" -B "by_cmake.$kind" -DKIND=$kind -DCMAKE_PREFIX_PATH="$root/usr"
  check "a program with memsched::$kind" cmake --build "by_cmake.$kind"
  check "it runs" "by_cmake.$kind/consumer"
done
if command -v pkg-config >/dev/null; then
  export PKG_CONFIG_SYSROOT_DIR="$root" PKG_CONFIG_LIBDIR="$root/usr/share/pkgconfig:$(echo "$root"/usr/lib/*/pkgconfig)"
  check "pkg-config knows the version" is "$(pkg-config --modversion memsched-compiled)" "$(field "$library_deb" Version)"
  # shellcheck disable=SC2046
  check "a program by pkg-config" c++ -std=c++20 "$here/../install/consumer.cpp" $(pkg-config --cflags --libs memsched-compiled) -o by_pkg_config
  check "it runs" ./by_pkg_config
fi

# Recipes that cannot run here say nothing that is not so.
sources=$here/../..
version=$(field "$library_deb" Version)
if command -v python3 >/dev/null; then
  for recipe in "$sources"/packaging/conan/conanfile.py "$sources"/packaging/conan/test_package/conanfile.py; do
    check "$recipe is Python" python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$recipe"
  done
  check "vcpkg.json has the project's version" is "$version" \
    "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["version"])' "$sources/packaging/vcpkg/memsched/vcpkg.json")"
fi
for option in MEMSCHED_BUILD_TESTS MEMSCHED_BUILD_EXAMPLES MEMSCHED_COMPILED; do
  check "there is an option $option" grep -q "option($option " "$sources/CMakeLists.txt"
done
check "Conan's pattern finds the version" is "$(sed -n 's/^project(memsched VERSION \([0-9.]*\).*/\1/p' "$sources/CMakeLists.txt")" "$version"
check "vcpkg's folder of CMake files" sh -c "test -d '$root'/usr/lib/*/cmake/memsched"

check "dpkg removes" in_root --purge memsched libmemsched-dev
check "nothing is left" is "$(find "$root/usr" -type f 2>/dev/null | wc -l)" 0
report
