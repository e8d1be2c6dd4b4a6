// SPDX-License-Identifier: Apache-2.0
#include "backends/plan/StageSums.h"
#include "backends/plan/Formats.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::plan;

/// Of all stages, by first use.
static std::vector<Group> groupsOf(const Program &P) {
  std::vector<Group> Groups;
  for (const Stage &S : P.Stages)
    for (const GroupBytes &G : S.Totals.Messages)
      if (!llvm::is_contained(Groups, G.Of))
        Groups.push_back(G.Of);
  return Groups;
}

static Bytes messagesOf(const Program &P, const Stage &S, const Group &G) {
  for (const GroupBytes &Known : S.Totals.Messages)
    if (Known.Of == G)
      return P.Sizes.value(Known.Size);
  return Bytes(0);
}

void plan::writeTimes(const PlanRows &R, RowFormat As, bool IsExact,
                      llvm::raw_ostream &OS) {
  FigureTable T = makeTimeTable(*R.Times);
  T.Columns.front() = {"stages", FigureUnit::Count, "stage"};
  writeTable(T, As, IsExact, OS);
}

void plan::writeStages(const Program &P, const PlanRows &R, RowFormat As,
                       bool IsExact, llvm::raw_ostream &OS) {
  const std::vector<Group> Groups = groupsOf(P);
  FigureTable T{"stages", "", {{"stages", FigureUnit::Count, "stage"}}, {}};
  for (const FigureId Id : MemoryColumns)
    T.Columns.push_back({getInfo(Id).Name, FigureUnit::Bytes});
  std::vector<std::string> Names;
  for (const Group &G : Groups)
    Names.push_back(textOf(G, P.Spec, P.Mesh));
  for (const std::string &Name : Names)
    T.Columns.push_back({Name, FigureUnit::Bytes});
  for (const auto &[S, Figures] : llvm::zip_equal(P.Stages, R.Stages.Rows)) {
    std::vector<Figure> &Row = T.Rows.emplace_back();
    Row.push_back(Figures.front());
    for (const FigureId Id : MemoryColumns)
      Row.push_back(Figures[R.Stages.columnOf(getInfo(Id).Name)]);
    for (const Group &G : Groups)
      Row.push_back(messagesOf(P, S, G).value());
  }
  writeTable(T, As, IsExact, OS);
}

FigureTable plan::tableOfStages(const PlanRows &R) {
  FigureTable All = R.Stages;
  if (!R.Times)
    return All;
  const FigureTable Times = makeTimeTable(*R.Times);
  for (const FigureColumn &C : llvm::drop_begin(Times.Columns))
    All.Columns.push_back(C);
  for (const auto &[To, Row] : llvm::zip_equal(All.Rows, Times.Rows))
    To.insert(To.end(), Row.begin() + 1, Row.end());
  return All;
}

void plan::writeStageColumns(const Program &P, const PlanRows &R,
                             llvm::raw_ostream &OS) {
  for (const FigureId Id : MemoryColumns)
    OS << ",stage_" << getInfo(Id).Name;
  for (const Group &G : groupsOf(P)) {
    std::string Name = textOf(G, P.Spec, P.Mesh);
    std::replace(Name.begin(), Name.end(), ',', '-');
    OS << ",stage_messages_" << Name;
  }
  if (!R.Times)
    return;
  const FigureTable Times = makeTimeTable(*R.Times);
  for (const FigureColumn &C : llvm::drop_begin(Times.Columns))
    OS << ",stage_" << C.Key;
}

void plan::writeStageColumns(const Program &P, const PlanRows &R,
                             const Stage &S, llvm::raw_ostream &OS) {
  const auto Index = static_cast<size_t>(&S - P.Stages.data());
  for (const FigureId Id : MemoryColumns)
    OS << ','
       << exact(R.Stages.Rows[Index][R.Stages.columnOf(getInfo(Id).Name)]);
  for (const Group &G : groupsOf(P))
    OS << ',' << messagesOf(P, S, G).value();
  if (!R.Times)
    return;
  const FigureTable Times = makeTimeTable(*R.Times);
  for (const Figure &F : llvm::drop_begin(Times.Rows[Index]))
    OS << ',' << exact(F);
}
