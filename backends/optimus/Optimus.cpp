// SPDX-License-Identifier: Apache-2.0
#include "backends/optimus/Optimus.h"
#include "backends/EmitOptions.h"
#include "backends/optimus/Options.h"
#include "backends/optimus/Writers.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::optimus;

ir::FactSet foretrace::optimus::prepare(const ir::EmitSpec &Emit,
                                        DiagnosticEngine &Diags) {
  readOptions(Emit, Diags);
  return {ir::Fact::Complete};
}

/// The job's, or what the runtime chooses: whole layers with tensor
/// parallelism.
static Split splitOf(const ir::ParallelSpec &P) {
  switch (*P.Partition) {
  case ir::PartitionKind::BlockTp:
    return Split::LlamaTpSplit;
  case ir::PartitionKind::ModuleCount:
    return Split::Simple;
  case ir::PartitionKind::Balanced:
  case ir::PartitionKind::Uniform:
    return *P.Tp > 1 ? Split::LlamaTpSplit : Split::Simple;
  }
  llvm_unreachable("every partition is handled");
}

/// Whether the rows of a family can be of the model at all.
static bool suits(Family F, const ir::ModelSpec &M) {
  const ir::BlockSpec &B = M.Blocks.front();
  return M.Blocks.size() == 1 && *B.Attention.Kind != ir::AttentionKind::MLA &&
         B.Moe.has_value() == (F == Family::Mixtral);
}

static bool isLlama(Family F) { return F == Family::Llama; }

/// Whether the runtime can run the job at all.
static bool checkParallelism(const ir::Spec &S, Family F,
                             DiagnosticEngine &Diags) {
  const ir::ParallelSpec &P = S.Parallel;
  const unsigned Before = Diags.errorCount();
  const std::pair<llvm::StringRef, const Located<int64_t> *> Unknown[] = {
      {"cp", &P.Cp}, {"vpp", &P.Vpp}, {"ep", &P.Ep}};
  for (auto [Name, Key] : Unknown)
    if (**Key > 1)
      Diags.report(Key->Range, diag::OptimusAxis, Name, **Key);
  if (P.Partition.isStated() && *P.Partition != ir::PartitionKind::BlockTp &&
      *P.Partition != ir::PartitionKind::ModuleCount)
    Diags.report(P.Partition.Range, diag::OptimusUniform);
  if (!P.Layout.empty())
    Diags.report(P.LayoutRange, diag::OptimusUniform);
  if (splitOf(P) == Split::LlamaTpSplit && P.Partition.isStated() &&
      !isLlama(F))
    Diags.report(P.Partition.Range, diag::OptimusSplit, getName(F));
  if (*P.Tp > 1 && !isLlama(F))
    Diags.report(P.Tp.Range, diag::OptimusTp, *P.Tp, getName(F));
  return Diags.errorCount() == Before;
}

/// Whether no sum of what crosses cuts overflows, whatever is sent again.
static bool fits(const Graph &G, const ir::Spec &S) {
  constexpr int64_t BytesOfFloat = 4;
  Bytes All;
  for (const Value &V : G.Values)
    All += bytesOf(V.elements(*S.Train.MicroBatch, *S.Train.Sequence),
                   BytesOfFloat);
  return !(All * *S.Parallel.Pp).isOverflow();
}

bool foretrace::optimus::check(const EmitRequest &Request,
                               DiagnosticEngine &Diags) {
  DiagnosticEngine Known; // `prepare` has reported these
  const Options O = readOptions(Request.Emit, Known);
  const ir::Spec &S = Request.Program.Spec;
  const std::optional<Family> F = O.Family ? O.Family : familyOf(S.Model);
  if (!F || !suits(*F, S.Model)) {
    static constexpr llvm::StringRef Names[] = {
#define FAMILY(ENUMERATOR, NAME, CLASS, ROWS) NAME,
#include "backends/optimus/Families.def"
    };
    Diags.report(S.Model.Range, diag::OptimusFamily, S.Model.Name,
                 llvm::join(llvm::ArrayRef(Names), ", "));
    return false;
  }
  if (!checkParallelism(S, *F, Diags))
    return false;
  const int64_t Layers = S.Model.layerCount();
  const auto Parts = Graph::countParts(S.Model);
  if (Parts.isOverflow() || Parts.value() > Graph::MaxParts) {
    Diags.report(S.Model.LayersRange, diag::OptimusLayers,
                 Parts.isOverflow() ? INT64_MAX : Parts.value(),
                 Graph::MaxParts);
    return false;
  }
  const Split How = splitOf(S.Parallel);
  const Graph Traced(S.Model, *F);
  if (Traced.IsOverflow || !fits(Traced, S)) {
    Diags.report(S.Model.LayersRange, diag::SizeOverflow,
                 "parameters or messages of the plan");
    return false;
  }
  const int64_t Most = How == Split::Simple ? Traced.Modules : Layers;
  if (*S.Parallel.Pp <= Most)
    return true;
  Diags.report(S.Parallel.Pp.Range, diag::OptimusStages, *S.Parallel.Pp, Most,
               How == Split::Simple ? "calls of leaf modules" : "layers");
  return false;
}

std::string Job::counts() const {
  return "length:" + (Length ? std::to_string(*Length) : "?") +
         ", modcnt:" + std::to_string(Graph.Modules) +
         ", num_stage:" + std::to_string(stages()) +
         ", segment:" + std::to_string(Graph.Modules / stages());
}

std::string Job::keyOf(const LayerPart &P) const {
  if (P.Layer >= 0)
    return std::to_string(P.Layer);
  llvm::StringRef Leaf =
      llvm::StringRef(Graph.Values[P.Leaves.front()].Path).rsplit('.').second;
  if (Leaf.empty())
    Leaf = Graph.Values[P.Leaves.front()].Path;
  return Leaf == "embed_tokens" ? "embed" : Leaf.str();
}

std::vector<int64_t> Job::ranks(int64_t Stage) const {
  const ir::ParallelSpec &P = Program.Spec.Parallel;
  const int64_t Size = *P.Dp * *P.Tp;
  std::vector<int64_t> Ranks;
  for (int64_t I = 0; I < Size; ++I)
    Ranks.push_back(Stage * Size + I);
  return Ranks;
}

int64_t Job::bytesOf(unsigned V) const {
  constexpr int64_t BytesOfFloat = 4;
  const ir::TrainSpec &Train = Program.Spec.Train;
  return foretrace::bytesOf(
             Graph.Values[V].elements(*Train.MicroBatch, *Train.Sequence),
             BytesOfFloat)
      .value();
}

Payload Job::payloadAfter(int64_t Stage) const {
  Payload Of{0, 0};
  for (int64_t Owner : Plan.sentAfter(Stage))
    for (const Output &O : Plan.Stages[static_cast<size_t>(Owner)].Outputs)
      Of.Sent += bytesOf(O.Value);
  for (unsigned V : Plan.crossing(Stage))
    Of.Needed += bytesOf(V);
  return Of;
}

int64_t Job::stageOf(int64_t Rank) const {
  const ir::ParallelSpec &P = Program.Spec.Parallel;
  return Rank / (*P.Dp * *P.Tp);
}

std::vector<int64_t> Job::pipelineOf(int64_t Rank) const {
  const ir::ParallelSpec &P = Program.Spec.Parallel;
  const int64_t Stride = *P.Dp * *P.Tp;
  std::vector<int64_t> Ranks;
  for (int64_t I = 0; I < *P.Pp; ++I)
    Ranks.push_back(Rank % Stride + I * Stride);
  return Ranks;
}

std::string Job::firstNodeFor(int64_t Stage) const {
  const std::vector<Output> &Before =
      Plan.Stages[static_cast<size_t>(Stage - 1)].Outputs;
  return Before.size() > 1 ? Before.front().Node
                           : "submod_" + std::to_string(Stage);
}

/// Calls \p Use with the plan of a request that `check` found good.
static void withJob(const EmitRequest &Request, const Options &O,
                    llvm::function_ref<void(const Job &)> Use) {
  const ir::Spec &S = Request.Program.Spec;
  const Family F = O.Family ? *O.Family : *familyOf(S.Model);
  const Split How = splitOf(S.Parallel);
  const int64_t Layers = S.Model.layerCount();
  const Graph Traced(S.Model, F);
  const Plan Cut = makePlan(Traced, How, *S.Parallel.Pp, Layers);
  Use({Request.Program, F, How, Traced, Cut,
       graphLength(F, O.Transformers, Layers)});
}

llvm::Error foretrace::optimus::emit(const EmitRequest &Request, OutputSet &Out,
                                     DiagnosticEngine &) {
  static constexpr struct {
    llvm::StringLiteral Extension;
    void (*Write)(const Job &, llvm::raw_ostream &);
  } Forms[] = {{".log", writeLog}, {".json", writeJSON}, {".txt", writeTable}};
  DiagnosticEngine Known; // `prepare` has reported these
  const Options O = readOptions(Request.Emit, Known);
  const auto &Form = Forms[static_cast<size_t>(O.As)];
  const std::string Path = readFile(
      Request.Emit, (Request.DefaultStem + Form.Extension).str(), Known);
  return Out.add(Path, [&](llvm::raw_ostream &OS) {
    withJob(Request, O, [&](const Job &J) { Form.Write(J, OS); });
  });
}

LogSummary
foretrace::optimus::checkRun(const EmitRequest &Request, llvm::StringRef Text,
                             llvm::function_ref<void(LogDifference)> Report) {
  DiagnosticEngine Known; // `prepare` has reported these
  LogSummary Summary;
  withJob(Request, readOptions(Request.Emit, Known),
          [&](const Job &J) { Summary = checkLog(J, Text, Report); });
  return Summary;
}
