// SPDX-License-Identifier: Apache-2.0
#include "backends/plan/StageSums.h"
#include "backends/figures/Figures.h"
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

namespace {

/// A column of times.
struct TimeColumn {
  llvm::StringLiteral Name;
  Nanoseconds StageWorkTime::*Member;
};
constexpr TimeColumn TimeColumns[] = {{"forward", &StageWorkTime::Forward},
                                      {"backward", &StageWorkTime::Backward},
                                      {"steps", &StageWorkTime::Steps},
                                      {"update", &StageWorkTime::Update},
                                      {"idle", &StageWorkTime::Idle}};

} // namespace

void plan::writeTimes(const Program &P, const PlanRows &R, RowFormat As,
                      bool IsExact, llvm::raw_ostream &OS) {
  FigureTable T{"times", "", {{"stage", FigureUnit::Count}}, {}};
  for (const TimeColumn &C : TimeColumns)
    T.Columns.push_back({C.Name, FigureUnit::Time});
  for (const auto &[S, Time] : llvm::zip_equal(P.Stages, R.Times->Stages)) {
    std::vector<Figure> &Row = T.Rows.emplace_back();
    Row.push_back(text({S.First, S.Count}));
    for (const TimeColumn &C : TimeColumns)
      Row.push_back((Time.*C.Member).value());
  }
  writeTable(T, As, IsExact, OS);
}

void plan::writeStages(const Program &P, const PlanRows &R, RowFormat As,
                       bool IsExact, llvm::raw_ostream &OS) {
  const std::vector<Group> Groups = groupsOf(P);
  FigureTable T{"stages", "", {{"stage", FigureUnit::Count}}, {}};
  for (const FigureId Id : MemoryColumns)
    T.Columns.push_back({getInfo(Id).Name, FigureUnit::Bytes});
  std::vector<std::string> Names;
  for (const Group &G : Groups)
    Names.push_back(textOf(G, P.Spec, P.Mesh));
  for (const std::string &Name : Names)
    T.Columns.push_back({Name, FigureUnit::Bytes});
  for (const auto &[S, Memory] : llvm::zip_equal(P.Stages, R.Memory)) {
    std::vector<Figure> &Row = T.Rows.emplace_back();
    Row.push_back(text({S.First, S.Count}));
    for (const int64_t Size : Memory)
      Row.push_back(Size);
    for (const Group &G : Groups)
      Row.push_back(messagesOf(P, S, G).value());
  }
  writeTable(T, As, IsExact, OS);
}

void plan::writeStages(const Program &P, const PlanRows &R,
                       llvm::json::OStream &J) {
  J.attributeArray("stages", [&] {
    for (const auto &[Index, Of, Sizes] : llvm::enumerate(P.Stages, R.Memory))
      J.object([&, &S = Of, &Memory = Sizes, I = Index] {
        J.attributeArray("stages", [&] {
          J.value(S.First);
          J.value(S.First + S.Count - 1);
        });
        J.attribute("parameters", P.Sizes.value(S.Totals.Parameters).value());
        for (const auto &[Id, Size] : llvm::zip_equal(MemoryColumns, Memory))
          J.attribute(getInfo(Id).Name + "_bytes", Size);
        J.attribute("flops", P.Sizes.value(S.Totals.Work).value());
        J.attributeObject("message_bytes", [&] {
          for (const GroupBytes &G : S.Totals.Messages)
            J.attribute(textOf(G.Of, P.Spec, P.Mesh),
                        P.Sizes.value(G.Size).value());
        });
        if (R.Times)
          for (const TimeColumn &C : TimeColumns)
            J.attribute((C.Name + "_ns").str(),
                        (R.Times->Stages[I].*C.Member).value());
      });
  });
}

void plan::writeStageColumns(const Program &P, const PlanRows &R,
                             llvm::raw_ostream &OS) {
  for (const FigureId Id : MemoryColumns)
    OS << ",stage_" << getInfo(Id).Name << "_bytes";
  for (const Group &G : groupsOf(P)) {
    std::string Name = textOf(G, P.Spec, P.Mesh);
    std::replace(Name.begin(), Name.end(), ',', '-');
    OS << ",stage_" << Name << "_message_bytes";
  }
  if (R.Times)
    for (const TimeColumn &C : TimeColumns)
      OS << ",stage_" << C.Name << "_ns";
}

void plan::writeStageColumns(const Program &P, const PlanRows &R,
                             const Stage &S, llvm::raw_ostream &OS) {
  const auto Index = static_cast<size_t>(&S - P.Stages.data());
  for (const int64_t Size : R.Memory[Index])
    OS << ',' << Size;
  for (const Group &G : groupsOf(P))
    OS << ',' << messagesOf(P, S, G).value();
  if (R.Times)
    for (const TimeColumn &C : TimeColumns)
      OS << ',' << (R.Times->Stages[Index].*C.Member).value();
}
