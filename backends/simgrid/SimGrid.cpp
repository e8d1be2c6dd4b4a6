// SPDX-License-Identifier: Apache-2.0
#include "backends/simgrid/SimGrid.h"
#include "backends/ExpertExchanges.h"
#include "llvm/Support/Path.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::option;
using namespace foretrace::simgrid;

static constexpr llvm::StringRef Amounts[] = {"time", "flops"};

llvm::ArrayRef<EmitOption> simgrid::optionTable() {
  static constexpr EmitOption Table[] = {
#define OPTION(...) EMIT_OPTION(__VA_ARGS__)
#include "backends/simgrid/Options.def"
  };
  return Table;
}

simgrid::Options simgrid::readOptions(const EmitSpec &Emit,
                                      DiagnosticEngine &Diags) {
  return readEmitOptions<Options>(Emit, optionTable(), Diags);
}

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
