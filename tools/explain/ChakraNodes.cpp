// SPDX-License-Identifier: Apache-2.0
//
// A node of a Chakra trace. Nodes are the tasks of ir/StageTasks.h, by their
// numbers; a task knows its op. They have to be walked through.
#include "backends/ChakraCollectives.h"
#include "backends/TaskLimits.h"
#include "backends/chakra/Micros.h"
#include "ir/Boundary.h"
#include "ir/Measure.h"
#include "ir/StageTasks.h"
#include "tools/explain/Emitted.h"
#include "tools/explain/Explain.h"
#include "tools/explain/Ops.h"
#include "tools/explain/Times.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace foretrace::explain {

namespace {
struct FoundTask {
  int64_t Count = 0; ///< of tasks of the stage
  std::optional<ir::Task> Task;
  chakra::WholeMicros Before; ///< of compute nodes
};
} // namespace

/// The task of number \p Node.
static FoundTask findTask(const ir::Program &P, int64_t Stage, int64_t Node) {
  FoundTask Found;
  ir::StageTasks(P, Stage).forEach([&](int64_t Number, const ir::Task &T) {
    if (Number == Node)
      Found.Task = T;
    if (Number < Node && T.Kind == ir::TaskKind::Compute)
      Found.Before.next(T.Of->Time);
    ++Found.Count;
  });
  return Found;
}

/// The sum of all nodes up to this one, rounded, but for that before it.
static Figure durationOf(const ir::Program &P, const ir::Op &O,
                         chakra::WholeMicros Before) {
  TimeMaker Times(P);
  const StringRef What = "duration_micros";
  if (*P.Spec.Cost.Kind == ir::CostKind::Uncosted)
    return {What.str(), 0, "us", Times.derive(O)};
  Operand Passed, Own;
  Passed.Name = "before";
  Passed.Value = Before.passed();
  Passed.Why = Reason::Counted;
  Passed.Counts = "time of the compute nodes before it";
  Own.Name = "time";
  Own.Value = O.Time.value();
  Own.Definition = Times.derive(O);
  Passed.Unit = Own.Unit = "ns";
  return {What.str(), Before.next(O.Time), "us",
          makeDerivation("floor($0+$1+500,1000)-floor($0+500,1000)",
                         {std::move(Passed), std::move(Own)})};
}

/// The `comm_size` of \p T, in terms of \p P. All parts of a model hand on the
/// same activation.
static ir::Expr sizeOf(ir::Program &P, const ir::Task &T) {
  if (!T.Of)
    return boundarySize(P, 0);
  const ir::Expr Message(P.Sizes, T.Of->Message.Id);
  const ir::Expr Ranks = ir::sizeOf(P, T.Of->Group);
  if (T.Of->Kind == ir::OpKind::Ring) // a step of it
    return Message / ir::numberOf(P, Ranks.value() - 1);
  return findChakraCollective(T.Of->Kind)->HasShares ? ceilDiv(Message, Ranks)
                                                     : Message;
}

static Subject explainTask(const ir::Program &Of, int64_t Node,
                           const FoundTask &Found) {
  const ir::Task &T = *Found.Task;
  ir::Program P = Of;
  const FigureMaker Make(P);
  Subject S;
  if (T.Of)
    S = describeOp(*T.In, *T.Of);
  else
    S.What = getName(T.Action).str();
  S.What = formatv("node {0}, {1}", Node, S.What);
  if (T.MicroBatch >= 0)
    S.What += formatv(", micro-batch {0}, chunk {1}", T.MicroBatch, T.Chunk);
  if (T.Kind != ir::TaskKind::Compute) {
    S.Figures.push_back(Make.make("comm_size", ir::ByteExpr(sizeOf(P, T))));
    return S;
  }
  if (T.Of->Work.Id.isValid())
    S.Figures.push_back(Make.make("work", T.Of->Work));
  S.Figures.push_back(Make.make("touched", T.Of->Touched));
  S.Figures.push_back(durationOf(Of, *T.Of, Found.Before));
  return S;
}

Expected<Subjects> explainChakraNode(const ir::Program &P, int64_t Rank,
                                     int64_t Node) {
  if (Error E = checkRank(P, Rank))
    return E;
  DiagnosticEngine Diags;
  const ir::EmitSpec Plain = ir::EmitSpec::plain("chakra");
  if (!checkSteps({P, Plain, ""}, Diags))
    return errorOf("--emit", Diags);
  const FoundTask Found = findTask(P, stageOf(P, Rank), Node);
  if (!Found.Task)
    return createStringError(
        formatv("--node: the trace of rank {0} has {1} nodes, from 0", Rank,
                Found.Count)
            .str());
  return Subjects{explainTask(P, Node, Found)};
}

} // namespace foretrace::explain
