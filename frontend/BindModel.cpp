// SPDX-License-Identifier: Apache-2.0
//
// Binds the model: which one, what it inherits, its blocks and layers.
#include "frontend/Bind.h"
#include "frontend/Pattern.h"
#include "lang/DidYouMean.h"
#include "lang/ShippedLayers.h"
#include "lang/diagnostics/Frontend.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;

const Job::Declared *Binder::findModel(const ast::Word &Name) {
  llvm::SmallVector<llvm::StringRef> Names;
  // The nearest declaration wins: the main file comes last.
  for (const Job::Declared &M : llvm::reverse(TheJob.Models)) {
    Names.push_back(M.Section->Label.Text);
    if (Names.back() == Name.Text)
      return &M;
  }
  suggest(Diags.report(Name.Range, diag::UnknownModel, Name.Text), Name.Range,
          Name.Text, Names);
  return nullptr;
}

/// Returns the models of the main file; if it has none, those of the files it
/// imports, and so on. The base of a library model is no rival of it.
static std::vector<const Job::Declared *> findNearest(const Job &J) {
  std::vector<JobFile::Import> Files = {{J.Main, ""}};
  std::vector<const Job::Declared *> Found;
  llvm::SmallPtrSet<const JobFile *, 8> Seen;
  while (Found.empty() && !Files.empty()) {
    std::vector<JobFile::Import> Imported;
    for (const Job::Declared &M : J.Models)
      if (llvm::any_of(Files, [&](const JobFile::Import &I) {
            return I.File == M.Home &&
                   (I.Model.empty() || I.Model == M.Section->Label.Text);
          }))
        Found.push_back(&M);
    for (const JobFile::Import &File : Files)
      if (Seen.insert(File.File).second)
        llvm::append_range(Imported, File.File->Imports);
    Files = std::move(Imported);
  }
  // A section that was merely taken for a model doesn't compete with one.
  auto IsTaken = [](const Job::Declared *M) {
    return M->Section->Keyword.Text != "model";
  };
  if (!llvm::all_of(Found, IsTaken))
    llvm::erase_if(Found, IsTaken);
  return Found;
}

const Job::Declared *Binder::chooseModel() {
  if (const Field *F = TheJob.Train.findField("model")) {
    std::optional<ExprValue> V =
        Eval.evaluate(*F->Value, *F->Names, Words::Any);
    const std::string *Name = V ? V->asText() : nullptr;
    if (V && !Name)
      Diags.report(V->Range, diag::WrongType, "model", describe(*V),
                   "the name of a model");
    return Name ? findModel({*Name, F->Value->Range}) : nullptr;
  }
  std::vector<const Job::Declared *> Candidates = findNearest(TheJob);
  if (Candidates.size() == 1)
    return Candidates.front();
  if (Candidates.empty()) {
    reportMissing(diag::NoModel);
    return nullptr;
  }
  DiagnosticBuilder B = Diags.report(Candidates.back()->Section->Label.Range,
                                     diag::AmbiguousModel, Candidates.size());
  for (const Job::Declared *M : Candidates)
    B.note(M->Section->Label.Range, diag::DeclaredHere, M->Section->Label.Text);
  return nullptr;
}

bool Binder::mergeModel(const Job::Declared &M, Body &Into,
                        std::vector<const Job::Declared *> &Chain) {
  const ast::Section &S = *M.Section;
  if (llvm::is_contained(Chain, &M)) {
    DiagnosticBuilder B = Diags.report(Chain.back()->Section->Base.Range,
                                       diag::InheritanceCycle, S.Label.Text);
    for (const Job::Declared *Link : Chain)
      B.note(Link->Section->Label.Range, diag::DeclaredHere,
             Link->Section->Label.Text);
    return false;
  }
  constexpr size_t MaxBases = 100;
  if (Chain.size() > MaxBases) {
    Diags.report(Chain.back()->Section->Base.Range, diag::BaseDepth,
                 Chain.front()->Section->Label.Text, MaxBases);
    return false;
  }
  Chain.push_back(&M);
  if (!S.Base.Text.empty()) {
    const Job::Declared *Base = findModel(S.Base);
    if (!Base || !mergeModel(*Base, Into, Chain))
      return false;
  }
  Bodies.merge(Into, S, M.Home->Names);
  return true;
}

/// Lays the attention and ffn sections of \p B over \p Out.
void Binder::bindParts(const Body &B, ir::BlockSpec &Out) {
  if (const Body *A = B.findSection("attention"))
    bindLayer(*A, Out.Mixer);
  if (const Body *F = B.findSection("ffn"))
    bindLayer(*F, Out.Network);
}

/// Reports what the layers of a block lack. \p Written are the sections that
/// may have stated it.
void Binder::checkParts(const ast::Word &Name, const ir::BlockSpec &Out,
                        llvm::ArrayRef<const Body *> Written) {
  checkLayerKeys(Out.Network, "ffn", Written);
  if (Out.Mixer.Is)
    return checkLayerKeys(Out.Mixer, "attention", Written);
  llvm::SmallVector<const Body *, 2> Attentions;
  for (const Body *B : Written)
    if (const Body *A = B->findSection("attention"))
      Attentions.push_back(A);
  if (Attentions.empty())
    Diags.report(Name.Range, diag::MissingSection, "attention",
                 "attention gqa { heads = 32  kv_heads = 8 }");
  else if (llvm::all_of(Attentions,
                        [](const Body *A) { return A->Label.Text.empty(); }))
    Diags.report(Attentions.back()->Keyword.Range, diag::MissingLabel,
                 "attention", "one of " + joinWords(layerNames("attention")));
}

/// Renames misspelt sections, which were reported, to what they meant, so that
/// nothing is reported as missing.
static void correctSections(Body &B, llvm::ArrayRef<llvm::StringRef> Sections) {
  for (Body &Sub : B.Sections)
    if (!llvm::is_contained(Sections, Sub.Keyword.Text))
      if (llvm::StringRef Meant = guessSection(Sub.Keyword.Text, Sections);
          !Meant.empty())
        Sub.Keyword.Text = Meant.str();
}

void Binder::bindBlock(Body &B, const Body &Model, ir::BlockSpec &Out) {
  static constexpr llvm::StringRef Parts[] = {"attention", "ffn"};
  Body Own; // the other keys belong to layers
  const std::vector<llvm::StringRef> Names = keyNames<ir::BlockSpec>();
  llvm::copy_if(B.Fields, std::back_inserter(Own.Fields), [&](const Field &F) {
    return llvm::is_contained(Names, F.Key.Text);
  });
  Own.Keyword = B.Keyword;
  Own.Sections = B.Sections;
  bindKeys(Own, Out, {}, Parts);
  correctSections(B, Parts);
  bindParts(B, Out);
  bindBlockKeys(B, Out);
  checkParts(B.Label, Out, {&Model, &B});
}

/// Warns of a key given with -D for all blocks that each states for itself.
void Binder::reportHidden(const Body &Model) {
  if (llvm::none_of(Model.Sections,
                    [](const Body &B) { return B.Keyword.Text == "block"; }))
    return;
  for (const Body &Common : Model.Sections)
    for (const Field &F : Common.Fields) {
      auto States = [&](const Body &B) {
        const Body *Own = B.findSection(Common.Keyword.Text);
        return B.Keyword.Text != "block" || (Own && Own->findField(F.Key.Text));
      };
      if (F.IsGiven && Common.Keyword.Text != "block" &&
          llvm::all_of(Model.Sections, States))
        Diags.report(F.Key.Range, diag::KeyWithoutEffect, F.Key.Text,
                     "where each block states it");
    }
}

/// Adds the blocks with their names, which the pattern of layers uses.
void Binder::declareBlocks(const Body &Model, ir::ModelSpec &M) {
  for (const Body &B : Model.Sections) {
    if (B.Keyword.Text != "block")
      continue;
    if (M.Blocks.size() == MaxBlocks) {
      Diags.report(B.Keyword.Range, diag::EntryLimit,
                   "the list of `block` sections", MaxBlocks);
      break;
    }
    ir::BlockSpec &Out = M.Blocks.emplace_back();
    Out.Name = B.Label.Text;
    Out.Range = B.Label.Range;
    if (Out.Name.empty())
      Diags.report(B.Keyword.Range, diag::MissingLabel, "block", "a name");
    if (Out.Name == "embedding" || Out.Name == "head")
      Diags.report(Out.Range, diag::ReservedBlock, Out.Name);
    if (const Field *Symbol = B.findField("symbol"))
      Reader.read(*Symbol, "Text", Out.Symbol);
  }
  if (!M.Blocks.empty())
    return;
  M.Blocks.emplace_back().Name = ir::BlockSpec::Implicit;
  M.Blocks.back().Range = Model.Label.Range;
}

/// The layers of a list of patterns, one after the other.
std::optional<PatternValue>
Binder::concatenate(llvm::ArrayRef<ExprValue> Patterns) {
  PatternValue All;
  for (const ExprValue &Each : Patterns) {
    const auto *P = Each.getIf<PatternValue>();
    if (!P) {
      Diags.report(Each.Range, diag::WrongType, "layers", describe(Each),
                   "a block");
      return std::nullopt;
    }
    All = foretrace::concatenate(std::move(All), *P);
  }
  return All;
}

/// Evaluates the pattern \p F, in which the blocks of \p M have their names; a
/// number of layers is nothing else.
std::optional<ExprValue> Binder::evaluatePattern(const Field &F,
                                                 const ir::ModelSpec &M) {
  Scope Names(F.Names);
  Names.explainUnknown(diag::DeclareBlock);
  for (auto [Index, B] : llvm::enumerate(M.Blocks))
    Names.give({B.Name, B.Range},
               {makePattern(static_cast<unsigned>(Index), B.Range),
                Dimension::Count, B.Range});
  std::optional<ExprValue> V = Eval.evaluate(*F.Value, Names);
  const auto *List = V ? V->getIf<ListValue>() : nullptr;
  if (!List)
    return V;
  if (List->Elements.empty()) {
    Diags.report(V->Range, diag::NotPositive, "a layer count", 0);
    return std::nullopt;
  }
  std::optional<PatternValue> All = concatenate(List->Elements);
  if (!All)
    return std::nullopt;
  V->Data = std::move(*All);
  return V;
}

void Binder::bindLayers(const Body &Model, ir::ModelSpec &M) {
  const Field *F = Model.findField("layers");
  if (!F) {
    if (!hasOrMeant(Model, "layers", "model",
                    keyNames<ir::ModelSpec>({"layers"})))
      Diags.report(Model.Label.Range, diag::MissingKey, "model", "layers",
                   M.Blocks.size() == 1 ? "32" : "8 * " + M.Blocks[0].Name);
    return;
  }
  std::optional<ExprValue> V = evaluatePattern(*F, M);
  if (!V)
    return;
  M.LayersRange = F->Value->Range;
  if (const std::string *Symbols = V->getIf<std::string>()) {
    auto [Main, Branches] = llvm::StringRef(*Symbols).split('/');
    M.Layers = parsePattern(Main, M, M.LayersRange, &StagesOfPattern, Diags);
    if (Main.size() < Symbols->size())
      for (const llvm::StringRef Each : llvm::split(Branches, '/'))
        BranchesOfPattern.push_back(Each.str());
    return;
  }
  const auto *P = V->getIf<PatternValue>();
  if (!P) {
    std::optional<int64_t> Count = Reader.checkNumber("layers", "Int", *V);
    if (!Count)
      return;
    if (M.Blocks.size() > 1) {
      Diags.report(V->Range, diag::LayersNeedBlock, *Count,
                   std::to_string(M.Blocks.size()) + " blocks",
                   M.Blocks[0].Name);
      return;
    }
    M.Layers.push_back({1, {{0, *Count}}, M.LayersRange});
    return;
  }
  if (!countLayers(*P)) {
    Diags.report(V->Range, diag::IntegerOverflow, "layers");
    return;
  }
  M.Layers = *P;
}

/// Warns of blocks that no layer uses, but only of those in \p Declaration: a
/// model that inherits may leave out blocks of its base.
void Binder::reportUnused(const ir::ModelSpec &M, SourceRange Declaration) {
  for (auto [Index, B] : llvm::enumerate(M.Blocks)) {
    auto IsIn = [I = Index](llvm::ArrayRef<ir::LayerRun> Layers) {
      return llvm::any_of(Layers, [I](const ir::LayerRun &R) {
        return llvm::any_of(R.Items, [I](const ir::LayerRun::Item &Item) {
          return Item.Block == I;
        });
      });
    };
    const bool IsUsed =
        IsIn(M.Layers) ||
        (M.Branch && (IsIn(M.Branch->Layers) || M.Branch->Block == Index));
    const bool IsOwn = Declaration.contains(B.Range);
    if (!IsUsed && IsOwn)
      Diags.report(B.Range, diag::UnusedBlock, B.Name);
  }
}

void Binder::bindModel(ir::ModelSpec &M) {
  const Job::Declared *Chosen = chooseModel();
  Body Model;
  std::vector<const Job::Declared *> Chain;
  if (!Chosen || !mergeModel(*Chosen, Model, Chain))
    return;
  for (const Override &O : TheJob.ModelKeys)
    Bodies.override(Model, O);
  M.Name = Model.Label.Text;
  M.Range = Model.Label.Range;
  static constexpr llvm::StringRef Parts[] = {"attention", "ffn", "block",
                                              "branch"};
  bindKeys(Model, M, {"layers"}, Parts);
  correctSections(Model, Parts);
  ast::Word Section = Model.Label;
  Section.Text = "model";
  requireKeys(Section, M, {&Model});
  declareBlocks(Model, M);
  bindLayers(Model, M);
  declareBranch(Model, M);
  bindBlocks(Model, M);
  bindBranch(Model, M);
  if (!M.Layers.empty())
    reportUnused(M, Chosen->Section->Range);
}
