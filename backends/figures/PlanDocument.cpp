// SPDX-License-Identifier: Apache-2.0
#include "backends/figures/PlanDocument.h"
#include "analysis/Bubble.h"
#include "analysis/DeviceMemory.h"
#include "analysis/ModelParameters.h"
#include "analysis/Work.h"
#include "backends/figures/JobTables.h"
#include "ir/model/Boundary.h"
#include "ir/model/SpecFields.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Lang.h"

using namespace foretrace;
using namespace foretrace::ir;
using llvm::StringRef;

FactSet foretrace::factsOfPlan() {
  return {Fact::Scheduled, Fact::Totalled, Fact::Costs, Fact::Workspace};
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

void PlanDocument::attribute(StringRef Key, FigureUnit Unit, const Figure &Is) {
  if (Is.isNumber() && Unit != FigureUnit::Flag)
    return number(Key, Is.number(), Is.From.value_or(ExprId()));
  J->attributeBegin(Key);
  writeValue(Is, Unit, *J);
  J->attributeEnd();
}

void PlanDocument::row(const FigureTable &T, llvm::ArrayRef<Figure> Row) {
  for (const auto &[C, Cell] : llvm::zip_equal(T.Columns, Row))
    attribute(C.Key, C.Unit, Cell);
}

void PlanDocument::table(const FigureTable &T) {
  J->attributeArray(T.Key, [&] {
    for (const std::vector<Figure> &Row : T.Rows)
      J->object([&] { row(T, Row); });
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
    number("published", Parameters.All);
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

/// Adds the keys of a section that have a word or a number.
template <typename SpecT>
static void addKeys(const SpecT &S, llvm::json::OStream &J) {
  visitFields(S, [&](const FieldRow &Row, const auto &F) {
    using T = std::decay_t<decltype(F.Value)>;
    if (!F.isPresent())
      return;
    if constexpr (std::is_integral_v<T>)
      J.attribute(Row.Name, *F);
    else if constexpr (std::is_enum_v<T>)
      J.attribute(Row.Name, getSpelling(*F));
  });
}

void PlanDocument::serve() {
  const ServeSpec &V = *P->Spec.Serve;
  J->attributeObject("requests", [&] { addKeys(*P->Spec.Requests, *J); });
  J->attributeObject("serve", [&] {
    J->attribute("name", V.Name);
    addKeys(V, *J);
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
      J->attribute("device_memory", Memory->Bytes);
      J->attribute("reserved", Memory->Reserved);
    }
    if (Device.PeakFlops.isPresent())
      J->attribute("device_flops_per_second", *Device.PeakFlops);
  });
}

void PlanDocument::blocks() {
  const FigureTable T = makeBlockTable(P);
  J->attributeArray(T.Key, [&] {
    for (const std::vector<Figure> &Row : T.Rows)
      J->object([&] {
        if (const BlockSpec *B = P->Spec.Model.findBlock(exact(Row.front()))) {
          J->attribute("recompute", getSpelling(*P->Spec.recomputeOf(*B)));
          J->attribute("offload_activations", *P->Spec.offloadOf(*B));
        }
        row(T, Row);
      });
  });
}

FigureTable PlanDocument::chunks() {
  FigureTable T{"chunks",
                "",
                columns({{FigureUnit::Text, "stages chunks layers"},
                         {FigureUnit::Bytes, "sent"}}),
                {}};
  for (const Stage &S : P->Stages) {
    int64_t First = 0;
    for (const ChunkRun &C : S.Chunks) {
      const int64_t Part = P->Schedule.partOf(S.First, First);
      const BoundaryId Next = boundaryAfter(P, Part, /*IsForward=*/true);
      T.Rows.push_back({stagesOf(S), IndexRange{First, C.Count},
                        describe(C.Layers, P),
                        figureOf(P, boundarySize(P, Next))});
      First += C.Count;
    }
  }
  return T;
}

void PlanDocument::schedule() {
  const Schedule &S = P->Schedule;
  J->attributeObject("schedule", [&] {
    J->attribute("kind", getSpelling(S.Kind));
    J->attribute("placement", getSpelling(S.Placement));
    number("pp", exprOf(P, P->Spec.Parallel.Pp));
    J->attribute("chunks_per_stage", S.Chunks);
    J->attribute("micro_batches", S.MicroBatches);
    J->attribute("group", S.Group);
    J->attribute("unit", "step");
    attribute("work", FigureUnit::Count, figureOf(P, stepsOf(P)));
    attribute("idle", FigureUnit::Count, figureOf(P, bubbleOf(P)));
  });
}

/// Adds the figures of the job that belong to no stage.
void PlanDocument::figures() {
  for (const FigureId Id : jobFiguresOf(P)) {
    const FigureInfo &Info = getInfo(Id);
    if (const std::optional<Expr> Is = Of.of(Id))
      attribute(Info.Name, Info.Unit, figureOf(P, *Is));
  }
}

void PlanDocument::write(StringRef Job, llvm::json::OStream &To,
                         NumberWriter &Numbers) {
  J = &To;
  N = &Numbers;
  J->object([&] {
    J->attribute("schema", "foretrace.json/2");
    J->attribute("job", Job);
    model();
    if (P->Spec.Serve)
      serve();
    else
      train();
    parallel();
    if (P->Spec.Cluster)
      cluster(*P->Spec.Cluster);
    schedule();
    figures();
    number("flops_of_all_ranks", workOfAllRanks(P), {});
    blocks();
    table(makeBlockMessageTable(P));
    table(makeStageTable(Of));
    table(makeMessageTable(P));
    table(chunks());
  });
}
