// SPDX-License-Identifier: Apache-2.0
#include "tools/diff/Summary.h"
#include "analysis/Figures.h"
#include "analysis/LayerCounts.h"
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
  void addStages();
  void addMessages();
  void addBlocks();
  void addOps();
  void addSteps();
  void addLayouts();
  Figures finish() {
    F.Sizes = P.Sizes;
    return std::move(F);
  }

private:
  Figure figure(ExprId Of) const;

  ExprScope P;
  JobFigures &Of;
  Figures F{"foretrace.summary/1", {}, {}, {}, {}};
};

} // namespace

Figure Summary::figure(ExprId Of) const {
  if (!Of.isValid())
    return Figure(int64_t(0));
  if (P.Sizes.value(Of) == NoValue)
    return Figure("beyond 2^63");
  return {P.Sizes, Of};
}

template <typename T> static std::string toText(const T &Of) {
  std::string Text;
  llvm::raw_string_ostream(Text) << Of;
  return Text;
}

void Summary::addMost() {
  auto Add = [&](FigureId Id) {
    const FigureInfo &Info = getInfo(Id);
    if (const std::optional<Expr> Is = Of.of(Id))
      F.Named.push_back({Info.Name, Info.Name, Info.Unit, figure(*Is)});
  };
#define STAGE_FIGURE(ENUMERATOR, ...) Add(FigureId::ENUMERATOR);
#include "analysis/Figures.def"
#define JOB_FIGURE(ENUMERATOR, ...) Add(FigureId::ENUMERATOR);
#include "analysis/Figures.def"
}

void Summary::addGroups() {
  FigureTable T{"groups",
                "groups of ranks",
                {{"group", FigureUnit::Text}, {"ranks", FigureUnit::Count}},
                {}};
  for (const ProcessGroup &G : allProcessGroups())
    if (G.Group.size(P->Mesh) > 1 && G.IsUsed(P->Spec))
      T.Rows.push_back({{G.Name.str()}, figure(sizeOf(P, G.Group))});
  F.Tables.push_back(std::move(T));
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
                {{"stages", FigureUnit::Text}, {"layers", FigureUnit::Text}},
                {}};
  for (const Stage &S : P->Stages)
    T.Rows.push_back({{nameOf(S)}, {layersOf(P, S)}});
  F.Tables.push_back(std::move(T));
}

void Summary::addStages() {
  FigureTable T{
      "stages", "per rank of a stage", {{"stages", FigureUnit::Text}}, {}};
#define STAGE_FIGURE(ENUMERATOR, NAME, UNIT, ...)                              \
  T.Columns.push_back({NAME, UNIT});
#include "analysis/Figures.def"
  for (const Stage &S : P->Stages) {
    auto &Row = T.Rows.emplace_back(std::vector<Figure>{{nameOf(S)}});
#define STAGE_FIGURE(ENUMERATOR, ...)                                          \
  Row.push_back(figure(Of.of(FigureId::ENUMERATOR, S)));
#include "analysis/Figures.def"
  }
  F.Tables.push_back(std::move(T));
}

void Summary::addMessages() {
  FigureTable T{"messages",
                "messages per rank of a stage and iteration",
                {{"stages", FigureUnit::Text},
                 {"group", FigureUnit::Text},
                 {"messages", FigureUnit::Bytes}},
                {}};
  for (const Stage &S : P->Stages)
    for (const GroupBytes &G : S.Totals.Messages)
      T.Rows.push_back(
          {{nameOf(S)}, {textOf(G.Of, P->Spec, P->Mesh)}, figure(G.Size.Id)});
  F.Tables.push_back(std::move(T));
}

void Summary::addBlocks() {
  FigureTable T{"blocks",
                "per layer, rank and micro-batch",
                {{"block", FigureUnit::Text}, {"layers", FigureUnit::Count}},
                {}};
#define TOTAL(MEMBER, TYPE, WORD, DOC)                                         \
  T.Columns.push_back({WORD, unitOf(TYPE())});
#include "ir/model/Totals.def"
  for (const auto &[Index, Layers] : layersByBlock(P->Layers)) {
    const Block &B = P->Blocks[BlockId(Index)];
    auto &Row = T.Rows.emplace_back(std::vector<Figure>{{B.Name}, {Layers}});
#define TOTAL(MEMBER, TYPE, WORD, DOC)                                         \
  Row.push_back(figure(B.Totals.MEMBER.Id));
#include "ir/model/Totals.def"
  }
  F.Tables.push_back(std::move(T));
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
  FigureTable T{"ops",
                "ops of a layer",
                {{"block", FigureUnit::Text},
                 {"op", FigureUnit::Text},
                 {"times", FigureUnit::Count}},
                {}};
  for (const auto &[Index, Layers] : layersByBlock(P->Layers)) {
    const Block &B = P->Blocks[BlockId(Index)];
    for (const auto &[Of, Times] : countOps(B))
      T.Rows.push_back({{B.Name}, {Of}, {Times}});
  }
  F.Tables.push_back(std::move(T));
}

void Summary::addSteps() {
  FigureTable T{"steps",
                "ops of a stage, once per iteration",
                {{"stages", FigureUnit::Text},
                 {"op", FigureUnit::Text},
                 {"times", FigureUnit::Count}},
                {}};
  for (const Stage &S : P->Stages)
    for (const auto &[Of, Times] : countOps(P->Blocks[S.Step]))
      T.Rows.push_back({{nameOf(S)}, {Of}, {Times}});
  F.Tables.push_back(std::move(T));
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
                {{"tensor", FigureUnit::Text}, {"layout", FigureUnit::Text}},
                {}};
  // Gradients lie as what they are of, as does what is computed again.
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
  F.Tables.push_back(std::move(T));
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
  AddIf({Fact::Totalled}, &Summary::addStages);
  AddIf({Fact::Totalled}, &Summary::addMessages);
  AddIf({Fact::Totals}, &Summary::addBlocks);
  AddIf({Fact::Blocks}, &Summary::addOps);
  AddIf({Fact::Sync}, &Summary::addSteps);
  AddIf({Fact::Layouts}, &Summary::addLayouts);
  return Made.finish();
}

Figures diff::listText(const Program &P) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  print(P, OS);
  // The spec, which stands first, is compared key by key.
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
