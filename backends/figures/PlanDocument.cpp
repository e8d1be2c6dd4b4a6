// SPDX-License-Identifier: Apache-2.0
#include "backends/figures/PlanDocument.h"
#include "analysis/Bubble.h"
#include "analysis/DeviceMemory.h"
#include "analysis/ModelParameters.h"
#include "analysis/Work.h"
#include "backends/figures/Figures.h"
#include "ir/model/Boundary.h"
#include "ir/model/SpecFields.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Lang.h"

using namespace foretrace;
using namespace foretrace::ir;
using llvm::StringRef;

FactSet foretrace::factsOfPlan() {
  return {Fact::Scheduled, Fact::Totalled, Fact::Costs};
}

bool foretrace::checkPlan(const Program &Of, DiagnosticEngine &Diags) {
  ExprOverlay P(Of);
  const bool IsGood = modelParameters(P).All.hasValue();
  if (!IsGood)
    Diags.report(Of.Spec.Model.LayersRange, diag::SizeOverflow,
                 "the number of parameters");
  return IsGood;
}

NumberWriter::~NumberWriter() = default;

void NumberWriter::write(llvm::json::OStream &J, __int128 Value, ExprId) {
  J.rawValue(toString(Value)); // it may be more than JSON's library holds
}

PlanDocument::PlanDocument(JobFigures &Of) : P(Of.scope()), Of(Of) {
  if (P->Spec.Cluster)
    Map.emplace(*P->Spec.Cluster);
}

void PlanDocument::number(StringRef Key, __int128 Value, ExprId From) {
  J->attributeBegin(Key);
  N->write(*J, Value, From);
  J->attributeEnd();
}

void PlanDocument::number(StringRef Key, Expr Of) {
  number(Key, Of.value(), Of);
}

/// What a figure is called in JSON: bytes say so.
static std::string keyOf(FigureUnit U, StringRef Name) {
  return (Name + (U == FigureUnit::Bytes ? "_bytes" : "")).str();
}

void PlanDocument::messages(const Messages &Of) {
  J->attributeArray("messages", [&] {
    for (const GroupBytes &G : Of)
      J->object([&] {
        J->attribute("group", textOf(G.Of, P->Spec, P->Mesh));
        number("bytes", Expr(P.Sizes, G.Size.Id));
      });
  });
}

void PlanDocument::model() {
  const ModelSpec &M = P->Spec.Model;
  J->attributeObject("model", [&] {
    J->attribute("name", M.Name);
    J->attribute("layers", M.layerCount());
    number("hidden", exprOf(P, P->Spec.Model.Hidden));
    number("vocab", exprOf(P, P->Spec.Model.Vocab));
    const ParameterCount Parameters = modelParameters(P);
    number("parameters", Parameters.All);
    number("activated", Parameters.Active);
  });
}

void PlanDocument::train() {
  const TrainSpec &T = P->Spec.Train;
  J->attributeObject("train", [&] {
    number("sequence", exprOf(P, T.Sequence));
    number("micro_batch", exprOf(P, T.MicroBatch));
    number("global_batch", exprOf(P, T.GlobalBatch));
    number("tokens", __int128(*T.Sequence) * *T.GlobalBatch,
           exprOf(P, T.Sequence) * exprOf(P, T.GlobalBatch));
    J->attribute("precision", getSpelling(*T.Precision));
    if (T.Recipe.isPresent())
      J->attribute("recipe", *T.Recipe);
    visitFields(T, [&](const FieldRow &Row, const auto &F) {
      if constexpr (std::is_same_v<decltype(F), const Located<TypeKind> &>)
        J->attribute(Row.Name, getSpelling(*F));
    });
    if (T.ExpertLoad.isPresent()) {
      J->attribute("routing", *T.Routing);
      J->attribute("expert_load", *T.ExpertLoad);
    }
    J->attribute("recompute", getSpelling(*T.Recompute));
  });
}

void PlanDocument::parallel() {
  const ParallelSpec &Par = P->Spec.Parallel;
  J->attributeObject("parallel", [&] {
    number("world", exprOf(P, Par.World));
    J->attributeArray("mesh", [&] {
      for (const Axis A : allAxes())
        J->object([&] {
          J->attribute("axis", getName(A));
          number("size", sizeOf(P, A));
        });
    });
    number("vpp", exprOf(P, Par.Vpp));
    number("ga", exprOf(P, Par.Ga));
    J->attribute("zero", *Par.Zero);
    J->attribute("sequence_parallel", *Par.SequenceParallel);
    J->attribute("rank_order", getSpelling(*Par.RankOrder));
    J->attributeArray("groups", [&] {
      for (const ProcessGroup &G : allProcessGroups())
        if (G.Group.size(P->Mesh) > 1 && G.IsUsed(P->Spec))
          J->object([&] { group(G); });
    });
  });
}

void PlanDocument::group(const ProcessGroup &G) {
  J->attribute("group", G.Name);
  J->attributeArray("axes", [&] {
    for (const Axis A : G.Group.Axes)
      J->value(getName(A));
  });
  number("size", sizeOf(P, G.Group));
  J->attribute("groups", G.Group.count(P->Mesh));
  if (!Map)
    return;
  const GroupSpan Span =
      Map->spanOf(G.Group, P->Mesh, *P->Spec.Parallel.RankOrder);
  J->attribute("leave_node", Span.LeavingNode);
  J->attributeArray("tiers", [&] {
    for (const auto &[Tier, Groups] :
         llvm::zip_equal(P->Spec.Cluster->Tiers, Span.ByTier))
      J->object([&, &Tier = Tier, &Groups = Groups] {
        J->attribute("tier", Tier.Name);
        J->attribute("groups", Groups);
      });
  });
}

void PlanDocument::cluster(const ClusterSpec &C) {
  const DeviceSpec Device = P->Spec.rooflineDevice();
  J->attributeObject("cluster", [&] {
    J->attribute("name", C.Name);
    J->attribute("nodes", *C.Nodes);
    J->attribute("devices_per_node", *C.DevicesPerNode);
    if (const auto Memory = deviceMemoryOf(P->Spec)) {
      J->attribute("device_memory_bytes", Memory->Bytes);
      J->attribute("device_reserved_bytes", Memory->Reserved);
    }
    if (Device.PeakFlops.isPresent())
      J->attribute("device_flops_per_second", *Device.PeakFlops);
  });
}

void PlanDocument::block(unsigned Index, int64_t Layers) {
  const std::string &Name = P->Blocks[BlockId(Index)].Name;
  const BlockTotals Of = P->Blocks[BlockId(Index)].Totals;
  J->attribute("block", Name);
  J->attribute("layers", Layers);
  if (const BlockSpec *B = P->Spec.Model.findBlock(Name)) {
    J->attribute("recompute", getSpelling(*P->Spec.recomputeOf(*B)));
    J->attribute("offload_activations", *P->Spec.offloadOf(*B));
  }
#define TOTAL(MEMBER, TYPE, WORD, DOC)                                         \
  number(keyOf(unitOf(TYPE()), WORD), Expr(P.Sizes, Of.MEMBER.Id));
#include "ir/model/Totals.def"
  messages(Of.Messages);
}

void PlanDocument::chunks(const Stage &S) {
  int64_t First = 0;
  for (const ChunkRun &C : S.Chunks) {
    J->object([&] {
      J->attribute("first", First);
      J->attribute("last", First + C.Count - 1);
      J->attribute("layers", describe(C.Layers, P));
      const int64_t Part = P->Schedule.partOf(S.First, First);
      number("sent_bytes",
             boundarySize(P, boundaryAfter(P, Part, /*IsForward=*/true)));
    });
    First += C.Count;
  }
}

void PlanDocument::stage(const Stage &S) {
  J->attribute("first", S.First);
  J->attribute("last", S.First + S.Count - 1);
  J->attributeArray("chunks", [&] { chunks(S); });
#define STAGE_FIGURE(ENUMERATOR, NAME, UNIT, DOC, EXPRESSION)                  \
  number(keyOf(UNIT, NAME), Of.of(FigureId::ENUMERATOR, S));
#include "analysis/Figures.def"
  messages(S.Totals.Messages);
}

void PlanDocument::schedule() {
  const Schedule &S = P->Schedule;
  J->attributeObject("schedule", [&] {
    J->attribute("kind", getSpelling(S.Kind));
    J->attribute("placement", getSpelling(S.Placement));
    number("stages", exprOf(P, P->Spec.Parallel.Pp));
    J->attribute("chunks", S.Chunks);
    J->attribute("micro_batches", S.MicroBatches);
    J->attribute("group", S.Group);
    number("work_steps", stepsOf(P));
    number("bubble_steps", bubbleOf(P));
    number("bubble_millionths", bubbleShareOf(P));
  });
}

/// The estimate of an iteration, if there is one.
void PlanDocument::time() {
  const std::optional<Expr> Time = Of.of(FigureId::Time);
  if (!Time)
    return;
  J->attributeObject("time", [&] {
    number("iteration_ns", *Time);
    for (const auto &[Key, Id] :
         {std::pair("mfu_millionths", FigureId::Mfu),
          {"tokens_per_second", FigureId::TokensPerSecond},
          {"exposed_millionths", FigureId::Exposed}})
      if (const std::optional<Expr> Value = Of.of(Id))
        number(Key, *Value);
  });
}

void PlanDocument::write(StringRef Job, llvm::json::OStream &To,
                         NumberWriter &Numbers) {
  J = &To;
  N = &Numbers;
  J->object([&] {
    J->attribute("schema", "foretrace.plan/1");
    J->attribute("job", Job);
    model();
    train();
    parallel();
    if (P->Spec.Cluster)
      cluster(*P->Spec.Cluster);
    schedule();
    time();
    number("flops", workOfAllRanks(P), {});
    J->attributeArray("blocks", [&] {
      for (const auto &[Index, Layers] : layersByBlock(P->Layers))
        J->object(
            [&, Index = Index, Layers = Layers] { block(Index, Layers); });
    });
    J->attributeArray("stages", [&] {
      for (const Stage &S : P->Stages)
        J->object([&] { stage(S); });
    });
  });
}
