// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the log of a run of Optimus-Prime: they are held against a plan,
// whatever they say.
#include "analysis/Figures.h"
#include "backends/Backends.h"
#include "backends/optimus/Job.h"
#include "ir/model/Spec.h"
#include "lang/ShippedLayers.h"
#include "tools/runs/LogMatcher.h"
#include <cstdlib>

using namespace foretrace;

/// A small Llama in three stages.
static ir::Program makeProgram() {
  ir::Program P;
  ir::ModelSpec &M = P.Spec.Model;
  M.Vocab.state(512, {});
  M.Hidden.state(64, {});
  M.Norm.state(ir::NormKind::RMSNorm, {});
  M.NormPlacement.state(ir::NormPlacementKind::Pre, {});
  M.EmbeddingNorm.state(false, {});
  M.EmbeddingWidth.state(int64_t(0), {});
  M.HeadBias.state(false, {});
  M.Positions.state(ir::PositionKind::Rope, {});
  M.Tied.state(false, {});
  M.Bias.state(false, {});
  M.QkvBias.state(false, {});
  ir::BlockSpec &B = M.Blocks.emplace_back();
  B.Mixer = ir::LayerUse::of(*findShippedLayer("gqa"));
  B.Mixer.find<int64_t>("heads")->state(4, {});
  B.Mixer.find<int64_t>("kv_heads")->state(2, {});
  B.Mixer.find<int64_t>("head_dim")->state(16, {});
  B.Mixer.find<bool>("qk_norm")->state(false, {});
  B.Network = ir::LayerUse::of(*findShippedLayer("dense"));
  B.Network.find<int64_t>("intermediate")->state(96, {});
  B.Network.find<std::string>("activation")->state("swiglu", {});
  M.Layers.push_back({1, {{0, 4}}, {}});
  ir::TrainSpec &T = P.Spec.Train;
  T.Sequence.state(32, {});
  T.MicroBatch.state(1, {});
  T.GlobalBatch.state(4, {});
  ir::ParallelSpec &Par = P.Spec.Parallel;
  for (Located<int64_t> *One : {&Par.Tp, &Par.Dp, &Par.Cp, &Par.Vpp, &Par.Ep})
    One->state(1, {});
  Par.World.state(3, {});
  Par.Pp.state(3, {});
  Par.Ga.state(4, {});
  Par.Partition.state(ir::PartitionKind::ModuleCount, {});
  return P;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  static const ir::Program P = makeProgram();
  const ir::EmitSpec Emit = ir::EmitSpec::plain("optimus");
  ir::ExprOverlay Sizes(P);
  JobFigures Figures(Sizes, Validity::ThisJob);
  const EmitRequest Request{P, Figures, Emit, "job"};
  const optimus::Options Plain;
  DiagnosticEngine Diags;
  if (!optimus::check(Request, Plain, Diags))
    std::abort();
  const llvm::StringRef Text(reinterpret_cast<const char *>(Data), Size);
  runs::isLog(Text);
  auto CheckPlace = [&](const runs::LogDifference &D) {
    if (D.What.empty() ||
        (D.Offset != llvm::StringRef::npos && D.Offset >= Text.size()))
      std::abort();
  };
  runs::matchLog(optimus::PartitionJob(Request, Plain), Text, CheckPlace);
  return 0;
}
