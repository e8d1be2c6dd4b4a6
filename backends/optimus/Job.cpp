// SPDX-License-Identifier: Apache-2.0
#include "backends/optimus/Job.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::optimus;

std::string foretrace::optimus::withCommas(int64_t N) {
  std::string Text = std::to_string(N);
  for (size_t At = Text.size(); At > 3; At -= 3)
    Text.insert(At - 3, ",");
  return Text;
}

std::string foretrace::optimus::list(llvm::ArrayRef<int64_t> Numbers) {
  return "[" +
         llvm::join(llvm::map_range(
                        Numbers, [](int64_t N) { return std::to_string(N); }),
                    ", ") +
         "]";
}

SplitPolicy foretrace::optimus::splitOf(const ir::ParallelSpec &P) {
  switch (*P.Partition) {
  case ir::PartitionKind::BlockTp:
    return SplitPolicy::LlamaTpSplit;
  case ir::PartitionKind::ModuleCount:
    return SplitPolicy::Simple;
  case ir::PartitionKind::Balanced:
  case ir::PartitionKind::Uniform:
    return *P.Tp > 1 ? SplitPolicy::LlamaTpSplit : SplitPolicy::Simple;
  }
  llvm_unreachable("every partition is handled");
}

std::string PartitionJob::counts() const {
  return "length:" + (Length ? std::to_string(*Length) : "?") +
         ", modcnt:" + std::to_string(Graph.Modules) +
         ", num_stage:" + std::to_string(stages()) +
         ", segment:" + std::to_string(Graph.Modules / stages());
}

std::string PartitionJob::keyOf(const LayerPart &P) const {
  if (P.Layer >= 0)
    return std::to_string(P.Layer);
  llvm::StringRef Leaf =
      llvm::StringRef(Graph.Values[P.Leaves.front()].Path).rsplit('.').second;
  if (Leaf.empty())
    Leaf = Graph.Values[P.Leaves.front()].Path;
  return Leaf == "embed_tokens" ? "embed" : Leaf.str();
}

std::vector<int64_t> PartitionJob::ranks(int64_t Stage) const {
  const ir::ParallelSpec &P = Program.Spec.Parallel;
  const int64_t Size = *P.Dp * *P.Tp;
  std::vector<int64_t> Ranks;
  for (int64_t I = 0; I < Size; ++I)
    Ranks.push_back(Stage * Size + I);
  return Ranks;
}

int64_t PartitionJob::bytesOf(unsigned V) const {
  constexpr int64_t BytesOfFloat = 4;
  const ir::TrainSpec &Train = Program.Spec.Train;
  return foretrace::bytesOf(
             Graph.Values[V].elements(*Train.MicroBatch, *Train.Sequence),
             BytesOfFloat)
      .value();
}

Payload PartitionJob::payloadAfter(int64_t Stage) const {
  Payload Of{0, 0};
  for (int64_t Owner : Plan.sentAfter(Stage))
    for (const Output &O : Plan.Stages[static_cast<size_t>(Owner)].Outputs)
      Of.Sent += bytesOf(O.Value);
  for (unsigned V : Plan.crossing(Stage))
    Of.Needed += bytesOf(V);
  return Of;
}

int64_t PartitionJob::stageOf(int64_t Rank) const {
  const ir::ParallelSpec &P = Program.Spec.Parallel;
  return Rank / (*P.Dp * *P.Tp);
}

std::vector<int64_t> PartitionJob::pipelineOf(int64_t Rank) const {
  const ir::ParallelSpec &P = Program.Spec.Parallel;
  const int64_t Stride = *P.Dp * *P.Tp;
  std::vector<int64_t> Ranks;
  for (int64_t I = 0; I < *P.Pp; ++I)
    Ranks.push_back(Rank % Stride + I * Stride);
  return Ranks;
}

std::string PartitionJob::firstNodeFor(int64_t Stage) const {
  const std::vector<Output> &Before =
      Plan.Stages[static_cast<size_t>(Stage - 1)].Outputs;
  return Before.size() > 1 ? Before.front().Node
                           : "submod_" + std::to_string(Stage);
}

void foretrace::optimus::withJob(
    const EmitRequest &Request, const Options &O,
    llvm::function_ref<void(const PartitionJob &)> Use) {
  const ir::Spec &S = Request.Program.Spec;
  const Family F = O.Family ? *O.Family : *familyOf(S.Model);
  const SplitPolicy How = splitOf(S.Parallel);
  const int64_t Layers = S.Model.layerCount();
  const Graph Traced(S.Model, F);
  const PartitionPlan Cut = makePlan(Traced, How, *S.Parallel.Pp, Layers);
  Use({Request.Program, F, How, Traced, Cut,
       graphLength(F, O.Transformers, Layers)});
}
