// SPDX-License-Identifier: Apache-2.0
#include "backends/plan/StageSums.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace foretrace;
using namespace foretrace::ir;
using llvm::formatv;

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

static int64_t messagesOf(const Program &P, const Stage &S, const Group &G) {
  for (const GroupBytes &Known : S.Totals.Messages)
    if (Known.Of == G)
      return P.Sizes.value(Known.Size).value();
  return 0;
}

static std::string mebibytes(int64_t Size) {
  return formatv("{0:f1}", static_cast<double>(Size) / (1 << 20));
}

void foretrace::plan::writeStages(const Program &P, llvm::raw_ostream &OS) {
  const std::vector<Group> Groups = groupsOf(P);
  OS << formatv("{0,9} ", "stage");
  for (const MemoryColumn &C : MemoryColumns)
    OS << formatv("{0,12}", C.Name);
  for (const Group &G : Groups)
    OS << formatv("{0,12}", textOf(G));
  OS << '\n';
  for (const Stage &S : P.Stages) {
    const int64_t Last = S.First + S.Count - 1;
    const std::string Stages =
        S.Count == 1 ? std::to_string(S.First)
                     : std::to_string(S.First) + "-" + std::to_string(Last);
    OS << formatv("{0,9} ", Stages);
    for (const MemoryColumn &C : MemoryColumns)
      OS << formatv("{0,12}",
                    mebibytes(P.Sizes.value(S.Totals.*C.Size).value()));
    for (const Group &G : Groups)
      OS << formatv("{0,12}", mebibytes(messagesOf(P, S, G)));
    OS << '\n';
  }
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
            J.attribute(textOf(G.Of), P.Sizes.value(G.Size).value());
        });
      });
  });
}

void foretrace::plan::writeStageColumns(const Program &P,
                                        llvm::raw_ostream &OS) {
  for (const MemoryColumn &C : MemoryColumns)
    OS << ",stage_" << C.Name << "_bytes";
  for (const Group &G : groupsOf(P)) {
    std::string Name = textOf(G);
    std::replace(Name.begin(), Name.end(), ',', '-');
    OS << ",stage_" << Name << "_message_bytes";
  }
}

void foretrace::plan::writeStageColumns(const Program &P, const Stage &S,
                                        llvm::raw_ostream &OS) {
  for (const MemoryColumn &C : MemoryColumns)
    OS << ',' << P.Sizes.value(S.Totals.*C.Size).value();
  for (const Group &G : groupsOf(P))
    OS << ',' << messagesOf(P, S, G);
}
