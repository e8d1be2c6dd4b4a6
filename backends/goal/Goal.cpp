// SPDX-License-Identifier: Apache-2.0
//
// The `goal` backend: what every rank does, as messages and computations with
// dependences between them, in one file for LogGOPSim and htsim (GOAL,
// Hoefler, Siebert and Lumsdaine, ICPP 2009).
#include "backends/EmissionOf.h"
#include "backends/ExpertExchanges.h"
#include "backends/goal/GoalWriter.h"
#include "backends/ranks/MessageOptions.h"
#include "backends/ranks/TaskLimits.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::option;

struct goal::Options {
  std::string File; ///< empty: from the job's name
  ir::MessageRules Rules;
};

constexpr EmitOption goal::OptionRows[] = {
#include "backends/goal/Options.def"
};
constexpr EmitReader goal::Reader = readerOf<Options>(OptionRows);

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
