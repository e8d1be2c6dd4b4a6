// SPDX-License-Identifier: Apache-2.0
//
// Sections to the structs of ir/model/Spec.h, key by key by the tables of
// ir/model/Spec.def. Binds everything that can be bound; errors are reported
// where they stand and leave their member absent. Private to the frontend.
#pragma once

#include "frontend/Defaults.h"
#include "frontend/Import.h"
#include "frontend/Keys.h"
#include "ir/model/Routing.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"

namespace foretrace {

/// The top of a job, gathered over all its files.
struct Job {
  /// A section and the file that contains it.
  struct Declared {
    const ast::Section *Section;
    const JobFile *Home;
  };
  std::vector<Declared> Models; ///< imported ones first
  /// Dimensions that the files declare.
  std::vector<const ast::Dim *> Dims;
  /// Kinds of layers that the files define.
  std::vector<const layers::Layer *> Layers;
  Body Train, Parallel, Requests, Cost, Cluster;
  std::vector<Body> Serves;        ///< by name
  std::vector<Override> ModelKeys; ///< for the chosen model
  std::vector<Declared> Emits;     ///< of the main file
  const JobFile *Main = nullptr;
  bool IsComplete = true; ///< no import failed, so nothing is unseen
  /// Whether training and parallelism are optional; may be empty.
  std::function<bool(llvm::ArrayRef<ir::EmitSpec>)> IsOfModel;
  bool OnlyModel = false; ///< other keys than the model's are ignored
  std::string Pool; ///< name of the `serve` section to compile; may be empty
  /// Name of a job that is a model, whose missing keys are assumed.
  std::string ModelName;
  SourceRange Start; ///< where a missing section is reported
};

/// Adds a kind of layer to \p J; its name must be new.
void addLayer(Job &J, const layers::Layer &L, DiagnosticEngine &Diags);

/// Adds a dimension to \p J; its name must be new.
void addDim(Job &J, const ast::Dim &D, DiagnosticEngine &Diags);

/// Finds the `serve` section of that name, or makes it.
Body &serveOf(Job &J, llvm::StringRef Name);
/// Lays \p O over the `serve` section that it names, or over all: `-D
/// serve.decode.replicas=4`, `-D serve.replicas=4`.
void overrideServe(Job &J, const Override &O, BodyBuilder &Bodies);
/// `-D parallel.tp=4` is stronger than a `tp` in the `parallel` of `serve`;
/// does nothing for other sections.
void overrideOwnParallel(Job &J, const Override &O, BodyBuilder &Bodies);

/// Binds one job.
class Binder {
public:
  Binder(const Job &J, ImportGraph &Files, BodyBuilder &Bodies, Evaluator &Eval,
         DiagnosticEngine &Diags)
      : TheJob(J), Files(Files), Bodies(Bodies), Eval(Eval), Diags(Diags),
        Reader(Eval, Diags) {}

  /// Kinds of layers; no model has as many.
  static constexpr size_t MaxBlocks = 256;
  /// Layers of a model whose keys use their number.
  static constexpr size_t MaxNumberedLayers = 4096;

  /// Returns the keys of `train` or `parallel`; none of another section.
  static std::vector<llvm::StringRef> keysOf(llvm::StringRef Section);
  /// The spec, complete if nothing was reported.
  ir::Spec bind();
  /// The cluster alone, if there is one.
  std::optional<ir::ClusterSpec> bindCluster();
  /// Evaluates the fields of \p B.
  ir::Attribute toAttribute(const Body &B);

private:
  template <typename SpecT>
  void bindKeys(const Body &B, SpecT &Out,
                llvm::ArrayRef<llvm::StringRef> OtherKeys = {},
                llvm::ArrayRef<llvm::StringRef> Sections = {});
  template <typename SpecT>
  void requireKeys(const ast::Word &Section, const SpecT &Out,
                   llvm::ArrayRef<const Body *> Written);
  template <typename SpecT> void publishKeys(const SpecT &S);
  /// Returns the names that \p Sub of \p B may have meant; \p Sections are all.
  static std::vector<llvm::StringRef>
  namesIn(const Body &B, const Body &Sub,
          llvm::ArrayRef<llvm::StringRef> Sections);
  /// The keys of a section: its own and \p OtherKeys.
  template <typename SpecT>
  static std::vector<llvm::StringRef>
  keyNames(llvm::ArrayRef<llvm::StringRef> OtherKeys = {});

  const Job::Declared *chooseModel();
  const Job::Declared *findModel(const ast::Word &Name);
  bool mergeModel(const Job::Declared &M, Body &Into,
                  std::vector<const Job::Declared *> &Chain);
  void bindModel(ir::ModelSpec &M);
  void declareBlocks(const Body &Model, ir::ModelSpec &M);
  void bindBlocks(Body &Model, ir::ModelSpec &M);
  bool hasNumberedKey(const Body &B);
  bool arePartsNumbered(const Body &Of);
  struct NumberedBlocks;
  void bindNumbered(Body &Model, ir::ModelSpec &M);
  std::optional<unsigned> bindNumbered(Body &Model, NumberedBlocks &Of,
                                       Evaluator::LayerNumber Number);
  void takeNumbered(std::vector<NumberedBlocks> &All,
                    llvm::ArrayRef<std::pair<unsigned, unsigned>> Layers,
                    ir::ModelSpec &M);
  void bindBlock(Body &Model, ir::BlockSpec &Out);
  void reportHidden(const Body &Model);
  static ir::DimInfo bindDim(const ast::Dim &D);
  const layers::Layer *findLayer(llvm::StringRef Section,
                                 llvm::StringRef Name) const;
  std::vector<llvm::StringRef> layerNames(llvm::StringRef Section) const;
  ir::LayerUse declare(const layers::Layer &L);
  void bindLayer(const Body &Section, ir::LayerUse &Out);
  void bindLayerKeys(const Body &Section, ir::LayerUse &Out);
  void readKey(const Field &F, ir::LayerKey &Key);
  void bindBlockKeys(const Body &B, ir::BlockSpec &Out);
  void checkLayerKeys(const ir::LayerUse &Use, llvm::StringRef Section,
                      llvm::ArrayRef<const Body *> Written);
  void bindParts(const Body &B, ir::BlockSpec &Out);
  void bindBlock(Body &B, const Body &Model, ir::BlockSpec &Out);
  void checkParts(const ast::Word &Name, const ir::BlockSpec &Out,
                  llvm::ArrayRef<const Body *> Written);
  void bindLayers(const Body &Model, ir::ModelSpec &M);
  const ast::Section *findRecipe(const std::string &Name, SourceRange At);
  const ast::Section *findProfile(llvm::StringRef Name, SourceRange At);
  void bindFittedOn(const Field &F, SourceRange Profile, ir::CostSpec &C);
  void bindKernel(const Field &F, const std::string &Name, SourceRange Profile,
                  ir::CostSpec &C);
  void bindKernels(const Body &B, const std::string &Prefix,
                   SourceRange Profile, ir::CostSpec &C);
  void bindServing(const Body &Profile, SourceRange At, ir::Spec &S);
  void bindKernels(ir::Spec &S);
  void takeRecipe(Body &Train, Located<std::string> &Out);
  void placeRecipe(ir::TrainSpec &Train);
  void requireSections(ir::Spec &S, bool HasParallel);
  const Body *chooseServe();
  void bindServe(const Body &Of, ir::Spec &S);
  void bindWithin(const Body &Serve, ir::Spec &S);
  void bindAcceptance(const Field &F, ir::DraftSpec &Out);
  template <typename... Ts> void reportMissing(diag::Id Id, Ts &&...Args) {
    if (TheJob.IsComplete)
      Diags.report(TheJob.Start, Id, std::forward<Ts>(Args)...);
  }
  void reportUnused(const ir::ModelSpec &M, SourceRange Declaration);

  std::optional<ExprValue> evaluatePattern(const Field &F,
                                           const ir::ModelSpec &M);
  void declareBranch(const Body &Model, ir::ModelSpec &M);
  void bindBranch(const Body &Model, ir::ModelSpec &M);
  void bindBranchLayers(const Body *Section, ir::ModelSpec &M);
  void countBranches(ir::ModelSpec &M, ir::LayerUse &Use);
  std::optional<PatternValue> concatenate(llvm::ArrayRef<ExprValue> Patterns);
  void bindLayout(const Field &F, ir::ParallelSpec &P);
  void takeLayout(const ast::Word &Text, ir::ParallelSpec &P);
  bool DraftsByBranch = false; ///< whether an engine loads prediction layers
  bool HasLayoutMtp = false; ///< whether the layout has a prediction branch
  void takeStagesOfPattern(ir::Spec &S);
  std::optional<SourceText> readFileCall(const Field &F);
  void bindScheduleFile(const Field &F, ir::Spec &S);
  void bindRouting(const Field &F, Located<std::string> &Out);
  void bindTrace(const Field &F, ir::RequestsSpec &R);
  void bindCost(ir::CostSpec &C);
  /// The body behind a key or section of that name: a section in place, or a
  /// table of a TOML file. False if there is none.
  bool findTable(const Body &B, llvm::StringRef Name, Body &Out);
  void bindTime(const Field &F, llvm::StringRef Prefix, ir::CostSpec &C);
  void bindTimes(const Body &Times, ir::CostSpec &C);
  void bindLinks(const Body &Links, ir::CostSpec &C);
  void bindTiers(const Body &Tiers, ir::ClusterSpec &C);
  /// Reports what a roofline lacks that neither `cost` nor the cluster says.
  void requireDevice(const ir::Spec &S);

  void bindEmit(const Job::Declared &E, ir::EmitSpec &Out);
  ir::Attribute toAttribute(const ExprValue &V);

  const Job &TheJob;
  ImportGraph &Files;
  BodyBuilder &Bodies;
  Evaluator &Eval;
  DiagnosticEngine &Diags;
  KeyReader Reader;
  Scope NoNames; ///< TOML tables use no names
  /// The layers of each stage, if `layers` is a string with `|`.
  std::vector<int64_t> StagesOfPattern;
  /// The parts of such a string that follow a `/`.
  std::vector<std::string> BranchesOfPattern;
  Body CostDevice, ClusterDevice; ///< as they are written; empty if they aren't
};

/// The section of \p Sections that an unknown \p Keyword is a slip for, or
/// empty.
llvm::StringRef guessSection(llvm::StringRef Keyword,
                             llvm::ArrayRef<llvm::StringRef> Sections);

/// Reports a section that is not allowed at its place; \p Sections are the
/// allowed ones.
void reportSection(const ast::Word &Keyword, llvm::StringRef Parent,
                   llvm::ArrayRef<llvm::StringRef> Sections,
                   DiagnosticEngine &Diags);

// Definitions of the templates above.

template <typename SpecT>
std::vector<llvm::StringRef>
Binder::keyNames(llvm::ArrayRef<llvm::StringRef> OtherKeys) {
  std::vector<llvm::StringRef> Names(OtherKeys.begin(), OtherKeys.end());
  const SpecT Any;
  ir::visitFields(Any, [&](const ir::FieldRow &Row, const auto &) {
    Names.push_back(Row.Name);
  });
  return Names;
}

template <typename SpecT>
void Binder::bindKeys(const Body &B, SpecT &Out,
                      llvm::ArrayRef<llvm::StringRef> OtherKeys,
                      llvm::ArrayRef<llvm::StringRef> Sections) {
  for (const Field &F : B.Fields) {
    bool IsKnown = llvm::is_contained(OtherKeys, F.Key.Text);
    ir::visitFields(Out, [&](const ir::FieldRow &Row, auto &Member) {
      if (Row.Name != F.Key.Text)
        return;
      Reader.read(F, Row.Type, Member);
      IsKnown = true;
    });
    if (!IsKnown)
      reportUnknownKey(F, B.Keyword.Text, keyNames<SpecT>(OtherKeys), Diags);
  }
  for (const Body &Sub : B.Sections)
    if (!llvm::is_contained(Sections, Sub.Keyword.Text))
      reportSection(Sub.Keyword, B.Keyword.Text, namesIn(B, Sub, Sections),
                    Diags);
}

/// Reports keys of \p Section that must be there and are neither present nor
/// \p Written (a written one that is absent was reported already, and so was
/// one that is misspelt).
template <typename SpecT>
void Binder::requireKeys(const ast::Word &Section, const SpecT &Out,
                         llvm::ArrayRef<const Body *> Written) {
  const std::vector<llvm::StringRef> Names = keyNames<SpecT>();
  for (const RequiredKey &R : getRequiredKeys()) {
    if (R.Section != Section.Text)
      continue;
    ir::visitFields(Out, [&](const ir::FieldRow &Row, const auto &F) {
      if (Row.Name == R.Name && !F.isPresent() &&
          llvm::none_of(Written, [&](const Body *B) {
            return hasOrMeant(*B, R.Name, Section.Text, Names);
          }))
        Diags.report(Section.Range, diag::MissingKey, Section.Text, R.Name,
                     R.Example);
    });
  }
}

/// Makes the keys of \p S known to `{name}` in strings.
template <typename SpecT> void Binder::publishKeys(const SpecT &S) {
  ir::visitFields(S, [&](const ir::FieldRow &Row, const auto &F) {
    if (F.isPresent())
      Eval.setJobKey(Row.Name, ir::spell(*F));
  });
}

} // namespace foretrace
