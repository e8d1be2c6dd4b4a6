#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Sets up everything on Debian bookworm: installs missing packages, builds, and
# shows what is derived from a job, runs the tests, or prints the path of the program.
set -eu
cd "$(dirname "$0")"

usage() {
  cat <<'END'
usage: ./bootstrap.sh COMMAND

  demo    install missing packages, build the program, and write the time, the
          SimAI table and the report of an example
  build   install missing packages, build the program, print its path
  package the same for the static program, a .deb and an archive of it
  test    the same, then build the test programs and run the tests
            --quick  only the tests that take no time
            --long   many more random cases, and clang-tidy on each file
            --tidy   clang-tidy, too
            --all    clang-tidy, and quick tests once more with sanitizers, in a copy
                     of the sources to which the guides of docs/add-a-*.md are applied
            --seed=N of the random cases (default: 1)

Packages come from apt. The build is in build/release, the copy in build/guides.
END
}

# Clang to build; antlr4 and toml++ to parse; protozero to read and write protocol
# buffers; SQLite to keep what sweeps find; Eigen to fit parameters; libevent to serve a page;
# LLVM for its support library and test tools. The last three libraries are named by the others' CMake files.
packages='clang-19 cmake ninja-build python3 antlr4 libantlr4-runtime-dev
  libtomlplusplus-dev libprotozero-dev libsqlite3-dev libeigen3-dev libevent-dev llvm-19-dev
  llvm-19-tools uuid-dev zlib1g-dev libzstd-dev'
# What only some tests need: GCC compiles what changed last, and in the long tier all;
# SimGrid replays traces, protoc decodes others, editors show jobs, Chromium pages, fish
# completes commands, Slurm runs sweeps, curl downloads for the GitHub Action, and PyYAML
# reads it and the hooks. The Python module is built with pybind11 and tested with
# NumPy, pandas and pip. In the long tier packages are installed in a new Debian.
test_packages='g++ libsimgrid-dev protobuf-compiler neovim vim fish chromium fonts-dejavu-core
  slurm-wlm curl python3-yaml pybind11-dev python3-dev python3-numpy python3-pandas python3-pip
  debootstrap'
# Needed only where Node.js did not come with npm.
npm_packages='nodejs npm'
tidy_packages='clang-tidy-19 git' # git knows the last changed files
sanitizer_packages='libclang-rt-19-dev'

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

# Installs what tests of the extension of VS Code need in build/npm.
install_node_modules() {
  extension=tools/editors/vscode
  command -v npm >/dev/null || (install_packages "$npm_packages") || return
  ! cmp -s $extension/package-lock.json build/npm/package-lock.json || return 0
  say 'installing the packages of the extension of VS Code'
  rm -rf build/npm build/npm.new
  mkdir -p build/npm.new
  cp $extension/package.json $extension/package-lock.json build/npm.new
  npm ci --prefix build/npm.new --ignore-scripts --no-audit --no-fund --loglevel=error \
    --fetch-retries=0 </dev/null >&2 && mv build/npm.new build/npm
}

# Builds a target of a preset. Configures each time: packages may be there that were
# missing before.
compile() {
  say "building $2 in build/$1"
  mkdir -p build
  cmake --preset "$1" </dev/null >build/configure.log 2>&1 || {
    cat build/configure.log >&2
    die 'configuring failed'
  }
  NINJA_STATUS='    %f of %t steps, %es: ' ninja -C "build/$1" "$2" >&2
}

# Builds a copy to which the guides are applied, with sanitizers. Line tables take a quarter
# of the time to compile; without them, a stack of the address sanitizer has only functions.
build_guides() {
  say 'following docs/add-a-*.md, and building with sanitizers in build/guides'
  NINJA_STATUS='    %f of %t steps, %es: ' python3 test/support/guides.py \
    . build/guides asan all -DCMAKE_CXX_FLAGS_DEBUG=-O0 >&2
}

build() {
  install_packages "$packages"
  compile release foretrace
}

demo() {
  build
  out=build/demo
  job=docs/examples/gpt-175b-on-h100.fore
  say "compiling $job"
  build/release/bin/foretrace compile "$job" --emit=simai -o "$out/"
  table=$(find "$out" -name '*.txt' | sort | head -n 1)
  say "$table: header, number of rows, and the first rows"
  head -n 10 "$table"
  say 'time of an iteration, its parts, and their causes'
  build/release/bin/foretrace time "$job" --quiet
  build/release/bin/foretrace report "$job" -o "$out/report.html" --quiet
  say "the report, for a browser: $PWD/$out/report.html"
  say "the program is $PWD/build/release/bin/foretrace; to have it on the path:"
  say "  export PATH=\"$PWD/build/release/bin:\$PATH\""
}

package() {
  install_packages "$packages"
  compile release packages
  find "$PWD/build/release/packages" -maxdepth 1 -type f
}

run_tests() {
  checks= sanitized=
  for option; do
    case $option in
    --quick | --seed=*) checks="$checks $option" ;;
    --long) checks="$checks --long --tidy" ;;
    --tidy) checks="$checks --tidy" ;;
    --all) checks="$checks --tidy --sanitized=build/guides/build/asan" sanitized=yes ;;
    *) usage >&2; exit 2 ;;
    esac
  done
  install_packages "$packages"
  (install_packages "$test_packages") ||
    say "without $test_packages, tests that need them are skipped"
  install_node_modules || say 'without packages of npm, tests that need them are skipped'
  case $checks in
  *--tidy*) (install_packages "$tidy_packages") || say 'without clang-tidy' ;;
  esac
  [ -z "$sanitized" ] || install_packages "$sanitizer_packages"
  compile release all
  # Without it, tests in it fail.
  [ -z "$sanitized" ] || build_guides || say 'the copy could not be built'
  say "testing$checks"
  # shellcheck disable=SC2086 # options
  exec python3 test/check.py build/release $checks
}

case "${1-}" in
demo) demo ;;
test)
  shift
  run_tests "$@"
  ;;
build)
  build
  echo "$PWD/build/release/bin/foretrace"
  ;;
package) package ;;
-h | --help) usage ;;
*)
  usage >&2
  exit 2
  ;;
esac
