// SPDX-License-Identifier: Apache-2.0
//
// Binds the branch of a model: `branch mtp { depths = 2  layers = "*E" }`, or
// the layers after a `/` in its pattern of layers.
#include "frontend/Bind.h"
#include "frontend/Pattern.h"
#include "lang/ShippedLayers.h"
#include "lang/diagnostics/Frontend.h"
#include "lang/diagnostics/Lang.h"

using namespace foretrace;

/// Binds the layers of the branch, from its section or the model's pattern.
void Binder::bindBranchLayers(const Body *Section, ir::ModelSpec &M) {
  ir::BranchSpec &Out = *M.Branch;
  const Field *F = Section ? Section->findField("layers") : nullptr;
  if (!BranchesOfPattern.empty()) {
    Out.LayersRange = M.LayersRange;
    if (F)
      Diags.report(F->Key.Range, diag::BranchTwice)
          .note(M.LayersRange, diag::DeclaredHere, "layers");
    else
      Out.Layers = parsePattern(BranchesOfPattern.front(), M, M.LayersRange,
                                nullptr, Diags);
    return;
  }
  if (!F) {
    Diags.report(Section->Keyword.Range, diag::MissingKey, "branch", "layers",
                 M.Blocks.front().Name);
    return;
  }
  std::optional<ExprValue> V = evaluatePattern(*F, M);
  if (!V)
    return;
  Out.LayersRange = F->Value->Range;
  if (const std::string *Symbols = V->getIf<std::string>())
    Out.Layers = parsePattern(*Symbols, M, Out.LayersRange, nullptr, Diags);
  else if (const auto *P = V->getIf<PatternValue>())
    Out.Layers = *P;
  else
    Diags.report(V->Range, diag::WrongType, "layers", describe(*V), "a block");
}

/// States as many depths as the pattern of the model has equal parts after `/`.
void Binder::countBranches(ir::ModelSpec &M, ir::LayerUse &Use) {
  if (BranchesOfPattern.empty())
    return;
  Located<int64_t> &Depths = *Use.find<int64_t>("depths");
  const auto Count = static_cast<int64_t>(BranchesOfPattern.size());
  if (!llvm::all_equal(BranchesOfPattern))
    Diags.report(M.LayersRange, diag::BranchesDiffer);
  else if (Depths.isPresent() && *Depths != Count)
    Diags.report(Depths.Range, diag::BranchDepths, *Depths, Count)
        .note(M.LayersRange, diag::DeclaredHere, "layers");
  Depths.state(Count, M.LayersRange);
}

/// Starts the branch before its blocks are renamed (takeNumbered). An engine
/// loads it only to draft tokens.
void Binder::declareBranch(const Body &Model, ir::ModelSpec &M) {
  const Body *Section = Model.findSection("branch");
  if (M.Layers.empty() || (!TheJob.Serves.empty() && !DraftsByBranch) ||
      (!Section && BranchesOfPattern.empty()))
    return;
  M.Branch.emplace();
  bindBranchLayers(Section, M);
}

/// Gives the branch the keys of its layers that concern a block as a whole.
static void inheritKeys(const ir::ModelSpec &M, ir::BlockSpec &Branch,
                        DiagnosticEngine &Diags) {
  auto Inherit = [&](auto ir::BlockSpec::*Key, llvm::StringRef Name) {
    for (const ir::LayerRun &R : M.Branch->Layers)
      for (const ir::LayerRun::Item &I : R.Items) {
        const auto &Of = M.Blocks[I.Block].*Key;
        auto &Mine = Branch.*Key;
        if (Of.isPresent() && Mine.isPresent() && *Of != *Mine)
          Diags.report(Of.Range, diag::BranchKeys, Name);
        else if (Of.isPresent())
          Mine = Of;
      }
  };
  Inherit(&ir::BlockSpec::Recompute, "recompute");
  Inherit(&ir::BlockSpec::OffloadActivations, "offload_activations");
}

void Binder::bindBranch(const Body &Model, ir::ModelSpec &M) {
  if (!M.Branch)
    return;
  const Body *Section = Model.findSection("branch");
  ir::BlockSpec Block;
  ast::Word Kind = Section ? Section->Label : ast::Word();
  const layers::Layer *L = &layerOfRole("branch");
  if (!Kind.Text.empty())
    L = findLayer("branch", Kind.Text);
  if (!L) {
    M.Branch.reset();
    return Reader.reportSpelling(Kind, layerNames("branch"));
  }
  Block.Mixer = declare(*L);
  Block.Name = L->Name.str();
  Block.Range = Block.Mixer.Range =
      Section ? Section->Keyword.Range : M.LayersRange;
  Block.Network = declare(*findShippedLayer("none"));
  Block.Network.Range = Block.Range;
  if (Section) {
    Body Keys = *Section;
    llvm::erase_if(Keys.Fields,
                   [](const Field &F) { return F.Key.Text == "layers"; });
    bindLayerKeys(Keys, Block.Mixer);
  }
  countBranches(M, Block.Mixer);
  inheritKeys(M, Block, Diags);
  if (const ir::BlockSpec *Same = M.findBlock(Block.Name))
    Diags.report(Same->Range, diag::ReservedBlock, Block.Name);
  const auto &Depths = Block.Mixer.number("depths");
  if (!M.Branch->isWithin(Depths.isPresent() ? *Depths : 1))
    Diags.report(M.Branch->LayersRange, diag::EntryLimit,
                 "the list of layers of all depths", ir::BranchSpec::MaxLayers);
  M.Branch->Block = static_cast<unsigned>(M.Blocks.size());
  M.Blocks.push_back(std::move(Block));
}
