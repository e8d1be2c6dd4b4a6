// SPDX-License-Identifier: Apache-2.0
#include "backends/goal/Goal.h"
#include "backends/ExpertExchanges.h"
#include "backends/goal/GoalWriter.h"
#include "backends/ranks/TaskLimits.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::option;

llvm::ArrayRef<EmitOption> goal::optionTable() {
  static constexpr EmitOption Table[] = {
#define OPTION(...) EMIT_OPTION(__VA_ARGS__)
#include "backends/goal/Options.def"
  };
  return Table;
}

goal::Options goal::readOptions(const EmitSpec &Emit, DiagnosticEngine &Diags) {
  return readEmitOptions<Options>(Emit, optionTable(), Diags);
}

FactSet goal::needs(const Options &) {
  return {Fact::Scheduled, Fact::Sync, Fact::Costs};
}

bool goal::check(const EmitRequest &Request, const Options &O,
                 DiagnosticEngine &Diags) {
  const bool HasTimes = checkHasTimes(Request, Diags);
  reportExpertExchanges(Request, "`emit goal`", Diags);
  constexpr double BytesOfTask = 32; // what it is, and what it waits for
  return checkMessages(Request, O.Rules, Diags) && HasTimes &&
         Request.hasRoom(leastTasks(Request.Program) * BytesOfTask, Diags);
}

llvm::Error goal::emit(const EmitRequest &Request, const Options &O,
                       OutputSet &Out) {
  const Program &P = Request.Program;
  const int64_t World = *P.Spec.Parallel.World;
  const RankMap Map(P.Mesh, *P.Spec.Parallel.RankOrder);
  const std::string Durations = P.Spec.Cost.describeDurations();
  return Out.addParts(
      Request.file(O.File, ".goal"), static_cast<uint64_t>(World),
      [&](uint64_t Rank, OutputStream &OS) {
        if (Rank == 0) {
          OS << "num_ranks " << World << '\n';
          if (!Durations.empty())
            OS << "// durations are " << Durations << '\n';
        }
        GoalWriter(P, Map, static_cast<int64_t>(Rank), O.Rules, OS).write();
      });
}
