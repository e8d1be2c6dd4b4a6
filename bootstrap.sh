#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Sets up everything on Debian bookworm: installs what is missing, builds, and
# shows a compiled table, runs the tests, or prints where the program is.
set -eu
cd "$(dirname "$0")"

usage() {
  cat <<'END'
usage: ./bootstrap.sh COMMAND

  demo    install what is missing, build, compile an example and show its table
  test    install what is missing, build, run the whole test suite; with
          --tidy clang-tidy, too; with --all that, and the suite once more with
          sanitizers
  build   install what is missing, build, print the path of the program

Packages come from apt; only missing ones are installed. The build is in
build/release, that with sanitizers in build/asan.
END
}

# g++ to build; antlr4 and toml++ to parse; protozero to read and write protocol
# buffers; SQLite to keep what sweeps find; LLVM for its support library and test
# tools. The last three libraries are named by the others' CMake files.
packages='g++ cmake ninja-build python3 antlr4 libantlr4-runtime-dev
  libtomlplusplus-dev libprotozero-dev libsqlite3-dev llvm-19-dev llvm-19-tools
  uuid-dev zlib1g-dev libzstd-dev'
# What only some tests need: SimGrid replays traces, protoc decodes others.
test_packages='libsimgrid-dev protobuf-compiler'
tidy_packages='clang-tidy-19'
sanitizer_packages='clang-19 libclang-rt-19-dev'

say() { printf '==> %s\n' "$*" >&2; }
die() { printf 'bootstrap.sh: %s\n' "$*" >&2; exit 1; }

is_installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

install_packages() {
  missing=
  for package in $1; do
    is_installed "$package" || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  command -v apt-get >/dev/null ||
    die "needs$missing, and there is no apt-get; install their equivalents"
  root=
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null ||
      die "needs$missing; run as root, or install sudo"
    root=sudo
  fi
  say "installing$missing"
  export DEBIAN_FRONTEND=noninteractive
  $root apt-get update -q </dev/null >&2
  # shellcheck disable=SC2086 # a list of names
  $root apt-get install -q -y --no-install-recommends $missing </dev/null >&2
}

# Builds a preset.
compile() {
  say "building (build/$1)"
  mkdir -p build
  [ -f "build/$1/build.ninja" ] ||
    cmake --preset "$1" </dev/null >build/configure.log 2>&1 || {
      cat build/configure.log >&2
      die 'configuring failed'
    }
  ninja -C "build/$1" >&2
}

build() {
  install_packages "$packages"
  compile release
}

demo() {
  build
  out=build/demo
  job=docs/examples/gpt-175b.fore
  say "compiling $job"
  build/release/bin/foretrace compile "$job" --emit=simai -o "$out/"
  table=$(find "$out" -name '*.txt' | sort | head -n 1)
  say "$table: header, number of rows, and the first rows"
  head -n 10 "$table"
  say 'parameters of the model'
  build/release/bin/foretrace compile "$job" --emit=params --stdout --quiet
}

case "${1-}" in
demo) demo ;;
test)
  build
  (install_packages "$test_packages") ||
    say "without $test_packages, tests that need them are skipped"
  checks=
  case "${2-}" in
  --tidy | --all)
    (install_packages "$tidy_packages") || say 'without clang-tidy'
    checks=--tidy
    ;;
  esac
  if [ "${2-}" = --all ]; then
    install_packages "$sanitizer_packages"
    compile asan
    checks="$checks --sanitized=build/asan"
  fi
  say 'testing'
  # shellcheck disable=SC2086 # two options
  exec python3 test/check.py build/release $checks
  ;;
build)
  build
  echo "$PWD/build/release/bin/foretrace"
  ;;
-h | --help) usage ;;
*)
  usage >&2
  exit 2
  ;;
esac
