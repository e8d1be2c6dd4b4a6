// SPDX-License-Identifier: Apache-2.0
#include "backends/params/Params.h"
#include "analysis/LayerCounts.h"
#include "analysis/Parameters.h"
#include "ir/model/OpKinds.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::option;
using namespace foretrace::params;

static constexpr llvm::StringRef Subjects[] = {"model", "stage"};
using SubjectWord = WordOf<Subjects>;

llvm::ArrayRef<EmitOption> params::optionTable() {
  static constexpr EmitOption Table[] = {
#define OPTION(...) EMIT_OPTION(__VA_ARGS__)
#include "backends/params/Options.def"
  };
  return Table;
}

params::Options params::readOptions(const EmitSpec &Emit,
                                    DiagnosticEngine &Diags) {
  return readEmitOptions<Options>(Emit, optionTable(), Diags);
}

FactSet params::needs(const Options &O) {
  return {O.By == CountOf::Model ? Fact::Totals : Fact::Totalled};
}

namespace {

/// Of parameters, all and those that a token goes through.
struct Count {
  Expr All, Activated;

  void operator+=(Count More) {
    All += More.All;
    Activated += More.Activated;
  }
};

class Counter {
public:
  explicit Counter(const Program &Of) : P(Of) {}

  /// Of the model. Its sum may have no value, then nothing else holds.
  Count all();
  FigureTable blocks();
  FigureTable parts();
  FigureTable stages();
  /// Of all ranks together.
  __int128 stored() const;
  /// What tokens do not go through, but only look up: a table that is the
  /// output head's, too, is no such.
  Expr lookedUp();

  Figure figure(ExprId Of) const { return Figure(P.Sizes, Of); }
  ExprTable takeSizes() { return std::move(P.Sizes); }

private:
  template <typename FillT> void eachBlock(FillT Fill);
  Count none() { return {numberOf(P, 0), numberOf(P, 0)}; }
  int64_t ranksOfStage() const {
    return *P->Spec.Parallel.World / P->Schedule.Stages;
  }

  ExprOverlay P;
};

} // namespace

/// Calls \p Fill with each kind of layer, and how many there are.
template <typename FillT> void Counter::eachBlock(FillT Fill) {
  for (const auto &[Index, Layers] : layersByBlock(P->Layers))
    Fill(P->Blocks[BlockId(Index)], Layers);
}

Count Counter::all() {
  Count Sum = none();
  eachBlock([&](const Block &B, int64_t Layers) {
    Sum += {Expr(P.Sizes, B.Totals.Published.Id) * Layers,
            Expr(P.Sizes, B.Totals.Activated.Id) * Layers};
  });
  return Sum;
}

static bool isLookedUp(const Block &B, ValueId Table) {
  return llvm::any_of(B.Ops, [&](const Op &O) {
    return O.Kind == OpKind::Embed && O.Phase == Phase::Forward &&
           llvm::is_contained(O.Operands, Table);
  });
}

Expr Counter::lookedUp() {
  Expr Sum = numberOf(P, 0);
  eachBlock([&](const Block &B, int64_t Layers) {
    for (const auto &[I, V] : llvm::enumerate(B.Values)) {
      const bool IsHead =
          *P->Spec.Model.Tied && V.Type.indexOf(DimKind::Vocab) >= 0;
      if (V.Kind == ValueKind::Param && !IsHead &&
          isLookedUp(B, ValueId(static_cast<unsigned>(I))))
        Sum += publishedSize(P, V) * Layers;
    }
  });
  return Sum;
}

FigureTable Counter::blocks() {
  FigureTable T{"blocks",
                "a layer of each kind",
                {{"block", FigureUnit::Text},
                 {"layers", FigureUnit::Count},
                 {"parameters", FigureUnit::Count},
                 {"activated", FigureUnit::Count}},
                {}};
  eachBlock([&](const Block &B, int64_t Layers) {
    T.Rows.push_back({{B.Name},
                      {Layers},
                      figure(B.Totals.Published.Id),
                      figure(B.Totals.Activated.Id)});
  });
  return T;
}

static llvm::StringRef partOf(const Value &V) {
#define PART(DIM, NAME)                                                        \
  if (V.Type.indexOf(DimKind::DIM) >= 0)                                       \
    return NAME;
#include "backends/params/Parts.def"
  llvm_unreachable("every parameter has a dimension of the model");
}

FigureTable Counter::parts() {
  llvm::MapVector<llvm::StringRef, Count> Parts;
  eachBlock([&](const Block &B, int64_t Layers) {
    for (const Value &V : B.Values)
      if (isStored(V, TiedHead::BesideEmbedding))
        Parts.try_emplace(partOf(V), none()).first->second +=
            {publishedSize(P, V) * Layers, activatedSize(P, B, V) * Layers};
  });
  FigureTable T{"parts",
                "of all layers",
                {{"part", FigureUnit::Text},
                 {"parameters", FigureUnit::Count},
                 {"activated", FigureUnit::Count}},
                {}};
  for (const auto &[Name, Of] : Parts)
    T.Rows.push_back({{Name.str()}, figure(Of.All), figure(Of.Activated)});
  return T;
}

FigureTable Counter::stages() {
  FigureTable T{"stages",
                "a stage, and each rank of it",
                {{"stages", FigureUnit::Text},
                 {"published", FigureUnit::Count},
                 {"ranks", FigureUnit::Count},
                 {"on_rank", FigureUnit::Count}},
                {}};
  for (const Stage &S : P->Stages) {
    __int128 Sum = 0; // of both ways of a stage it may be beyond 2^63
    Expr Published = numberOf(P, 0);
    for (const auto &[Index, Layers] : layersByBlock(S)) {
      const Expr Each(P.Sizes, P->Blocks[BlockId(Index)].Totals.Published.Id);
      Sum += __int128(Each.value()) * Layers;
      Published += Each * Layers;
    }
    T.Rows.push_back({{nameOf(S)},
                      {Sum, Published},
                      {ranksOfStage()},
                      figure(S.Totals.Parameters.Id)});
  }
  return T;
}

__int128 Counter::stored() const {
  __int128 Sum = 0;
  for (const Stage &S : P->Stages)
    Sum += __int128(P.Sizes.value(S.Totals.Parameters.Id)) * ranksOfStage() *
           S.Count;
  return Sum;
}

static std::vector<std::string> notesOf(const Options &O) {
  std::vector<std::string> Notes = {
      "As published: without rows that pad the vocabulary, a tied embedding "
      "once. Activated: what one token goes through, top-k of the routed "
      "experts."};
  if (O.By == CountOf::Stage)
    Notes.push_back("On a rank: as stored, with padding and with the copy of a "
                    "tied embedding; with ZeRO 3 its share.");
  return Notes;
}

bool params::check(const EmitRequest &Request, const Options &,
                   DiagnosticEngine &Diags) {
  if (Counter(Request.Program).all().All.hasValue())
    return true;
  Diags.report(Request.Program.Spec.Model.LayersRange, diag::SizeOverflow,
               "the number of parameters");
  return false;
}

Figures params::figures(const EmitRequest &Request, const Options &O) {
  Counter Of(Request.Program);
  Figures F{"foretrace.params/1", {}, {}, notesOf(O), {}};
  auto Add = [&](llvm::StringLiteral Key, const char *Title, Figure Value) {
    F.Named.push_back({Key, Title, FigureUnit::Count, std::move(Value)});
  };
  const auto [All, Activated] = Of.all();
  Add("parameters", "parameters", Of.figure(All));
  Add("activated", "activated", Of.figure(Activated));
  const Expr Rest = Activated + Of.lookedUp() * -1;
  Add("activated_without_lookup", "activated, without what is only looked up",
      Of.figure(Rest));
  if (O.By == CountOf::Stage) {
    Add("stored", "stored by all ranks", Of.stored());
    F.Tables = {Of.stages()};
  } else {
    F.Tables = {Of.blocks(), Of.parts()};
  }
  F.Sizes = Of.takeSizes();
  return F;
}

llvm::Error params::emit(const EmitRequest &Request, const Options &O,
                         OutputSet &Out) {
  return addFigures(Request, O.File, "params", O.Format, figures(Request, O),
                    Out);
}
