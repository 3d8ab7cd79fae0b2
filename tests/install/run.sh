#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the build into a temporary prefix, moves that elsewhere (an installed package must not know where it was
# made), and builds and runs consumers in C and C++ against it. usage: run.sh BUILD_DIR [SANITIZER FLAGS]
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
build=$1
flags=${2:-}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

expect_file() {
  [ -e "$1" ] || { echo "$0: not installed: ${1#"$scratch"/}" >&2; exit 1; }
}

cmake --install "$build" --prefix "$scratch/made" >"$scratch/log"
mv "$scratch/made" "$scratch/prefix"
prefix=$scratch/prefix
library=$(find "$prefix" -name 'libhoist.so.0.*')
[ -n "$library" ] || { echo "$0: no libhoist.so.0.* installed" >&2; exit 1; }
libdir=$(dirname "$library")
for name in libhoist.so.0 libhoist.so pkgconfig/hoist.pc cmake/hoist/hoistConfig.cmake; do
  expect_file "$libdir/$name"
done
for name in hoist.h device_ops.h hoist.hpp; do expect_file "$prefix/include/hoist/$name"; done
expect_file "$prefix/bin/hoist"
[ "$(objdump -p "$library" | awk '/SONAME/ { print $2 }')" = libhoist.so.0 ]

# The command finds its library beside itself; the consumers by the loader's path.
"$prefix/bin/hoist" --version
export LD_LIBRARY_PATH=$libdir PKG_CONFIG_PATH=$libdir/pkgconfig
# shellcheck disable=SC2046,SC2086
${CC:-cc} -std=c11 -Wall -Wextra -Werror "$here/c/consumer.c" -o "$scratch/consumer" $flags \
  $(pkg-config --cflags --libs hoist)
"$scratch/consumer"

# An older standard is told by name, not by what the headers trip over.
said=$(printf '#include <hoist/hoist.hpp>\n' |
  ${CXX:-c++} -std=c++17 -I"$prefix/include" -fsyntax-only -x c++ - 2>&1 | grep -m 1 error) || true
[[ $said == *"need C++20"* ]] || { echo "$0: hoist.hpp in C++17 says: $said" >&2; exit 1; }

cmake -S "$here/cpp" -B "$scratch/cpp" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_FLAGS="$flags" \
  -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror $flags" >"$scratch/log"
cmake --build "$scratch/cpp" >"$scratch/log" || { cat "$scratch/log"; exit 1; }
"$scratch/cpp/consumer"
"$scratch/cpp/consumer_c"

# Vendors' devices: folders somewhere else, the installed headers, and the installed command to check them. The first is
# that of doc/writing-a-device.md.
for device in "$here/device:npu" "$here/../../examples/c/06_my_device:my_device"; do
  vendor=$scratch/${device##*:}
  cp -r "${device%:*}" "$vendor"
  cmake -S "$vendor" -B "$vendor/build" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_FLAGS="-Wall -Wextra -Wpedantic -Werror $flags" >"$scratch/log"
  cmake --build "$vendor/build" >"$scratch/log" || { cat "$scratch/log"; exit 1; }
  TSAN_OPTIONS=die_after_fork=0 "$prefix/bin/hoist" device-check "$vendor/build/lib${device##*:}.so"
done
