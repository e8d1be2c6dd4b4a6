// SPDX-License-Identifier: Apache-2.0
#include "backends/schedule/Lines.h"
#include "ir/schedule/StageCalls.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::schedule;

/// \p Actions of a stage, which are all steps or all messages.
static ScheduleEntry makeEntry(const Schedule &S, int64_t Stage,
                               llvm::ArrayRef<Action> Actions) {
  ScheduleEntry Out;
  for (const Action &A : Actions)
    Out.Cells.push_back(
        {*cellOf(A.Kind), S.partOf(Stage, A.Chunk), A.MicroBatch});
  if (isMessage(Actions.front().Kind))
    Out.Word = CallWord;
  else
    Out.Steps.assign(Actions.begin(), Actions.end());
  if (Out.Steps.size() > 1)
    Out.Word = OverlapWord;
  return Out;
}

/// \p HasMessages: and not steps alone.
static std::vector<Line> makeLines(const Schedule &S, bool HasMessages) {
  std::vector<Line> Out(static_cast<size_t>(S.Stages));
  for (int64_t Stage = 0; Stage < S.Stages; ++Stage) {
    StageCalls Calls(S, Stage);
    while (Calls.next()) {
      const ActionKind First = Calls.actions().front().Kind;
      if (isCompute(First) || (HasMessages && isMessage(First)))
        Out[static_cast<size_t>(Stage)].push_back(
            makeEntry(S, Stage, Calls.actions()));
    }
  }
  return Out;
}

std::vector<Line> schedule::stepLines(const Schedule &S) {
  return makeLines(S, /*HasMessages=*/false);
}

std::vector<Line> schedule::callLines(const Schedule &S) {
  return makeLines(S, /*HasMessages=*/true);
}

void schedule::writeCSV(const std::vector<Line> &Lines, llvm::raw_ostream &OS) {
  for (const Line &L : Lines) {
    llvm::interleave(L, OS, ",");
    OS << '\n';
  }
}
