// SPDX-License-Identifier: Apache-2.0
#include "backends/CommandLine.h"
#include "backends/astra/Writers.h"

using namespace foretrace;
using namespace foretrace::astra;

static constexpr llvm::StringLiteral Head = R"sh(#!/bin/sh
# Runs ASTRA-sim on the traces of `emit chakra`, and prints the simulated time.
# ASTRA_SIM names the simulator; what this script is given goes to it as well.
)sh";

/// ASTRA-sim ends with 0 when ranks wait for each other for ever, and builds of
/// it abort when everything is done: only what it says of its ranks is a
/// verdict. A path with `empty` in it would be no group file, so it is named
/// from its own folder. Without a file for each rank it ends without a word.
static constexpr llvm::StringLiteral Body = R"sh(
fail() { echo "$0: $1" >&2; exit "${2:-1}"; }
simulator=${ASTRA_SIM:-AstraSim_Analytical_Congestion_$network}
command -v "$simulator" >/dev/null ||
  fail "no $simulator; ASTRA_SIM names the simulator" 2
simulator=$(command -v "$simulator")
case $simulator in /*) ;; *) simulator=$PWD/$simulator ;; esac
cd "$(dirname "$0")" || exit 2

rank=0
while [ "$rank" -lt "$ranks" ]; do
  [ -e "$name.$rank.et" ] ||
    fail "no $name.$rank.et; \`emit chakra { ranks = all }\` writes it" 2
  rank=$((rank + 1))
done
files=$((ranks + 64))
limit=$(ulimit -n)
if [ "$limit" != unlimited ] && [ "$limit" -lt "$files" ]; then
  ulimit -n "$files" 2>/dev/null || fail "$files files must be open at once" 2
fi

folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
"$simulator" \
  --workload-configuration="$name" \
  --system-configuration="$name.system.json" \
  --network-configuration="$name.network.yml" \
  --remote-memory-configuration="$name.memory.json" \
  --comm-group-configuration="$name.groups.json" \
  --logging-folder="$folder/log" "$@" >"$folder/output" 2>&1
code=$?

sed -n 's/.*sys\[\([0-9]*\)\] finished, \([0-9]*\) cycles.*/\1 \2/p' \
  "$folder/output" | sort -u >"$folder/finished"
finished=$(cut -d ' ' -f 1 "$folder/finished" | sort -u | wc -l)
if [ "$finished" -ne "$ranks" ] || grep -qi critical "$folder/output"; then
  grep -i critical "$folder/output" | head -n 5 >&2
  tail -n 5 "$folder/output" >&2
  fail "$((finished)) of $ranks ranks have finished; exit code $code"
fi
[ "$code" -eq 0 ] || echo "$0: all ranks have finished; exit code $code" >&2
echo "$(cut -d ' ' -f 2 "$folder/finished" | sort -n | tail -n 1) ns"
)sh";

void astra::writeScript(llvm::StringRef Name, int64_t World,
                        NetworkKind Network, llvm::raw_ostream &OS) {
  OS << Head << "name=" << shellQuoted(Name) << "\nranks=" << World
     << "\nnetwork=" << (Network == NetworkKind::Aware ? "Aware" : "Unaware")
     << '\n'
     << Body;
}
