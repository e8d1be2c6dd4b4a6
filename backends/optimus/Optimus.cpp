// SPDX-License-Identifier: Apache-2.0
//
// The `optimus` backend: the partition plan of Optimus-Prime, ETRI's pipeline
// runtime, which cuts a traced model between calls of leaf modules.
#include "backends/EmissionOf.h"
#include "backends/KnownLayers.h"
#include "backends/optimus/Job.h"
#include "backends/optimus/Options.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::optimus;

ir::FactSet foretrace::optimus::needs(const Options &) {
  return {ir::Fact::Complete};
}

/// Returns whether the rows of a family can be of the model at all.
static bool suits(Family F, const ir::ModelSpec &M) {
  const ir::BlockSpec &B = M.Blocks.front();
  return M.Blocks.size() == 1 && !hasLatentAttention(B) &&
         hasExperts(B) == (F == Family::Mixtral);
}

static bool isLlama(Family F) { return F == Family::Llama; }

/// Returns whether the runtime can run the job at all.
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
  if (splitOf(P) == SplitPolicy::LlamaTpSplit && P.Partition.isStated() &&
      !isLlama(F))
    Diags.report(P.Partition.Range, diag::OptimusSplit, getName(F));
  if (*P.Tp > 1 && !isLlama(F))
    Diags.report(P.Tp.Range, diag::OptimusTp, *P.Tp, getName(F));
  return Diags.errorCount() == Before;
}

/// Returns whether sums of what crosses cuts are below 2^63, resends included.
static bool fits(const Graph &G, const ir::Spec &S) {
  constexpr int64_t BytesOfFloat = 4;
  Bytes All;
  for (const GraphValue &V : G.Values)
    All += bytesOf(V.elements(*S.Train.MicroBatch, *S.Train.Sequence),
                   BytesOfFloat);
  return !(All * *S.Parallel.Pp).isOverflow();
}

/// Reports models that are of no family, and more stages than can be cut.
bool foretrace::optimus::check(const EmitRequest &Request, const Options &O,
                               DiagnosticEngine &Diags) {
  const ir::Spec &S = Request.Program.Spec;
  if (!checkKinds(S, "Optimus-Prime", Diags))
    return false;
  const std::optional<Family> F = O.Family ? O.Family : familyOf(S.Model);
  if (!F || !suits(*F, S.Model)) {
    Diags.report(S.Model.Range, diag::OptimusFamily, S.Model.Name,
                 llvm::join(llvm::ArrayRef(FamilyNames), ", "));
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
  const SplitPolicy How = splitOf(S.Parallel);
  const Graph Traced(S.Model, *F);
  if (Traced.IsOverflow || !fits(Traced, S)) {
    Diags.report(S.Model.LayersRange, diag::SizeOverflow,
                 "parameters or messages of the plan");
    return false;
  }
  const int64_t Most = How == SplitPolicy::Simple ? Traced.Modules : Layers;
  if (*S.Parallel.Pp <= Most)
    return true;
  Diags.report(S.Parallel.Pp.Range, diag::OptimusStages, *S.Parallel.Pp, Most,
               How == SplitPolicy::Simple ? "calls of leaf modules" : "layers");
  return false;
}

static void writeForm(const PartitionJob &J, const Options &O,
                      llvm::raw_ostream &OS) {
  switch (O.As) {
  case PartitionForm::Log:
    return writeLog(J, OS);
  case PartitionForm::JSON:
    return writeJSON(J, OS);
  case PartitionForm::Table:
    return writeStages(J, RowFormat::Table, O.IsExact, OS);
  case PartitionForm::CSV:
    return writeStages(J, RowFormat::CSV, O.IsExact, OS);
  case PartitionForm::Markdown:
    return writeStages(J, RowFormat::Markdown, O.IsExact, OS);
  }
  llvm_unreachable("every form is handled");
}

llvm::Error foretrace::optimus::emit(const EmitRequest &Request,
                                     const Options &O, OutputSet &Out) {
  static constexpr llvm::StringLiteral Extensions[] = {".log", ".json", ".txt",
                                                       ".csv", ".md"};
  return Out.add(Request.file(O.File, Extensions[static_cast<size_t>(O.As)]),
                 [&](llvm::raw_ostream &OS) {
                   writeForm(PartitionJob(Request, O), O, OS);
                 });
}
