// SPDX-License-Identifier: Apache-2.0
#include "backends/params/Params.h"
#include "backends/OptionKinds.h"
#include "ir/Parameters.h"
#include "llvm/ADT/MapVector.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::option;

namespace {

struct Counts {
  Elements All;
  Elements Activated;
};

/// The size of a parameter as the model is published, without the rows that
/// pad the vocabulary.
Elements publishedSize(const Spec &S, TensorType T) {
  if (int I = T.indexOf(DimKind::Vocab); I >= 0)
    T.Dims[static_cast<size_t>(I)].Size = *S.Model.Vocab;
  return T.elements();
}

Counts countBlock(const Program &P, const Block &B) {
  Counts C;
  for (const Value &V : B.Values) {
    if (!isStored(V, TiedHead::BesideEmbedding))
      continue;
    Elements Size = publishedSize(P.Spec, V.Type);
    C.All += Size;
    int I = V.Type.indexOf(DimKind::Expert);
    if (I < 0 || Size.isOverflow()) {
      C.Activated += Size;
      continue;
    }
    int64_t Experts = V.Type.Dims[static_cast<size_t>(I)].Size;
    for (const BlockSpec &Spec : P.Spec.Model.Blocks)
      if (Spec.Name == B.Name)
        C.Activated += Size.dividedExactly(Experts) * *Spec.Moe->TopK;
  }
  return C;
}

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

FactSet params::needs(const Options &) { return {Fact::Blocks}; }

bool params::check(const EmitRequest &Request, const Options &,
                   DiagnosticEngine &Diags) {
  Elements Total;
  for (auto [Index, Layers] : countLayers(Request.Program)) {
    const Block &B = Request.Program.Blocks[Request.Program.Blocks.idAt(Index)];
    Total += countBlock(Request.Program, B).All * Layers;
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
  Counts Total;
  std::string Lines;
  llvm::raw_string_ostream OS(Lines);
  for (auto [Index, Layers] : countLayers(P)) {
    const Block &B = P.Blocks[P.Blocks.idAt(Index)];
    Counts One = countBlock(P, B);
    Total.All += One.All * Layers;
    Total.Activated += One.Activated * Layers;
    OS << "parameters " << B.Name << ' ' << One.All.value() << " x " << Layers
       << '\n';
  }
  return Out.add(Request.file(O.File, ".params.txt"),
                 [&](llvm::raw_ostream &FileOS) {
                   FileOS << "parameters: " << Total.All.value() << '\n'
                          << "activated: " << Total.Activated.value() << '\n'
                          << Lines;
                 });
}
