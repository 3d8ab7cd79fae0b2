# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by ./dev: what a command needs is installed on first use and found again at once after that.
# The library refuses unknown HOIST_* names in the environment, so HOIST_HOME stays in this shell.

hoist_home=${HOIST_HOME:-${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/hoist}
export -n HOIST_HOME 2>/dev/null || true

say() { printf '%s\n' "dev: $*" >&2; }
die() { say "$*"; exit 1; }

# Runs a command as root: directly, or by sudo.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "needs root for: $* (neither root nor sudo here); run it as root, then call ./dev again"
  fi
}

# have_packages NAME...: prints those that are not installed.
missing_packages() {
  local name
  for name in "$@"; do
    dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null | grep -q '^installed' || printf '%s\n' "$name"
  done
}

apt_install() {
  local options=(-y -qq --no-install-recommends -o Dpkg::Use-Pty=0)
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install "${options[@]}" "$@" </dev/null >&2
}

apt_update() { as_root apt-get update -qq </dev/null >&2; }

# need_packages SET...: installs what is missing of cmake/dev/packages-SET.txt.
need_packages() {
  command -v dpkg-query >/dev/null || { say "not a Debian system: see cmake/dev/packages-*.txt for what must be there"; return 0; }
  local names=() missing=()
  mapfile -t names < <(for set in "$@"; do grep -v '^#' "cmake/dev/packages-$set.txt"; done | sort -u)
  mapfile -t missing < <(missing_packages "${names[@]}")
  [ "${#missing[@]}" = 0 ] && return 0
  say "installing Debian packages: ${missing[*]}"
  compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null || apt_update
  apt_install "${missing[@]}" || { apt_update && apt_install "${missing[@]}"; } ||
    die "these Debian packages could not be installed: ${missing[*]}"
}

# --- Python: environments outside the clone, keyed by requirements and interpreter ---

find_python() {
  local candidate
  for candidate in /usr/bin/python3 python3; do
    if "$candidate" -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
      printf '%s\n' "$candidate"
      return 0
    fi
  done
  die "needs Python 3.10 or newer with its venv module (Debian: python3-venv)"
}

# venv_folder NAME [PIP ARGUMENT...]: where that environment is, or will be.
venv_folder() {
  local name=$1 key requirements=cmake/requirements-$1.txt
  shift
  key=$({ cat "$requirements"; "$(find_python)" -VV; printf '%s\n' "$@"; } | sha256sum | cut -c1-12)
  printf '%s\n' "$hoist_home/env-$name-$key"
}

# need_venv NAME [PIP ARGUMENT...]: prints the folder of the environment of cmake/requirements-NAME.txt.
need_venv() {
  local name=$1 python folder requirements=cmake/requirements-$1.txt
  folder=$(venv_folder "$@")
  shift
  python=$(find_python)
  if [ ! -e "$folder/.complete" ]; then
    mkdir -p "$hoist_home" 2>/dev/null || true
    [ -w "$hoist_home" ] ||
      die "$hoist_home cannot be written, where Python environments go; name another folder: HOIST_HOME=FOLDER ./dev ..."
    (
      flock 9
      [ -e "$folder/.complete" ] && exit 0
      say "making the Python environment '$name' in $folder"
      rm -rf "$folder"
      "$python" -m venv "$folder" >&2
      "$folder/bin/python" -m pip install -q --disable-pip-version-check "$@" -r "$requirements" >&2
      touch "$folder/.complete"
    ) 9>"$hoist_home/lock" </dev/null || die "the Python environment '$name' could not be made"
  fi
  printf '%s\n' "$folder"
}

# --- Rust: a cargo that the bindings' crates take; what is there, else Debian's ---

rust_minimum=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' bindings/rust/Cargo.toml 2>/dev/null || true)
rust_minimum=${rust_minimum:-1.75}

cargo_is_new_enough() {
  local version
  version=$("$1" --version 2>/dev/null | awk '{ print $2 }') || return 1
  [ -n "$version" ] && [ "$(printf '%s\n' "$rust_minimum" "$version" | sort -V | head -n 1)" = "$rust_minimum" ]
}

find_cargo() {
  local candidate
  for candidate in cargo "${HOME:-}/.cargo/bin/cargo" /usr/bin/cargo-1.8? /usr/lib/rust-1.8?/bin/cargo; do
    candidate=$(command -v "$candidate") || continue
    if cargo_is_new_enough "$candidate"; then printf '%s\n' "$candidate"; return 0; fi
  done
  return 1
}

# Prints the path of a cargo that is new enough.
need_cargo() {
  find_cargo && return 0
  local package version
  if command -v apt-cache >/dev/null; then
    compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null || apt_update
    for package in cargo cargo-web cargo-1.80; do
      version=$(apt-cache policy "$package" 2>/dev/null | awk '/Candidate:/ { print $2 }')
      dpkg --compare-versions "${version:-0}" ge "$rust_minimum" 2>/dev/null || continue
      say "installing Debian package: $package $version"
      apt_install "$package" && find_cargo && return 0
    done
  fi
  die "needs cargo $rust_minimum or newer, and Debian's is older here; install it with rustup, then call ./dev again"
}
