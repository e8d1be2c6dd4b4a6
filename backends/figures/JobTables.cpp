// SPDX-License-Identifier: Apache-2.0
#include "backends/figures/JobTables.h"
#include "analysis/LayerCounts.h"

using namespace foretrace;
using namespace foretrace::ir;

Figure foretrace::figureOf(ExprScope P, ExprId Of) {
  if (!Of.isValid())
    return Figure(int64_t(0));
  if (P.Sizes.value(Of) == NoValue)
    return Figure("beyond 2^63");
  return {P.Sizes, Of};
}

FigureTable foretrace::makeStageTable(JobFigures &Of) {
  FigureTable T{
      "stages", "per rank of a stage", {{"stages", FigureUnit::Text}}, {}};
  const std::vector<FigureId> Has = stageFiguresOf(Of.scope());
  for (const FigureId Id : Has)
    T.Columns.push_back({getInfo(Id).Name, getInfo(Id).Unit});
  for (const Stage &S : Of.scope()->Stages) {
    std::vector<Figure> Row{stagesOf(S)};
    for (const FigureId Id : Has)
      Row.push_back(figureOf(Of.scope(), Of.of(Id, S)));
    T.Rows.push_back(std::move(Row));
  }
  return T;
}

FigureTable foretrace::makeBlockTable(ExprScope P) {
  FigureTable T{"blocks",
                "per layer, rank and micro-batch",
                {{"block", FigureUnit::Text}, {"layers", FigureUnit::Count}},
                {}};
#define TOTAL(MEMBER, TYPE, WORD, DOC)                                         \
  T.Columns.push_back({WORD, unitOf(TYPE())});
#include "ir/model/Totals.def"
  for (const auto &[Index, Layers] : layersByBlock(P->Layers)) {
    const Block &B = P->Blocks[BlockId(Index)];
    std::vector<Figure> Row{{B.Name}, {Layers}};
#define TOTAL(MEMBER, TYPE, WORD, DOC)                                         \
  Row.push_back(figureOf(P, B.Totals.MEMBER.Id));
#include "ir/model/Totals.def"
    T.Rows.push_back(std::move(Row));
  }
  return T;
}

/// Adds a row for each kind of group that sends something for \p Of.
static void addMessages(ExprScope P, const Figure &Of,
                        llvm::ArrayRef<GroupBytes> Messages, FigureTable &To) {
  for (const GroupBytes &G : Messages)
    To.Rows.push_back(
        {Of, {textOf(G.Of, P->Spec, P->Mesh)}, figureOf(P, G.Size.Id)});
}

FigureTable foretrace::makeMessageTable(ExprScope P) {
  FigureTable T{"messages",
                "messages per rank of a stage and iteration",
                columns({{FigureUnit::Text, "stages group"},
                         {FigureUnit::Bytes, "messages"}}),
                {}};
  for (const Stage &S : P->Stages)
    addMessages(P, stagesOf(S), S.Totals.Messages, T);
  return T;
}

FigureTable foretrace::makeBlockMessageTable(ExprScope P) {
  FigureTable T{"block_messages",
                "messages per rank, layer and micro-batch",
                columns({{FigureUnit::Text, "block group"},
                         {FigureUnit::Bytes, "messages"}}),
                {}};
  for (const auto &[Index, Layers] : layersByBlock(P->Layers)) {
    const Block &B = P->Blocks[BlockId(Index)];
    addMessages(P, {B.Name}, B.Totals.Messages, T);
  }
  return T;
}

FigureTable foretrace::makeTimeTable(const IterationTime &T) {
  FigureTable Table{"stages",
                    "per rank of each stage",
                    {{"stages", FigureUnit::Text},
                     {"forward_time", FigureUnit::Time, "forward"},
                     {"backward_time", FigureUnit::Time, "backward"},
                     {"steps_time", FigureUnit::Time, "steps"},
                     {"update_time", FigureUnit::Time, "update"},
                     {"idle_time", FigureUnit::Time, "idle"}},
                    {}};
  for (const StageWorkTime &S : T.Stages)
    Table.Rows.push_back({IndexRange{S.First, S.Count}, S.Forward.value(),
                          S.Backward.value(), S.Steps.value(), S.Update.value(),
                          S.Idle.value()});
  return Table;
}
