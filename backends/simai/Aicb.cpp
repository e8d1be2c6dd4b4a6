// SPDX-License-Identifier: Apache-2.0
#include "backends/simai/Aicb.h"
#include "backends/KnownLayers.h"
#include "backends/aicb/Inference.h"
#include "backends/simai/AicbGenerator.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Lang.h"
#include <cassert>

using namespace foretrace;
using namespace foretrace::simai;

/// Returns the optimizer steps and gradients, which precede the micro-batches.
std::vector<WorkloadRow> AicbGenerator::gradients() {
  std::vector<WorkloadRow> Rows;
  if (J.Timed) {
    assert(!P.Experts.isOverflow() || P.All.isOverflow());
    Elements Dense = P.All.isOverflow()
                         ? Elements::overflow()
                         : Elements(P.All.value() - P.Experts.value());
    Rows.push_back(
        row("grad_gather", {}, {}, {}, {Comm::AllGather, bytesOf(Dense, 2)}));
    Rows.push_back(row("grad_param_comm", {}, {}, {},
                       {Comm::ReduceScatter, bytesOf(Dense, 4)}));
    Rows.push_back(
        row("grad_param_compute", {1, T.GradForward + T.GradBackward, 1}, {}));
  } else {
    Rows.push_back(row("grad_norm", {}, {Comm::AllGather, bytesOf(P.All, 2)},
                       {}, {Comm::ReduceScatter, bytesOf(P.All, 4)}));
  }
  if (!J.SequenceParallel)
    Rows.push_back(
        row("layernorm", {}, {}, {Comm::AllReduce, bytesOf(P.All, 2)}));
  if (J.Timed)
    Rows.push_back(row("embedding_grads", {}, {},
                       tensorParallel(Comm::AllReduce, Activation)));
  if (J.Ep != J.Dp) {
    Rows.push_back(
        row("moe_grad_norm1", {}, {}, {},
            {Comm::AllGather, bytesOf(P.Experts, 2), CellGroup::ExpertData}));
    Rows.push_back(row(
        "moe_grad_norm2", {}, {}, {},
        {Comm::ReduceScatter, bytesOf(P.Experts, 4), CellGroup::ExpertData}));
  }
  return Rows;
}

/// \p Carried: the generator forgets to reset its backward time, so this row
/// shows that of whatever came before.
WorkloadRow AicbGenerator::embedding(int64_t Carried) {
  if (J.Timed)
    return row("embedding_layer", {T.Embedding, 1, Carried},
               tensorParallel(Comm::AllReduce, Activation));
  Comm C = J.SequenceParallel ? Comm::None : Comm::AllReduce;
  return row("embedding_layer", {}, {C, Activation}, {C, Activation});
}

std::vector<WorkloadRow> AicbGenerator::afterLayers() {
  std::vector<WorkloadRow> Rows;
  if (J.SequenceParallel)
    Rows.push_back(column("final_column", half(T.Attention), Activation));
  if (!J.Timed)
    Rows.push_back(row("embedding_norm", {},
                       {Comm::AllReduce, Bytes(2) * J.Vocab * J.Hidden}));
  return Rows;
}

std::vector<WorkloadRow> AicbGenerator::afterMicroBatches() {
  std::vector<WorkloadRow> Rows;
  for (llvm::StringRef Name :
       {"cross_entropy1", "cross_entropy2", "cross_entropy3"})
    Rows.push_back(
        row(Name, {0, 0, 0},
            {Comm::AllReduce, Bytes(4) * J.MicroBatch * J.Sequence}));
  for (llvm::StringRef Name :
       {"optimizer1", "optimizer2", "optimizer3", "optimizer4"})
    Rows.push_back(row(Name, {0, 0, 0}, {Comm::AllReduce, Bytes(4)}));
  return Rows;
}

Header AicbGenerator::header() const {
  Header H;
  H.Tp = J.Tp;
  H.Ep = J.Ep;
  H.Pp = J.Pp;
  H.Ga = J.Ga;
  H.World = J.World;
  if (J.Version == aicb::Version::V2024_10)
    return H;
  H.Vpp = J.Layers;
  int64_t Size = Activation.isOverflow() ? 0 : Activation.value();
  if (J.Version == aicb::Version::V2024_12)
    H.PpComm = std::to_string(Size);
  else if (J.Pp == 1)
    H.PpComm = "0";
  else if (J.SequenceParallel)
    H.PpComm = std::to_string(Size / J.Tp) + ".0";
  else
    H.PpComm = std::to_string(Size);
  return H;
}

/// The backward time that the last row of a micro-batch leaves behind.
int64_t AicbGenerator::leftOver() const {
  return J.SequenceParallel ? half(T.Attention).Update : T.Mlp;
}

WorkloadPart AicbGenerator::microBatch(WorkloadTable &Out, int64_t Carried,
                                       int64_t Repeat) {
  int64_t Dense = !J.HasExperts ? J.Layers : J.IsDeepSeek ? J.DenseLayers : 0;
  WorkloadPart Each;
  Each.Repeat = Repeat;
  Each.IsMicroBatch = true;
  Each.add({Out.addBody({embedding(Carried)})});
  if (Dense > 0)
    Each.add({Out.addBody(layer(/*HasExperts=*/false)), Dense});
  if (J.Layers > Dense)
    Each.add({Out.addBody(layer(/*HasExperts=*/true)), J.Layers - Dense});
  Each.add({Out.addBody(afterLayers())});
  return Each;
}

WorkloadTable AicbGenerator::run() {
  WorkloadTable Out;
  Out.Header = header();
  Out.addOnce(gradients());
  if (J.Ga > 0) {
    Out.Parts.push_back(microBatch(Out, T.GradBackward, 1));
    Out.Parts.push_back(microBatch(Out, leftOver(), J.Ga - 1));
  }
  Out.addOnce(afterMicroBatches());
  return Out;
}

/// Checks requirements of tables alone.
static bool checkMeasured(const ir::Spec &S, DiagnosticEngine &Diags) {
  unsigned Before = Diags.errorCount();
  if (*S.Parallel.SequenceParallel && *S.Cost.Kind != ir::CostKind::Profile)
    for (const ir::BlockSpec &B : S.Model.Blocks)
      if (hasLatentAttention(B))
        Diags.report(B.Mixer.Range, diag::SimaiMlaUntimed);
  return Diags.errorCount() == Before;
}

std::optional<WorkloadTable>
foretrace::simai::aicbTable(const ir::Spec &S, aicb::Version V,
                            DiagnosticEngine &Diags) {
  const bool IsTaken = aicb::checkJob(S, Diags);
  if (!checkMeasured(S, Diags) || !IsTaken)
    return std::nullopt;
  AicbGenerator G(S, V);
  WorkloadTable T = G.run();
  if (!G.hasOverflown())
    return T;
  Diags.report(S.Model.Range, diag::SizeOverflow, "a message of the table");
  return std::nullopt;
}

static WorkloadRow rowOf(const aicb::InferenceRow &Of) {
  using Message = aicb::InferenceRow::Message;
  WorkloadRow R;
  R.Name = Of.Name.str();
  R.Forward.Time = 1;
  R.Forward.Size = Of.Size.value();
  R.Backward.Time = R.Update.Time = Of.IsOfExperts ? 1 : 0;
  if (Of.Is == Message::AllReduce)
    R.Forward.Comm = Comm::AllReduce;
  if (Of.Is == Message::AllToAll) {
    R.Forward.Comm = Comm::AllToAll;
    R.Forward.Group = CellGroup::Expert;
  }
  return R;
}

std::optional<WorkloadTable>
foretrace::simai::inferenceTable(const ir::Spec &S, DiagnosticEngine &Diags) {
  if (!aicb::checkInference(S, Diags))
    return std::nullopt;
  const aicb::InferenceStep Step(S);
  const ir::ParallelSpec &P = S.Parallel;
  WorkloadTable T;
  T.Header.Tp = *P.Tp;
  T.Header.Ep = *P.Ep;
  T.Header.Pp = *P.Pp;
  T.Header.World = *P.World;
  T.Header.Mode = T.Header.Vpp = 1;
  T.Header.PpComm = std::to_string(Step.stageMessage().value());
  std::vector<unsigned> Bodies; // by block
  for (const ir::BlockSpec &B : S.Model.Blocks) {
    std::vector<WorkloadRow> Rows;
    for (const aicb::InferenceRow &R : Step.rowsOf(B))
      Rows.push_back(rowOf(R));
    Rows.back().EndsLayer = true;
    Bodies.push_back(T.addBody(std::move(Rows)));
  }
  WorkloadPart Layers;
  for (const ir::LayerRun &Run : S.Model.Layers) {
    Period &Of = Layers.Periods.emplace_back();
    Of.Repeat = Run.Periods;
    for (const ir::LayerRun::Item &I : Run.Items)
      Of.Runs.push_back({Bodies[I.Block], I.Count});
  }
  T.Parts.push_back(std::move(Layers));
  return T;
}
