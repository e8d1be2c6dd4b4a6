// SPDX-License-Identifier: Apache-2.0
#include "backends/megatron/RankTexts.h"

using namespace foretrace;
using namespace foretrace::megatron;

RankTexts::RankTexts(const Skeleton &Trace, const IterationReplay *Times,
                     int64_t Stages)
    : Trace(Trace), Times(Times), Stages(static_cast<size_t>(Stages)) {}

void RankTexts::forEachRow(int64_t Stage, Visitor Visit) const {
  size_t Index = 0;
  Trace.forEachRow(Stage, [&](const TraceRow &R) {
    if (!Times)
      return Visit(R, nullptr);
    const RowTimes Of = Times->times(R, Index++);
    return Visit(R, &Of);
  });
}

void RankTexts::make(int64_t Stage, Shared &To) const {
  const size_t Share = MaxKept / Stages.size();
  llvm::raw_string_ostream OS(To.Text);
  forEachRow(Stage, [&](const TraceRow &R, const RowTimes *At) {
    writeRow(R, At, OS);
    To.Ends.push_back(To.Text.size());
    return To.Text.size() <= Share;
  });
  if (To.Text.size() > Share)
    To.Text = {}, To.Ends = {};
}

void RankTexts::write(int64_t Rank, int64_t Stage, OutputStream &OS) {
  const std::string Begin = "rank:" + std::to_string(Rank);
  Shared &Of = Stages[static_cast<size_t>(Stage)];
  std::call_once(Of.IsMade, [&] { make(Stage, Of); });
  if (Of.Ends.empty())
    return forEachRow(Stage, [&](const TraceRow &R, const RowTimes *At) {
      OS << Begin;
      writeRow(R, At, OS);
      return !OS.isFull();
    });
  size_t At = 0;
  for (size_t End : Of.Ends) {
    OS << Begin;
    OS.write(Of.Text.data() + At, End - At);
    At = End;
  }
}
