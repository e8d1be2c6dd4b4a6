// SPDX-License-Identifier: Apache-2.0
#include "backends/plan/StageSums.h"
#include "backends/plan/Formats.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// A part of a stage's memory.
struct MemoryColumn {
  llvm::StringLiteral Name;
  ByteExpr StageTotals::*Size;
};
constexpr MemoryColumn MemoryColumns[] = {
    {"weights", &StageTotals::Weights},
    {"gradients", &StageTotals::Gradients},
    {"optimizer", &StageTotals::Optimizer},
    {"activations", &StageTotals::Activations},
    {"memory", &StageTotals::Memory},
};

} // namespace

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

void foretrace::plan::writeStages(const Program &P, RowFormat As,
                                  llvm::raw_ostream &OS) {
  const std::vector<Group> Groups = groupsOf(P);
  std::vector<RowColumn> Columns = {{"stage", true}};
  for (const MemoryColumn &C : MemoryColumns)
    Columns.push_back({C.Name.str(), true});
  for (const Group &G : Groups)
    Columns.push_back({textOf(G, P.Spec), true});
  std::vector<std::vector<std::string>> Lines;
  for (const Stage &S : P.Stages) {
    std::vector<std::string> &Line = Lines.emplace_back();
    Line.push_back(text({S.First, S.Count}));
    for (const MemoryColumn &C : MemoryColumns)
      Line.push_back(mebibytes(P.Sizes.value(S.Totals.*C.Size)));
    for (const Group &G : Groups)
      Line.push_back(mebibytes(messagesOf(P, S, G)));
  }
  writeRows(std::move(Columns), Lines, As, OS);
}

void foretrace::plan::writeStages(const Program &P, llvm::json::OStream &J) {
  J.attributeArray("stages", [&] {
    for (const Stage &S : P.Stages)
      J.object([&] {
        J.attributeArray("stages", [&] {
          J.value(S.First);
          J.value(S.First + S.Count - 1);
        });
        J.attribute("parameters", P.Sizes.value(S.Totals.Parameters).value());
        for (const MemoryColumn &C : MemoryColumns)
          J.attribute((C.Name + "_bytes").str(),
                      P.Sizes.value(S.Totals.*C.Size).value());
        J.attribute("flops", P.Sizes.value(S.Totals.Work).value());
        J.attributeObject("message_bytes", [&] {
          for (const GroupBytes &G : S.Totals.Messages)
            J.attribute(textOf(G.Of, P.Spec), P.Sizes.value(G.Size).value());
        });
      });
  });
}

void foretrace::plan::writeStageColumns(const Program &P,
                                        llvm::raw_ostream &OS) {
  for (const MemoryColumn &C : MemoryColumns)
    OS << ",stage_" << C.Name << "_bytes";
  for (const Group &G : groupsOf(P)) {
    std::string Name = textOf(G, P.Spec);
    std::replace(Name.begin(), Name.end(), ',', '-');
    OS << ",stage_" << Name << "_message_bytes";
  }
}

void foretrace::plan::writeStageColumns(const Program &P, const Stage &S,
                                        llvm::raw_ostream &OS) {
  for (const MemoryColumn &C : MemoryColumns)
    OS << ',' << P.Sizes.value(S.Totals.*C.Size).value();
  for (const Group &G : groupsOf(P))
    OS << ',' << messagesOf(P, S, G).value();
}
