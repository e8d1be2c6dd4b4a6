// SPDX-License-Identifier: Apache-2.0
#include "backends/simgrid/SimGrid.h"
#include "backends/EmitOptions.h"
#include "backends/RankFiles.h"
#include "backends/simgrid/ReplayWriter.h"
#include "llvm/Support/Path.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::simgrid;

namespace {

struct Options {
  FileNames Files;
  Amount Computations = Amount::Time;
};

} // namespace

static void readCompute(const NamedAttribute &A, Options &O,
                        DiagnosticEngine &Diags) {
  if (std::optional<size_t> I = readWord(A, {"time", "flops"}, Diags))
    O.Computations = static_cast<Amount>(*I);
}

static Options readOptions(const EmitSpec &Emit, DiagnosticEngine &Diags) {
  static constexpr EmitOption<Options> Rows[] = {
      {"dir", [](const NamedAttribute &A, Options &O,
                 DiagnosticEngine &D) { readDir(A, O.Files.Dir, D); }},
      {"name", [](const NamedAttribute &A, Options &O,
                  DiagnosticEngine &D) { readName(A, O.Files.Name, D); }},
      {"compute", readCompute}};
  Options O;
  readEmitOptions<Options>(Emit, Rows, messageOptionNames(), O, Diags);
  return O;
}

FactSet simgrid::prepare(const EmitSpec &Emit, DiagnosticEngine &Diags) {
  readOptions(Emit, Diags);
  readMessageRules(Emit, Diags);
  return {Fact::Scheduled, Fact::Sync, Fact::Costs};
}

bool simgrid::check(const EmitRequest &Request, DiagnosticEngine &Diags) {
  DiagnosticEngine Known; // `prepare` has reported these
  const Options O = readOptions(Request.Emit, Known);
  const bool HasTimes =
      O.Computations == Amount::Flops || checkHasTimes(Request, Diags);
  return checkMessages(Request, readMessageRules(Request.Emit, Known), Diags) &&
         HasTimes;
}

llvm::Error simgrid::emit(const EmitRequest &Request, OutputSet &Out,
                          DiagnosticEngine &) {
  DiagnosticEngine Known; // `prepare` has reported these
  const Options O = readOptions(Request.Emit, Known);
  const MessageRules Rules = readMessageRules(Request.Emit, Known);
  const Program &P = Request.Program;
  const RankMap Map(P.Mesh, *P.Spec.Parallel.RankOrder);
  const RankList Ranks = allIfEmpty({}, *P.Spec.Parallel.World);
  auto Path = [&](int64_t Rank) {
    return O.Files.path(Request, llvm::Twine(Rank) + ".trace");
  };
  if (llvm::Error E = addRankFiles(
          Out, Ranks, Path, [&](int64_t Rank, llvm::raw_ostream &OS) {
            ReplayWriter(P, Map, Rank, Rules, O.Computations, OS).write();
          }))
    return E;
  return Out.add(O.Files.path(Request, "list"), [&](llvm::raw_ostream &OS) {
    for (int64_t Rank = 0; Rank < *P.Spec.Parallel.World; ++Rank)
      OS << llvm::sys::path::filename(Path(Rank)) << '\n';
  });
}
