// SPDX-License-Identifier: Apache-2.0
#include "backends/optimus/Job.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <numeric>

using namespace foretrace;
using namespace foretrace::optimus;
using llvm::formatv;

std::string foretrace::optimus::withCommas(int64_t N) {
  std::string Text = std::to_string(N);
  for (size_t At = Text.size(); At > 3; At -= 3)
    Text.insert(At - 3, ",");
  return Text;
}

/// \p Text of each of \p Of, with commas between.
template <typename RangeT, typename FnT>
static std::string commaSeparated(const RangeT &Of, FnT Text) {
  return llvm::join(llvm::map_range(Of, Text), ", ");
}

std::string foretrace::optimus::list(llvm::ArrayRef<int64_t> Numbers) {
  return "[" + commaSeparated(Numbers, llvm::itostr) + "]";
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

PartitionJob::PartitionJob(const EmitRequest &Request, const Options &O)
    : Program(Request.Program),
      Family(O.Family ? *O.Family : *familyOf(Program.Spec.Model)),
      Split(splitOf(Program.Spec.Parallel)), Graph(Program.Spec.Model, Family),
      Plan(makePlan(Graph, Split, *Program.Spec.Parallel.Pp,
                    Program.Spec.Model.layerCount())),
      Length(graphLength(Family, O.Transformers,
                         Program.Spec.Model.layerCount())) {}

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
  std::vector<int64_t> Ranks(static_cast<size_t>(*P.Dp * *P.Tp));
  std::iota(Ranks.begin(), Ranks.end(), Stage * *P.Dp * *P.Tp);
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
    for (const Output &O : stage(Owner).Outputs)
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

llvm::StringRef PartitionJob::firstNodeFor(int64_t Stage) const {
  const auto Before = llvm::find_if(
      Plan.Nodes, [&](const SplitNode &N) { return N.Stage == Stage - 1; });
  return std::next(Before)->Name;
}

std::string PartitionJob::lastNodes() const {
  return commaSeparated(llvm::seq(stages()), [&](int64_t S) {
    return formatv("({0}, '{1}')", S, value(stage(S).Last).Node).str();
  });
}

std::string PartitionJob::submodules() const {
  return commaSeparated(llvm::seq(stages()), [&](int64_t S) {
    return formatv("({0}, '{1}')", S, stage(S).Name).str();
  });
}

std::string PartitionJob::ranksOfStages() const {
  return commaSeparated(llvm::seq(stages()), [&](int64_t S) {
    return formatv("{0}: {1}", S, list(ranks(S))).str();
  });
}

std::string PartitionJob::specialNodes() const {
  return commaSeparated(Plan.Special, [](const SpecialNode &N) {
    return formatv("'{0}': ({1}, {2})", N.Node, N.First, N.Last).str();
  });
}
