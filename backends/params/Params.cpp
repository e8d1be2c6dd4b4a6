// SPDX-License-Identifier: Apache-2.0
#include "backends/params/Params.h"
#include "backends/OptionKinds.h"
#include "ir/Measure.h"
#include "llvm/ADT/MapVector.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::option;

namespace {

/// Layers by block, in order of first appearance.
llvm::MapVector<unsigned, int64_t> countLayers(const Program &P) {
  llvm::MapVector<unsigned, int64_t> Layers;
  for (const LayerGroup &G : P.Layers)
    for (const BlockRun &R : G.Runs)
      Layers[R.Block.Index] += G.Periods * R.Count;
  return Layers;
}

} // namespace

std::vector<params::Line> params::linesOf(Program &P) {
  std::vector<Line> Lines(2);
  llvm::SmallVector<ExprId, 8> Total, Activated;
  for (auto [Index, Layers] : countLayers(P)) {
    const Block &B = P.Blocks[P.Blocks.idAt(Index)];
    const Expr Times = numberOf(P, Layers);
    auto All = [&](ElementExpr Each) { return Times * Expr(P.Sizes, Each.Id); };
    Total.push_back(All(B.Totals.Published));
    Activated.push_back(All(B.Totals.Activated));
    Lines.push_back({"parameters " + B.Name, B.Totals.Published, Layers});
  }
  Lines[0] = {"parameters", sumOf(P, Total), std::nullopt};
  Lines[1] = {"activated", sumOf(P, Activated), std::nullopt};
  return Lines;
}

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

FactSet params::needs(const Options &) { return {Fact::Totals}; }

bool params::check(const EmitRequest &Request, const Options &,
                   DiagnosticEngine &Diags) {
  Program P = Request.Program;
  if (!P.Sizes.value(linesOf(P).front().Of).isOverflow())
    return true;
  Diags.report(Request.Program.Spec.Model.LayersRange, diag::SizeOverflow,
               "the number of parameters");
  return false;
}

llvm::Error params::emit(const EmitRequest &Request, const Options &O,
                         OutputSet &Out) {
  Program P = Request.Program;
  const std::vector<Line> Lines = linesOf(P);
  return Out.add(Request.file(O.File, ".params.txt"),
                 [&](llvm::raw_ostream &OS) {
                   for (const Line &L : Lines) {
                     OS << L.What << (L.Layers ? " " : ": ")
                        << P.Sizes.value(L.Of).value();
                     if (L.Layers)
                       OS << " x " << *L.Layers;
                     OS << '\n';
                   }
                 });
}
