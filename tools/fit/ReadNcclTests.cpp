// SPDX-License-Identifier: Apache-2.0
#include "ir/model/OpKinds.h"
#include "lang/diagnostics/Tools.h"
#include "tools/fit/Measurements.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace foretrace::fit {

using ir::OpKind;

namespace {

/// The programs of NCCL tests, by how their names begin.
struct NcclProgram {
  StringLiteral Name;
  OpKind Kind;
};
constexpr NcclProgram Programs[] = {
    {"all_reduce_perf", OpKind::AllReduce},
    {"all_gather_perf", OpKind::AllGather},
    {"reduce_scatter_perf", OpKind::ReduceScatter},
    {"alltoall_perf", OpKind::AllToAll}};

} // namespace

/// Older releases do not print the name of the program; the file may have it.
static std::optional<OpKind> collectiveOf(StringRef Text, StringRef Path) {
  for (const StringRef In : {Text, Path})
    for (const NcclProgram &P : Programs)
      if (In.contains(P.Name))
        return P.Kind;
  return std::nullopt;
}

void MeasurementReader::readNcclTests(SourceText Text) {
  const std::optional<OpKind> Kind =
      collectiveOf(Text.str(), Sources.name(Text.range().File));
  double Ranks = 0;
  StringSet<> Hosts;
  for (StringRef Rest = Text.str(); !Rest.empty();) {
    StringRef Line;
    std::tie(Line, Rest) = Rest.split('\n');
    SmallVector<StringRef, 16> Words;
    SplitString(Line, Words, " \t\r");
    // #  Rank  0 Group  0 Pid  50292 on HOST device  0 [0x00] NVIDIA H100
    if (Words.size() > 8 && Words[0] == "#" && Words[1] == "Rank") {
      const auto *On = find(Words, "on");
      ++Ranks;
      if (On != Words.end() && On + 1 != Words.end())
        Hosts.insert(On[1]);
      continue;
    }
    // size count type redop root time algbw busbw #wrong, and again in place
    double Size = 0, Micros = 0;
    if (Words.size() < 8 || Words[0].getAsDouble(Size) ||
        Words[5].getAsDouble(Micros))
      continue;
    if (!Kind || Ranks == 0) {
      Diags.report(Text.rangeOf(Line), diag::MeasurementNccl,
                   Kind ? "the lines `# Rank` with its devices"
                        : "the name of its program, such as all_gather_perf, "
                          "in the text or in the name of the file");
      return;
    }
    const LinkPlace At =
        placeOf(Ranks, std::min(Ranks / static_cast<double>(Hosts.size()),
                                devicesOfDomain()));
    if (At.isSpread() && At.OuterRate == 0) {
      Diags.report(Text.rangeOf(Line), diag::MeasurementPlace);
      return;
    }
    if (Size > 0 && Micros > 0 && Ranks > 1)
      Found.push_back({CollectiveShape{*Kind, At, Size}, Micros * 1e-6});
  }
}

} // namespace foretrace::fit
