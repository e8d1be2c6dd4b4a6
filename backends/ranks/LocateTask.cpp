// SPDX-License-Identifier: Apache-2.0
#include "backends/ranks/LocateTask.h"
#include "analysis/Derivation.h"
#include "backends/Locate.h"
#include "ir/model/Boundary.h"
#include "ir/model/Measure.h"
#include "ir/model/OpKinds.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace foretrace {

Expected<FoundTask> findTask(const ir::Program &P, int64_t Rank,
                             int64_t Number) {
  std::optional<ir::Task> Found;
  Nanoseconds Before;
  int64_t Count = 0;
  ir::StageTasks(P, stageOf(P, Rank))
      .forEach([&](int64_t Id, const ir::Task &T) {
        if (Id == Number)
          Found = T;
        if (Id < Number && T.Kind == ir::TaskKind::Compute)
          Before += T.Of->Time;
        ++Count;
        return true;
      });
  if (!Found)
    return createStringError(
        formatv("--node: the trace of rank {0} has {1} nodes, from 0", Rank,
                Count)
            .str());
  return FoundTask{std::move(*Found), Before};
}

Subject describeTask(StringRef Prefix, const ir::Task &T) {
  Subject S;
  if (T.Of)
    S = describeOp(*T.In, *T.Of);
  else
    S.What = getName(T.Action).str();
  S.What = formatv("{0}, {1}", Prefix, S.What);
  if (T.MicroBatch >= 0)
    S.What += formatv(", micro-batch {0}, chunk {1}", T.MicroBatch, T.Chunk);
  return S;
}

ir::Expr messageOf(ir::ExprScope P, const ir::Task &T) {
  if (!T.Of)
    return boundarySize(P, T.Boundary);
  if (!T.Of->Messages.empty()) // the sizes of buckets are counted
    return ir::numberOf(P, T.Size.value());
  ir::Expr Message(P.Sizes, T.Of->Message.Id);
  for (const ir::Op *Of : T.With)
    Message += ir::Expr(P.Sizes, Of->Message.Id);
  return T.Of->Kind == ir::OpKind::Ring // a step of it
             ? Message / ir::numberOf(P, T.Of->Group.size(P->Mesh) - 1)
             : Message;
}

} // namespace foretrace
