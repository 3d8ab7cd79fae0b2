#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Keeps the sample plugin of today as that of a level: its source, and the binary that its users have. Only before the
# level is released; from then on both stay as they are. usage: keep_plugin.sh tests/compat/v0_1
set -euo pipefail
level=${1:?which level, such as tests/compat/v0_1}
sample=$(dirname "$(readlink -f "$0")")/../../examples/c/06_my_device
mkdir -p "$level/plugin"
cp "$sample"/*.[ch] "$level/plugin/"
cd "$level/plugin"
"${CC:-cc}" -std=c99 -O2 -s -shared -fPIC -fvisibility=hidden -D_POSIX_C_SOURCE=200809L -ffile-prefix-map="$PWD"=. \
  -Wl,--build-id=none -I ../include ./*.c -o "libmy_device.$(uname -m).so" -pthread
