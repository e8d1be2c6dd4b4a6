// SPDX-License-Identifier: Apache-2.0
//
// The `params` backend: how many parameters the model has, by kind of layer and
// by part; or how many a rank of each stage stores.
#include "analysis/ModelParameters.h"
#include "backends/EmissionOf.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::option;
using namespace foretrace::params;

namespace foretrace::params {

/// Parameters to count.
enum class CountOf : unsigned char { Model, Stage };

struct Options : FigureOptions {
  CountOf By = CountOf::Model;
};

} // namespace foretrace::params

static constexpr llvm::StringRef CountWords[] = {"model", "stage"};
using SubjectWord = WordOf<CountWords>;

constexpr EmitOption params::OptionRows[] = {
#include "backends/params/Options.def"
};
constexpr EmitReader params::Reader = readerOf<Options>(OptionRows);

/// Returns the facts of the model alone, or those of stages if requested.
FactSet params::needs(const Options &O) {
  return {O.By == CountOf::Model ? Fact::Totals : Fact::Totalled};
}

static FigureTable blockTable(ExprScope P) {
  FigureTable T{"blocks",
                "per layer, by kind",
                {{"block", FigureUnit::Text},
                 {"layers", FigureUnit::Count},
                 {"published", FigureUnit::LargeCount, "parameters"},
                 {"activated", FigureUnit::LargeCount}},
                {}};
  for (const auto &[Index, Layers] : layersByBlock(P->Layers)) {
    const Block &B = P->Blocks[BlockId(Index)];
    T.Rows.push_back({{B.Name},
                      {Layers},
                      {P.Sizes, B.Totals.Published.Id},
                      {P.Sizes, B.Totals.Activated.Id}});
  }
  return T;
}

static FigureTable partTable(ExprScope P) {
  FigureTable T{"parts",
                "all layers, by part",
                {{"part", FigureUnit::Text},
                 {"published", FigureUnit::LargeCount, "parameters"},
                 {"activated", FigureUnit::LargeCount}},
                {}};
  for (const PartParameters &Part : parametersByPart(P))
    T.Rows.push_back(
        {{Part.Part.str()}, {P.Sizes, Part.Of.All}, {P.Sizes, Part.Of.Active}});
  return T;
}

static FigureTable stageTable(ExprScope P) {
  FigureTable T{"stages",
                "per stage, and per rank of it",
                {{"stages", FigureUnit::Text},
                 {"published", FigureUnit::LargeCount},
                 {"ranks", FigureUnit::Count},
                 {"parameters", FigureUnit::LargeCount, "on_rank"}},
                {}};
  for (const Stage &S : P->Stages) {
    const StageParameters Of = publishedOf(P, S);
    T.Rows.push_back({stagesOf(S),
                      {Of.Published, Of.From},
                      {ranksOfStage(P)},
                      {P.Sizes, S.Totals.Parameters.Id}});
  }
  return T;
}

static std::vector<std::string> notesOf(const Options &O) {
  std::vector<std::string> Notes = {
      "Counted as published: without vocabulary padding, and a tied embedding "
      "once. Active parameters are those that one token uses, with top-k of "
      "the routed experts."};
  if (O.By == CountOf::Stage)
    Notes.push_back("Per rank: as stored, with padding and with the copy of a "
                    "tied embedding; with ZeRO 3 its shard.");
  return Notes;
}

bool params::check(const EmitRequest &Request, const Options &,
                   DiagnosticEngine &Diags) {
  ExprOverlay P(Request.Program);
  const ParameterCount Of = modelParameters(P);
  if (Of.All.hasValue() && Of.Active.hasValue())
    return true;
  Diags.report(Request.Program.Spec.Model.LayersRange, diag::SizeOverflow,
               "the number of parameters");
  return false;
}

/// Writes `parameters: N` and `activated: N` (a token meets top-k of the routed
/// experts) first. Counts the model as published: without vocabulary padding, a
/// tied embedding once.
Figures params::figures(const EmitRequest &Request, const Options &O) {
  ExprOverlay P(Request.Program);
  Figures F{"foretrace.params/2", {}, {}, notesOf(O), {}};
  auto Add = [&](llvm::StringLiteral Key, const char *Title, Figure Value) {
    F.Named.push_back({Key, Title, FigureUnit::LargeCount, std::move(Value)});
  };
  const ParameterCount Of = modelParameters(P);
  Add("published", "parameters", {P.Sizes, Of.All});
  Add("activated", "active parameters", {P.Sizes, Of.Active});
  Add("activated_without_lookup", "active parameters without lookup tables",
      {P.Sizes, Of.Active + lookedUpParameters(P) * -1});
  if (O.By == CountOf::Stage) {
    Add("stored", "stored by all ranks", storedParameters(P));
    F.Tables = {stageTable(P)};
  } else {
    F.Tables = {blockTable(P), partTable(P)};
  }
  F.Sizes = std::move(P.Sizes);
  return F;
}
