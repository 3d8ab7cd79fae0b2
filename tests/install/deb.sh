#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the Debian packages and looks into them: three packages, each with its files, libhoist0 with the libraries that
# it needs. usage: deb.sh BUILD_DIR
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cpack --config "$1/CPackConfig.cmake" -G DEB -B "$scratch" >"$scratch/log" 2>&1 ||
  { cat "$scratch/log"; exit 1; }

# expect PACKAGE PATTERN: the package has a file like that.
expect() {
  dpkg-deb --contents "$scratch/$1"_*.deb >"$scratch/contents"
  grep -qE "$2" "$scratch/contents" || { echo "$0: $1 has no $2:"; cat "$scratch/contents"; exit 1; }
}

expect libhoist0 'lib/([a-z0-9_-]+/)?libhoist\.so\.0\.[0-9.]+$'
expect libhoist0 'libhoist\.so\.0 ->'
expect libhoist-dev 'libhoist\.so ->'
expect libhoist-dev 'include/hoist/hoist\.h$'
expect libhoist-dev 'include/hoist/hoist\.hpp$'
expect libhoist-dev 'pkgconfig/hoist\.pc$'
expect libhoist-dev 'cmake/hoist/hoistConfig\.cmake$'
expect hoist 'bin/hoist$'
dpkg-deb --field "$scratch"/libhoist0_*.deb Depends | grep -q 'libc6' || { echo "$0: libhoist0 depends on no libc6"; exit 1; }
dpkg-deb --field "$scratch"/libhoist-dev_*.deb Depends
