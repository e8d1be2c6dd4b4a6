// SPDX-License-Identifier: Apache-2.0
//
// Binds blocks. Keys can differ from layer to layer: their values use the
// number of the layer, or list one for each layer. Layers of a block that have
// different values are layers of different blocks from here on.
#include "frontend/Bind.h"
#include "frontend/Pattern.h"
#include "lang/ShippedLayers.h"
#include "lang/diagnostics/Frontend.h"
#include "lang/diagnostics/Lang.h"

using namespace foretrace;

/// Returns whether \p Section describes layers.
static bool isOfLayers(const Body &Section) {
  return Section.Keyword.Text == "attention" || Section.Keyword.Text == "ffn";
}

/// Returns whether a key of \p B, or of a layer in it, can differ from layer to
/// layer.
bool Binder::hasNumberedKey(const Body &B) {
  return llvm::any_of(B.Fields,
                      [&](const Field &F) {
                        return F.Key.Text != "symbol" && Reader.isOfLayer(F);
                      }) ||
         arePartsNumbered(B);
}

/// Returns whether the attention or the network of \p Of has such a key.
bool Binder::arePartsNumbered(const Body &Of) {
  return llvm::any_of(Of.Sections, [&](const Body &Sub) {
    return isOfLayers(Sub) && hasNumberedKey(Sub);
  });
}

/// Returns the section of the block \p Of, or null if the model has no blocks.
static Body *findSection(Body &Model, const ir::BlockSpec &Of) {
  const auto Found = llvm::find_if(Model.Sections, [&](const Body &B) {
    return B.Keyword.Text == "block" && B.Label.Range == Of.Range;
  });
  return Found == Model.Sections.end() ? nullptr : &*Found;
}

/// Returns the values of the keys of a block, as text.
static std::string valuesOf(const ir::BlockSpec &B) {
  std::string Text = B.Mixer.Kind + ' ' + B.Network.Kind;
  ir::visitBlock(B, [&](const ir::FieldRow &, const auto &F) {
    Text += F.isPresent() ? '\n' + ir::spell(*F) : "\n-";
  });
  return Text;
}

/// Returns the blocks of all layers, in order; nothing if they are too many.
static std::optional<std::vector<unsigned>> unfold(const ir::ModelSpec &M) {
  std::vector<unsigned> Blocks;
  for (const ir::LayerRun &R : M.Layers)
    for (int64_t N = 0; N < R.Periods; ++N)
      for (const ir::LayerRun::Item &I : R.Items) {
        if (I.Count > static_cast<int64_t>(Binder::MaxNumberedLayers) ||
            Blocks.size() > Binder::MaxNumberedLayers)
          return std::nullopt;
        Blocks.insert(Blocks.end(), static_cast<size_t>(I.Count), I.Block);
      }
  if (Blocks.size() > Binder::MaxNumberedLayers)
    return std::nullopt;
  return Blocks;
}

/// Binds the block \p Out, which has a section in \p Model unless it is the
/// only one.
void Binder::bindBlock(Body &Model, ir::BlockSpec &Out) {
  Out.Network = declare(layerOfRole("ffn"));
  bindParts(Model, Out);
  if (Body *Section = findSection(Model, Out))
    return bindBlock(*Section, Model, Out);
  checkParts(Model.Label, Out, {&Model});
}

/// Blocks that one block becomes, by the values of its keys.
struct Binder::NumberedBlocks {
  ir::BlockSpec Declared; ///< with its name only
  bool AreNumbered;       ///< whether values can differ
  llvm::StringMap<unsigned> ByValues;
  std::vector<ir::BlockSpec> Blocks;
  std::vector<int64_t> First; ///< layer of each
};

/// Binds the block of layer \p Number; returns its index in \p Of.
std::optional<unsigned> Binder::bindNumbered(Body &Model, NumberedBlocks &Of,
                                             Evaluator::LayerNumber Number) {
  if (!Of.AreNumbered && !Of.Blocks.empty())
    return 0;
  const unsigned Before = Diags.errorCount();
  ir::BlockSpec Now = Of.Declared;
  Eval.setLayer(Number);
  bindBlock(Model, Now);
  Eval.setLayer(std::nullopt);
  if (Diags.errorCount() != Before)
    return std::nullopt;
  const auto [Found, IsNew] = Of.ByValues.try_emplace(
      valuesOf(Now), static_cast<unsigned>(Of.Blocks.size()));
  if (IsNew) {
    Of.Blocks.push_back(std::move(Now));
    Of.First.push_back(Number.Is);
  }
  return Found->second;
}

/// Binds blocks whose keys differ from layer to layer.
void Binder::bindNumbered(Body &Model, ir::ModelSpec &M) {
  if (M.Layers.empty())
    return; // and reported
  const std::optional<std::vector<unsigned>> Layers = unfold(M);
  if (!Layers) {
    Diags.report(M.LayersRange, diag::EntryLimit,
                 "the list of layers, whose keys use their number,",
                 MaxNumberedLayers);
    return;
  }
  std::vector<NumberedBlocks> All;
  for (ir::BlockSpec &B : M.Blocks) {
    const Body *Section = findSection(Model, B);
    const bool AreNumbered =
        arePartsNumbered(Model) || (Section && hasNumberedKey(*Section));
    All.push_back({B, AreNumbered, {}, {}, {}});
  }
  std::vector<std::pair<unsigned, unsigned>> Now; // block, and which of its own
  const auto Count = static_cast<int64_t>(Layers->size());
  for (const auto &[Number, Block] : llvm::enumerate(*Layers)) {
    const std::optional<unsigned> Own =
        bindNumbered(Model, All[Block], {static_cast<int64_t>(Number), Count});
    if (!Own)
      return;
    Now.push_back({Block, *Own});
  }
  for (NumberedBlocks &Of : All) // blocks without layers are checked, too
    if (Of.Blocks.empty())
      bindNumbered(Model, Of, {0, Count});
  takeNumbered(All, Now, M);
}

/// Puts the blocks of \p All in the place of those of \p M. A block whose
/// layers differ becomes several, named after the first layer of each.
void Binder::takeNumbered(std::vector<NumberedBlocks> &All,
                          llvm::ArrayRef<std::pair<unsigned, unsigned>> Layers,
                          ir::ModelSpec &M) {
  std::vector<ir::BlockSpec> Blocks;
  std::vector<unsigned> FirstOf;
  auto IsTaken = [&](llvm::StringRef Name) {
    return M.findBlock(Name) ||
           llvm::any_of(Blocks, [&](const auto &B) { return B.Name == Name; });
  };
  for (NumberedBlocks &Of : All) {
    FirstOf.push_back(static_cast<unsigned>(Blocks.size()));
    for (const auto &[I, B] : llvm::enumerate(Of.Blocks)) {
      if (Of.Blocks.size() > 1) {
        B.Symbol = {};
        B.Name += '_' + std::to_string(Of.First[I]);
        while (IsTaken(B.Name))
          B.Name += '_';
      }
      Blocks.push_back(std::move(B));
    }
  }
  if (Blocks.size() > MaxBlocks) {
    Diags.report(M.LayersRange, diag::EntryLimit, "the list of kinds of layers",
                 MaxBlocks);
    return;
  }
  std::vector<unsigned> Sequence;
  for (const auto &[Block, Own] : Layers)
    Sequence.push_back(FirstOf[Block] + Own);
  // A branch continues the last layer of a block.
  if (M.Branch)
    for (ir::LayerRun &R : M.Branch->Layers)
      for (ir::LayerRun::Item &I : R.Items) {
        const auto Last =
            llvm::find_if(llvm::reverse(Layers),
                          [&](const auto &L) { return L.first == I.Block; });
        I.Block = FirstOf[I.Block] + (Last == Layers.rend() ? 0 : Last->second);
      }
  M.Blocks = std::move(Blocks);
  M.Layers = foldLayers(Sequence, M.LayersRange);
}

void Binder::bindBlocks(Body &Model, ir::ModelSpec &M) {
  reportHidden(Model);
  if (arePartsNumbered(Model) ||
      llvm::any_of(Model.Sections, [&](const Body &B) {
        return B.Keyword.Text == "block" && hasNumberedKey(B);
      }))
    return bindNumbered(Model, M);
  for (ir::BlockSpec &B : M.Blocks)
    bindBlock(Model, B);
}
