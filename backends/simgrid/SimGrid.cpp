// SPDX-License-Identifier: Apache-2.0
//
// The `simgrid` backend: what every rank does, in order, as time-independent
// traces for the replay of SimGrid (SMPI), a file each.
#include "backends/EmissionOf.h"
#include "backends/ExpertExchanges.h"
#include "backends/ranks/RankFiles.h"
#include "backends/simgrid/ReplayWriter.h"
#include "llvm/Support/Path.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::option;
using namespace foretrace::simgrid;

struct simgrid::Options {
  ir::MessageRules Rules;
  FileNames Files;
  AmountUnit Computations = AmountUnit::Time;
};

static constexpr llvm::StringRef Amounts[] = {"time", "flops"};

constexpr EmitOption simgrid::OptionRows[] = {
#include "backends/simgrid/Options.def"
};
constexpr EmitReader simgrid::Reader = readerOf<Options>(OptionRows);

FactSet simgrid::needs(const Options &) {
  return {Fact::Scheduled, Fact::Sync, Fact::Costs};
}

bool simgrid::check(const EmitRequest &Request, const Options &O,
                    DiagnosticEngine &Diags) {
  reportExpertExchanges(Request, "`emit simgrid`", Diags);
  const bool HasTimes =
      O.Computations == AmountUnit::Flops || checkHasTimes(Request, Diags);
  return checkMessages(Request, O.Rules, Diags) && HasTimes;
}

llvm::Error simgrid::emit(const EmitRequest &Request, const Options &O,
                          OutputSet &Out) {
  const Program &P = Request.Program;
  const RankMap Map(P.Mesh, *P.Spec.Parallel.RankOrder);
  const RankList Ranks = allIfEmpty({}, *P.Spec.Parallel.World);
  std::string Durations;
  if (O.Computations == AmountUnit::Time)
    Durations = P.Spec.Cost.describeDurations();
  auto Path = [&](int64_t Rank) {
    return O.Files.path(Request, llvm::Twine(Rank) + ".trace");
  };
  if (llvm::Error E =
          addRankFiles(Out, Ranks, Path, [&](int64_t Rank, OutputStream &OS) {
            if (!Durations.empty())
              OS << "# durations are " << Durations << '\n';
            ReplayWriter(P, Map, Rank, O.Rules, O.Computations, OS).write();
          }))
    return E;
  return Out.add(O.Files.path(Request, "list"), [&](llvm::raw_ostream &OS) {
    for (int64_t Rank = 0; Rank < *P.Spec.Parallel.World; ++Rank)
      OS << llvm::sys::path::filename(Path(Rank)) << '\n';
  });
}
