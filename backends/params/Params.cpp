// SPDX-License-Identifier: Apache-2.0
#include "backends/params/Params.h"
#include "backends/OptionKinds.h"
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
  Elements Total;
  for (auto [Index, Layers] : countLayers(Request.Program)) {
    const Block &B = Request.Program.Blocks[Request.Program.Blocks.idAt(Index)];
    Total += Request.Program.Sizes.value(B.Totals.Published) * Layers;
  }
  if (!Total.isOverflow())
    return true;
  Diags.report(Request.Program.Spec.Model.LayersRange, diag::SizeOverflow,
               "the number of parameters");
  return false;
}

llvm::Error params::emit(const EmitRequest &Request, const Options &O,
                         OutputSet &Out) {
  const Program &P = Request.Program;
  Elements Total, Activated;
  std::string Lines;
  llvm::raw_string_ostream OS(Lines);
  for (auto [Index, Layers] : countLayers(P)) {
    const Block &B = P.Blocks[P.Blocks.idAt(Index)];
    const Elements One = P.Sizes.value(B.Totals.Published);
    Total += One * Layers;
    Activated += P.Sizes.value(B.Totals.Activated) * Layers;
    OS << "parameters " << B.Name << ' ' << One.value() << " x " << Layers
       << '\n';
  }
  return Out.add(Request.file(O.File, ".params.txt"),
                 [&](llvm::raw_ostream &FileOS) {
                   FileOS << "parameters: " << Total.value() << '\n'
                          << "activated: " << Activated.value() << '\n'
                          << Lines;
                 });
}
