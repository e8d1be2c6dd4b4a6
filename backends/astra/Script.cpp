// SPDX-License-Identifier: Apache-2.0
#include "backends/CommandLine.h"
#include "backends/astra/Writers.h"

using namespace foretrace;
using namespace foretrace::astra;

static constexpr llvm::StringLiteral Head = R"sh(#!/bin/sh
# Runs ASTRA-sim on the traces of `emit chakra`. Prints what it reports of the rank
# that finishes last, and in the last line the simulated time; a table has all
# ranks. ASTRA_SIM names the simulator, which gets the arguments of this script.
)sh";

/// ASTRA-sim exits with 0 when ranks wait for each other for ever, and builds
/// of it abort when everything is done, sometimes before its last lines are
/// written: only what it reports of its ranks is a verdict, and an abort is
/// tried again. A path that contains `empty` would be no group file, so files
/// are named from their own folder. Without a file for each rank it ends
/// without a message.
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
for _ in 1 2 3; do
  "$simulator" \
    --workload-configuration="$name" \
    --system-configuration="$name.system.json" \
    --network-configuration="$name.network.yml" \
    --remote-memory-configuration="$name.memory.json" \
    --comm-group-configuration="$name.groups.json" \
    --logging-folder="$folder/log" "$@" >"$folder/output" 2>&1
  code=$?
  finished=$(sed -n 's/.*sys\[\([0-9]*\)\] finished, .*/\1/p' \
    "$folder/output" | sort -u | wc -l)
  case $code in 134 | 139) ;; *) break ;; esac
  [ "$finished" -lt "$ranks" ] || break
done
if [ "$finished" -ne "$ranks" ] || grep -qi critical "$folder/output"; then
  grep -i critical "$folder/output" | head -n 5 >&2
  tail -n 5 "$folder/output" >&2
  fail "$((finished)) of $ranks ranks have finished; exit code $code"
fi
[ "$code" -eq 0 ] || echo "$0: all ranks have finished; exit code $code" >&2

awk -v ranks="$ranks" -v table="$name.astra-sim.csv" '
  function put(name, value, unit) {
    if (!(name in unitOf)) names[++count] = name
    unitOf[name] = unit
    valueOf[rank, name] = value
  }
  match($0, /sys\[[0-9]+\]/) {
    rank = substr($0, RSTART + 4, RLENGTH - 5) + 0
    text = substr($0, RSTART + RLENGTH)
    if (text ~ /^ finished, [0-9]+ cycles, /) {
      split(text, word, " ")
      put("time", word[2], "ns")
      put("exposed_communication", word[6], "ns")
      if (last == "" || word[2] + 0 > valueOf[last, "time"] + 0) last = rank
    } else if (match(text, /: [0-9.]+%?$/)) {
      name = tolower(substr(text, 3, RSTART - 3))
      value = substr(text, RSTART + 2)
      unit = sub(/%$/, "", value) ? "%" : name ~ /intensity/ ? "" : "ns"
      gsub(/[^a-z]+/, "_", name)
      put(name, value, unit)
    }
  }
  END {
    suffix["ns"] = "_ns"
    suffix["%"] = "_percent"
    line = "rank"
    for (i = 1; i <= count; ++i)
      line = line "," names[i] suffix[unitOf[names[i]]]
    print line >table
    for (rank = 0; rank < ranks; ++rank) {
      line = rank
      for (i = 1; i <= count; ++i) line = line "," valueOf[rank, names[i]]
      print line >table
    }
    for (i = 1; i <= count; ++i)
      if (names[i] != "time" && (last, names[i]) in valueOf)
        print names[i], valueOf[last, names[i]], unitOf[names[i]]
    print valueOf[last, "time"] " ns"
  }
' "$folder/output" || fail "no table can be written" 2
)sh";

void astra::writeScript(llvm::StringRef Name, int64_t World,
                        NetworkKind Network, llvm::raw_ostream &OS) {
  OS << Head << "name=" << shellQuoted(Name) << "\nranks=" << World
     << "\nnetwork=" << (Network == NetworkKind::Aware ? "Aware" : "Unaware")
     << '\n'
     << Body;
}
