// SPDX-License-Identifier: Apache-2.0
#include "backends/CommandLine.h"
#include "backends/simainet/Topology.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::simainet;

static constexpr llvm::StringLiteral Head = R"sh(#!/bin/sh
# Runs a simulator of SimAI, `analytical` or `ns3`, on the table of `emit simai`,
# or on the one that is named after that. SIMAI is the folder where SimAI was
# built. Prints what the simulator reports, and in the last line the simulated time.
)sh";

/// The simulators look for their own files from the working folder, and write
/// there. The configuration of the ns-3 simulator is its own, with two changes.
/// The maps of rates must have those of this network: they get the values of
/// the next lower rate, or of the lowest. And the files that it opens in a
/// folder of the system, and crashes without, are in the working folder.
static constexpr llvm::StringLiteral Body = R"sh(
fail() { echo "$0: $1" >&2; exit "${2:-1}"; }
[ -n "${SIMAI:-}" ] || fail "SIMAI names the folder of the simulator" 2
case $SIMAI in /*) ;; *) SIMAI=$PWD/$SIMAI ;; esac
simulator=${1:-}
case ${2:-} in '') ;; /*) table=$2 ;; *) table=$PWD/$2 ;; esac
cd "$(dirname "$0")" || exit 2
here=$PWD
case $table in /*) ;; *) table=$here/$table ;; esac
[ -e "$table" ] || fail "no $table; \`emit simai\` writes it" 2

folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/results" "$folder/simulation" && cd "$folder" || exit 2
ln -s "$SIMAI/astra-sim-alibabacloud" . || exit 2

# Both simulators write a table whose second line has the totals.
report() {
  [ -s "$1" ] || fail "the simulator has no results"
  cp "$1" "$here/$name.$simulator.csv" || exit 2
  awk -F ', *' '
    NR == 1 { for (i = 2; i <= NF; ++i) names[i] = tolower($i) }
    NR == 2 {
      for (i = 2; i <= NF; ++i) {
        gsub(/[^a-z]+/, "_", names[i])
        sub(/ .*/, "", $i)
        if (names[i] == "total_time") time = $i
        else if ($i ~ /^[0-9.e+]+$/) figures = figures names[i] " " $i " us\n"
      }
      exit
    }
    END { if (time !~ /^[0-9.e+]+$/) exit 1
          printf "%s%s us\n", figures, time }
  ' "$1" || fail "the simulator has no number"
}

case $simulator in
analytical)
  # shellcheck disable=SC2086 # a list
  "$SIMAI/bin/SimAI_analytical" -w "$table" $arguments -r result- \
    >output 2>&1 || { tail -n 5 output >&2; fail "the simulator has failed"; }
  report results/result-EndToEnd.csv
  ;;
ns3)
  awk -v rates="$rates" '
    !/^(KMAX|KMIN|PMAX)_MAP / {
      sub(/[^ ]*\/simulation\//, "simulation/"); print; next
    }
    { known = " "; line = ""; count = $2
      for (i = 3; i < NF; i += 2) {
        known = known $i " "
        line = line " " $i " " $(i + 1)
      }
      for (r = split(rates, rate, " "); r > 0; --r) {
        if (index(known, " " rate[r] " ")) continue
        value = $4
        for (i = 3; i < NF; i += 2) if ($i + 0 <= rate[r] + 0) value = $(i + 1)
        line = line " " rate[r] " " value
        ++count
      }
      print $1 " " count line }
  ' "$SIMAI/astra-sim-alibabacloud/inputs/config/SimAI.conf" >SimAI.conf ||
    exit 2
  "$SIMAI/bin/SimAI_simulator" -t "${THREADS:-8}" -w "$table" \
    -n "$here/$name.topology" -c SimAI.conf >output 2>&1 ||
    { tail -n 5 output >&2; fail "the simulator has failed"; }
  report ncclFlowModel_EndToEnd.csv
  ;;
*) fail "usage: $0 analytical|ns3 [TABLE]" 2 ;;
esac
)sh";

void simainet::writeScript(const Topology &T, llvm::StringRef Name,
                           llvm::StringRef Table, llvm::StringRef Arguments,
                           llvm::raw_ostream &OS) {
  OS << Head << "name=" << shellQuoted(Name) << "\ntable=" << shellQuoted(Table)
     << "\narguments=" << shellQuoted(Arguments) << "\nrates='"
     << llvm::join(llvm::map_range(portRates(T),
                                   [](int64_t R) { return std::to_string(R); }),
                   " ")
     << "'\n"
     << Body;
}
