// SPDX-License-Identifier: Apache-2.0
#include "backends/goal/Goal.h"
#include "backends/EmitOptions.h"
#include "backends/goal/GoalWriter.h"

using namespace foretrace;
using namespace foretrace::ir;

FactSet goal::prepare(const EmitSpec &Emit, DiagnosticEngine &Diags) {
  std::vector<llvm::StringRef> Known = messageOptionNames();
  Known.push_back("file");
  checkOptionNames(Emit, Known, Diags);
  readFile(Emit, "", Diags);
  readMessageRules(Emit, Diags);
  return {Fact::Scheduled, Fact::Sync, Fact::Costs};
}

bool goal::check(const EmitRequest &Request, DiagnosticEngine &Diags) {
  DiagnosticEngine Known; // `prepare` has reported these
  const MessageRules Rules = readMessageRules(Request.Emit, Known);
  const bool HasTimes = checkHasTimes(Request, Diags);
  return checkMessages(Request, Rules, Diags) && HasTimes;
}

llvm::Error goal::emit(const EmitRequest &Request, OutputSet &Out,
                       DiagnosticEngine &) {
  DiagnosticEngine Known; // `prepare` has reported these
  const Program &P = Request.Program;
  const std::string Default = (Request.DefaultStem + ".goal").str();
  const MessageRules Rules = readMessageRules(Request.Emit, Known);
  return Out.add(readFile(Request.Emit, Default, Known),
                 [&](llvm::raw_ostream &OS) {
                   const RankMap Map(P.Mesh, *P.Spec.Parallel.RankOrder);
                   OS << "num_ranks " << *P.Spec.Parallel.World << '\n';
                   for (int64_t Rank = 0; Rank < *P.Spec.Parallel.World; ++Rank)
                     GoalWriter(P, Map, Rank, Rules, OS).write();
                 });
}
