// SPDX-License-Identifier: Apache-2.0
#include "tools/diff/Summary.h"
#include "analysis/Figures.h"
#include "analysis/LayerCounts.h"
#include "backends/figures/JobTables.h"
#include "ir/text/Print.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace foretrace;
using namespace foretrace::ir;

namespace {

class Summary {
public:
  explicit Summary(JobFigures &Of) : P(Of.scope()), Of(Of) {}

  void addMost();
  void addGroups();
  void addLayers();
  void addOps();
  void addSteps();
  void addLayouts();
  void add(FigureTable T) { F.Tables.push_back(std::move(T)); }
  Figures finish() {
    F.Sizes = P.Sizes;
    return std::move(F);
  }

private:
  ExprScope P;
  JobFigures &Of;
  Figures F{"foretrace.summary/1", {}, {}, {}, {}};
};

} // namespace

template <typename T> static std::string toText(const T &Of) {
  std::string Text;
  llvm::raw_string_ostream(Text) << Of;
  return Text;
}

void Summary::addMost() {
  for (const std::vector<FigureId> &Ids : {stageFiguresOf(P), jobFiguresOf(P)})
    for (const FigureId Id : Ids) {
      const FigureInfo &Info = getInfo(Id);
      if (const std::optional<Expr> Is = Of.of(Id))
        F.Named.push_back({Info.Name, Info.Name, Info.Unit, figureOf(P, *Is)});
    }
}

void Summary::addGroups() {
  FigureTable T{
      "groups",
      "groups of ranks",
      {{"group", FigureUnit::Text}, {"size", FigureUnit::Count, "ranks"}},
      {}};
  for (const ProcessGroup &G : allProcessGroups())
    if (G.Group.size(P->Mesh) > 1 && G.IsUsed(P->Spec))
      T.Rows.push_back({{G.Name.str()}, figureOf(P, sizeOf(P, G.Group))});
  add(std::move(T));
}

/// `4 dense + 8 moe`, chunks apart by `|`.
static std::string layersOf(const Program &P, const Stage &S) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  llvm::interleave(
      S.Chunks, OS,
      [&](const ChunkRun &C) {
        if (C.Count > 1)
          OS << C.Count << " x ";
        llvm::interleave(
            layersByBlock(C.Layers), OS,
            [&](const auto &Layers) {
              OS << Layers.second << ' '
                 << P.Blocks[BlockId(Layers.first)].Name;
            },
            " + ");
      },
      " | ");
  return Text;
}

void Summary::addLayers() {
  FigureTable T{"layers",
                "layers of a stage",
                columns({{FigureUnit::Text, "stages layers"}}),
                {}};
  for (const Stage &S : P->Stages)
    T.Rows.push_back({stagesOf(S), {layersOf(P, S)}});
  add(std::move(T));
}

/// `all_gather(tp) for linear_qkv`, or `linear linear_qkv`.
static std::string nameOf(const Block &B, const Op &O) {
  std::string Text = (getMnemonic(O.Kind) + getSuffix(O.Derivative)).str();
  if (isCollective(O.Kind))
    Text += "(" + toText(O.Group) + ")";
  if (isCollective(O.Kind) && O.For.isValid())
    return Text + " for " + B.Ops[O.For].Name;
  return O.Name.empty() ? Text : Text + " " + O.Name;
}

/// How often each op is run, in the order of first use.
using OpCounts =
    llvm::MapVector<std::string, int64_t, std::map<std::string, unsigned>>;
static OpCounts countOps(const Block &B) {
  OpCounts Times;
  for (const Op &O : B.Ops)
    ++Times[(nameOf(B, O) + ", " + getName(O.Phase)).str()];
  return Times;
}

void Summary::addOps() {
  FigureTable T{
      "ops",
      "ops of a layer",
      columns({{FigureUnit::Text, "block op"}, {FigureUnit::Count, "times"}}),
      {}};
  for (const auto &[Index, Layers] : layersByBlock(P->Layers)) {
    const Block &B = P->Blocks[BlockId(Index)];
    for (const auto &[Of, Times] : countOps(B))
      T.Rows.push_back({{B.Name}, {Of}, {Times}});
  }
  add(std::move(T));
}

void Summary::addSteps() {
  FigureTable T{
      "steps",
      "ops of a stage, once per iteration",
      columns({{FigureUnit::Text, "stages op"}, {FigureUnit::Count, "times"}}),
      {}};
  for (const Stage &S : P->Stages)
    for (const auto &[Of, Times] : countOps(P->Blocks[S.Step]))
      T.Rows.push_back({stagesOf(S), {Of}, {Times}});
  add(std::move(T));
}

/// `seq@tp batch@dp hidden partial(cp)`.
static std::string layoutOf(const Spec &S, const TensorType &T,
                            const Layout &L) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  for (const auto &[Index, D] : llvm::enumerate(T.Dims)) {
    OS << (Index ? " " : "") << infoOf(S, D.Kind).Name;
    llvm::StringRef Separator = "@";
    for (const Axis A : allAxes())
      if (L.isSplit(A) && L.splitDim(A) == Index) {
        OS << Separator << getName(A);
        Separator = ",";
      }
  }
  for (const Axis A : allAxes())
    if (const llvm::StringRef Word = L.isPartial(A)  ? " partial("
                                     : L.isFlat(A)   ? " flat("
                                     : L.isSingle(A) ? " single("
                                                     : "";
        !Word.empty())
      OS << Word << getName(A) << ')';
  return Text;
}

void Summary::addLayouts() {
  FigureTable T{"layouts",
                "dimensions, and the axes that split them",
                columns({{FigureUnit::Text, "tensor layout"}}),
                {}};
  // Leaves out gradients and recomputed values, as they have the same layouts.
  for (const auto &[Index, Layers] : layersByBlock(P->Layers)) {
    const Block &B = P->Blocks[BlockId(Index)];
    llvm::SmallBitVector IsAgain(static_cast<unsigned>(B.Values.size()));
    for (const Op &O : B.Ops)
      if (O.Phase != Phase::Forward)
        for (const ValueId V : O.Results)
          IsAgain.set(V.Index);
    for (unsigned I = 0; I < B.Values.size(); ++I)
      if (const Value &V = B.Values[ValueId(I)];
          !IsAgain[I] && V.Kind != ValueKind::Gradient)
        T.Rows.push_back(
            {{B.Name + "/" + V.Name}, {layoutOf(P->Spec, V.Type, V.Layout)}});
  }
  add(std::move(T));
}

Figures diff::summarize(JobFigures &Of, FactSet Facts) {
  Summary Made(Of);
  auto AddIf = [&](FactSet Needs, void (Summary::*Add)()) {
    if (Facts.contains(Needs))
      (Made.*Add)();
  };
  AddIf({Fact::Totalled}, &Summary::addMost);
  AddIf({Fact::Complete}, &Summary::addGroups);
  AddIf({Fact::Stages}, &Summary::addLayers);
  if (Facts.contains(Fact::Totalled)) {
    Made.add(makeStageTable(Of));
    Made.add(makeMessageTable(Of.scope()));
  }
  if (Facts.contains(Fact::Totals))
    Made.add(makeBlockTable(Of.scope()));
  AddIf({Fact::Blocks}, &Summary::addOps);
  AddIf({Fact::Sync}, &Summary::addSteps);
  AddIf({Fact::Layouts}, &Summary::addLayouts);
  return Made.finish();
}

Figures diff::listText(const Program &P) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  print(P, OS);
  // The spec, which comes first, is compared key by key.
  const llvm::StringRef Rest = llvm::StringRef(OS.str()).split("\nmesh").second;
  llvm::MapVector<llvm::StringRef, int64_t, std::map<llvm::StringRef, unsigned>>
      Times;
  for (const llvm::StringRef Line : llvm::split(Rest, '\n'))
    if (!Line.trim().empty())
      ++Times[Line.trim()];
  FigureTable T{"text",
                "lines of the text of the IR",
                {{"line", FigureUnit::Text}, {"times", FigureUnit::Count}},
                {}};
  for (const auto &[Line, Count] : Times)
    T.Rows.push_back({{Line.str()}, {Count}});
  Figures F{"foretrace.text/1", {}, {}, {}, {}};
  F.Tables.push_back(std::move(T));
  return F;
}
