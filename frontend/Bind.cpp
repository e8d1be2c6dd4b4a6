// SPDX-License-Identifier: Apache-2.0
//
// Binds training and parallelism; the model is bound in BindModel.cpp, costs in
// BindCost.cpp, the cluster in BindCluster.cpp, emit blocks in BindEmit.cpp.
#include "frontend/Bind.h"
#include "frontend/ForeignNames.h"
#include "frontend/Frontend.h"
#include "frontend/MegatronLayout.h"
#include "lang/DidYouMean.h"
#include "lang/Library.h"
#include "lang/diagnostics/Frontend.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace foretrace;

/// Returns whether sections can have that name.
static bool isSection(llvm::StringRef Keyword) {
  static constexpr llvm::StringRef Known[] = {
      "model", "attention", "block",  "ffn",      "train",   "parallel",
      "cost",  "times",     "device", "links",    "cluster", "tiers",
      "emit",  "branch",    "serve",  "requests", "draft",   "lora"};
  return llvm::is_contained(Known, Keyword);
}

/// Returns which of \p Sections other tools call \p Keyword; empty if none.
static llvm::StringRef
findForeignSection(llvm::StringRef Keyword,
                   llvm::ArrayRef<llvm::StringRef> Sections) {
  const ForeignName *N = findForeignName("sections", Keyword);
  return N && llvm::is_contained(Sections, N->Here) ? N->Here : "";
}

llvm::StringRef
foretrace::guessSection(llvm::StringRef Keyword,
                        llvm::ArrayRef<llvm::StringRef> Sections) {
  if (isSection(Keyword))
    return "";
  const llvm::StringRef Here = findForeignSection(Keyword, Sections);
  return Here.empty() ? nearestWord(Keyword, Sections) : Here;
}

void foretrace::reportSection(const ast::Word &Keyword, llvm::StringRef Parent,
                              llvm::ArrayRef<llvm::StringRef> Sections,
                              DiagnosticEngine &Diags) {
  if (isSection(Keyword.Text)) {
    Diags.report(Keyword.Range, diag::MisplacedSection, Keyword.Text, Parent);
    return;
  }
  const llvm::StringRef Here = findForeignSection(Keyword.Text, Sections);
  const ForeignName *Otherwise = findForeignName("otherwise", Keyword.Text);
  if (Here.empty() && !Otherwise && reportUnmodelled(Keyword, Diags))
    return;
  DiagnosticBuilder Report =
      Diags.report(Keyword.Range, diag::UnknownSection, Keyword.Text);
  if (!Here.empty())
    Report.note(Keyword.Range, diag::AliasOfKey, Keyword.Text, Here)
        .fix(Keyword.Range, Here);
  else if (Otherwise)
    Report.note(Keyword.Range, diag::SaidOtherwise, Otherwise->Text);
  else
    suggest(std::move(Report), Keyword.Range, Keyword.Text, Sections);
}

std::vector<llvm::StringRef>
Binder::namesIn(const Body &B, const Body &Sub,
                llvm::ArrayRef<llvm::StringRef> Sections) {
  std::vector<llvm::StringRef> Names = Sections;
  if (Sub.Range.isValid())
    return Names;
  for (const Body &Block : B.Sections) // -D calls them by their own names
    if (Block.Keyword.Text == "block")
      Names.push_back(Block.Label.Text);
  return Names;
}

/// Takes a layout as Megatron-LM has it.
void Binder::takeLayout(const ast::Word &Text, ir::ParallelSpec &P) {
  const std::optional<MegatronLayout> Layout = readMegatronLayout(Text.Text);
  if (!Layout) {
    Diags.report(Text.Range, diag::LayoutText, Text.Text);
    return;
  }
  if (!Layout->AreEndsInPlace) {
    Diags.report(Text.Range, diag::LayoutEnds, Text.Text)
        .note(Text.Range, diag::LayoutAsList, Layout->asList(),
              Layout->Layers.size());
    return;
  }
  P.LayoutRange = Text.Range;
  HasLayoutMtp = Layout->HasMtp;
  for (const int64_t Layers : Layout->Layers)
    P.Layout.emplace_back().state(Layers, Text.Range);
}

void Binder::bindLayout(const Field &F, ir::ParallelSpec &P) {
  std::optional<ExprValue> V = Eval.evaluate(*F.Value, *F.Names);
  if (!V)
    return;
  const auto *L = V->getIf<ListValue>();
  if (const std::string *Text = V->getIf<std::string>())
    return takeLayout({*Text, V->Range}, P);
  if (!L) {
    Diags.report(V->Range, diag::WrongType, "layout", describe(*V),
                 "a list of layer counts");
    return;
  }
  P.LayoutRange = F.Value->Range;
  for (const ExprValue &Element : L->Elements)
    if (std::optional<int64_t> N =
            Reader.checkNumber("a layer count", "Natural", Element))
      P.Layout.emplace_back().state(*N, Element.Range);
}

/// Takes the stages of a pattern with `|` as the layout.
void Binder::takeStagesOfPattern(ir::Spec &S) {
  if (StagesOfPattern.empty())
    return;
  if (!S.Parallel.Layout.empty()) {
    Diags
        .report(S.Parallel.LayoutRange, diag::LayoutTwice,
                StagesOfPattern.size())
        .note(S.Model.LayersRange, diag::DeclaredHere, "layers");
    return;
  }
  S.Parallel.LayoutRange = S.Model.LayersRange;
  // The pattern has the layers of a tower, which a layout does not count.
  int64_t Tower = S.Model.towerLayers();
  if (Tower > StagesOfPattern.front()) {
    Diags.report(S.Model.LayersRange, diag::TowerCut, Tower,
                 StagesOfPattern.front());
    return;
  }
  for (const int64_t Layers : StagesOfPattern) {
    S.Parallel.Layout.emplace_back().state(Layers - Tower, S.Model.LayersRange);
    Tower = 0;
  }
}

/// Reads the text between two commas.
static void readEntry(llvm::StringRef Text, SourceRange Range,
                      std::vector<ir::ScheduleSteps> &Into,
                      DiagnosticEngine &Diags) {
  std::optional<ir::CellEntry> Entry = ir::parseEntry(Text);
  if (!Entry) {
    DiagnosticBuilder B = Diags.report(Range, diag::ScheduleCell, Text);
    if (const std::string Meant = ir::guessEntry(Text); !Meant.empty())
      B.note(Range, diag::DidYouMean, Meant).fix(Range, Meant);
    return;
  }
  if (ir::isCompute(Entry->Cells.front().Kind))
    Into.push_back({std::move(*Entry), Range});
}

/// Reads a schedule file of PyTorch, which torchtitan takes as
/// `pipeline_parallel_schedule_csv`: a line for each rank of the pipeline,
/// cells separated by commas. Empty cells are times of idleness: nothing
/// follows from them. Nor does anything from messages, and from what gathers,
/// frees and reduces: the steps imply the first, ZeRO the rest.
static std::vector<std::vector<ir::ScheduleSteps>>
readScheduleFile(SourceText Source, DiagnosticEngine &Diags) {
  std::vector<std::vector<ir::ScheduleSteps>> Out;
  llvm::StringRef Text = Source.str().rtrim();
  while (!Text.empty()) {
    auto [Line, Rest] = Text.split('\n');
    std::vector<ir::ScheduleSteps> &Stage = Out.emplace_back();
    for (Text = Rest; !Line.empty();) {
      auto [Entry, Others] = Line.split(',');
      Line = Others;
      if (const llvm::StringRef Cell = Entry.trim(); !Cell.empty())
        readEntry(Cell, Source.rangeOf(Cell), Stage, Diags);
    }
  }
  return Out;
}

/// Reads the file of `file("...")`; nothing after a report.
std::optional<SourceText> Binder::readFileCall(const Field &F) {
  const ast::Call &Call = *findFileCall(F);
  if (Call.Arguments.size() != 1) {
    Diags.report(F.Value->Range, diag::ArgumentCount, "file", "1 value",
                 Call.Arguments.size());
    return std::nullopt;
  }
  const std::optional<ExprValue> Path =
      Eval.evaluate(*Call.Arguments[0], *F.Names);
  if (!Path)
    return std::nullopt;
  if (const std::string *Text = Path->getIf<std::string>())
    return Files.read(*Text, Path->Range);
  Diags.report(Path->Range, diag::WrongType, "file", describe(*Path),
               "a string");
  return std::nullopt;
}

/// Reads the file that a schedule is in; sizes that the job leaves open follow
/// from it.
void Binder::bindScheduleFile(const Field &F, ir::Spec &S) {
  if (!findFileCall(F))
    return;
  const std::optional<SourceText> File = readFileCall(F);
  if (!File)
    return;
  ir::ParallelSpec &P = S.Parallel;
  P.Steps = readScheduleFile(*File, Diags);
  int64_t LastPart = 0, LastMicroBatch = 0;
  for (const auto &Stage : P.Steps)
    for (const ir::ScheduleSteps &At : Stage)
      for (const ir::Cell &C : At.Entry.Cells) {
        LastPart = std::max(LastPart, C.Part);
        LastMicroBatch = std::max(LastMicroBatch, C.MicroBatch);
      }
  const auto Lines = static_cast<int64_t>(P.Steps.size());
  if (!P.Pp.isPresent() && Lines > 0)
    P.Pp.derive(Lines, F.Value->Range);
  if (!P.Vpp.isPresent() && Lines > 0)
    P.Vpp.derive(LastPart / Lines + 1, F.Value->Range);
  if (!P.Ga.isPresent() && !S.Train.GlobalBatch.isPresent())
    P.Ga.derive(LastMicroBatch + 1, F.Value->Range);
}

/// Returns the name that \p E is, or the last part of it.
static std::string nameOf(const ast::Expr &E) {
  const auto *Name = std::get_if<ast::Name>(&E.Node);
  return Name ? Name->Path.back().Text : "table";
}

/// Returns the table of a recipe of the library, or null after a report.
const ast::Section *Binder::findRecipe(const std::string &Name,
                                       SourceRange At) {
  const std::string Path = "recipes/" + Name + ".toml";
  std::vector<llvm::StringRef> Names = {"none"};
  for (const LibraryFile &F : libraryFiles()) {
    if (F.Path == Path)
      return Files.loadTable((llvm::Twine(LibraryFolder) + "/" + Path).str());
    if (llvm::sys::path::parent_path(F.Path) == "recipes")
      Names.push_back(llvm::sys::path::stem(F.Path));
  }
  suggest(Diags.report(At, diag::UnknownRecipe, Name), At, Name, Names);
  return nullptr;
}

/// Returns the keys of `train` that a recipe can set.
static std::vector<llvm::StringRef> keysOfRecipes() {
  static constexpr llvm::StringLiteral Types[] = {"TypeKind", "PrecisionKind",
                                                  "OptimizerKind"};
  std::vector<llvm::StringRef> Keys = {"compute_copies"};
  for (const ir::FieldRow &Row : ir::FieldRows)
    if (Row.Section == "Train" && llvm::is_contained(Types, Row.Type))
      Keys.push_back(Row.Name);
  return Keys;
}

/// Adds the keys of a recipe to those of the job, which override them.
void Binder::takeRecipe(Body &Train, Located<std::string> &Out) {
  const Field *F = Train.findField("recipe");
  if (!F)
    return;
  const std::optional<ExprValue> V =
      Eval.evaluate(*F->Value, *F->Names, Words::Any);
  const std::string *Name = V ? V->asText() : nullptr;
  Body Recipe;
  if (V && V->getIf<TableValue>()) {
    Bodies.mergeTable(Recipe, *F);
    Out.state(nameOf(*F->Value), F->Value->Range);
  } else if (Name) {
    Out.state(*Name, V->Range);
    const ast::Section *Table =
        *Name == "none" ? nullptr : findRecipe(*Name, V->Range);
    if (Table)
      Bodies.merge(Recipe, *Table, *F->Names);
  } else if (V) {
    Diags.report(V->Range, diag::WrongType, "recipe", describe(*V),
                 "the name of a recipe, or a table");
  }
  Train.Fields.erase(Train.Fields.begin() + (F - Train.Fields.data()));
  const std::vector<llvm::StringRef> Keys = keysOfRecipes();
  for (const Field &Of : Recipe.Fields)
    if (!llvm::is_contained(Keys, Of.Key.Text))
      reportUnknownKey(Of, "recipe", Keys, Diags);
    else if (!Train.findField(Of.Key.Text))
      Train.Fields.push_back(Of);
  for (const Body &Sub : Recipe.Sections)
    reportSection(Sub.Keyword, "recipe", {}, Diags);
}

/// Blames the recipe of the library for keys that it sets.
void Binder::placeRecipe(ir::TrainSpec &Train) {
  ir::visitFields(Train, [&](const ir::FieldRow &, auto &Member) {
    const SourceRange At = Member.Range;
    if (At.isValid() && Files.nameOf(At.File).starts_with(LibraryFolder))
      Member.Range = Train.Recipe.Range;
  });
}

/// A job of the model alone can do without training and parallelism. A learned
/// table has as many rows as a sample has tokens.
void Binder::requireSections(ir::Spec &S, bool HasParallel) {
  const bool IsOfModel = TheJob.IsOfModel && TheJob.IsOfModel(S.Emits);
  if (IsOfModel && TheJob.Train.Keyword.Text.empty() &&
      !S.Model.MaxPositions.isPresent() &&
      *S.Model.Positions == ir::PositionKind::Learned)
    Diags.report(S.Model.Range, diag::MissingKey, "model", "max_positions",
                 "2048");
  if (IsOfModel) {
    if (TheJob.OnlyModel)
      reduceToModel(S);
    applyModelDefaults(S);
    return;
  }
  if (!TheJob.ModelName.empty()) {
    reportAssumed(assumedKeys(S), TheJob.ModelName, Diags);
    return;
  }
  if (TheJob.Train.Keyword.Text.empty() && TheJob.Serves.empty())
    reportMissing(diag::MissingSection, "train",
                  "train { sequence = 4096  micro_batch = 1 }");
  if (S.Serve && TheJob.Requests.Keyword.Text.empty())
    reportMissing(diag::MissingSection, "requests",
                  "requests { input = 1024  output = 1024 }");
  if (TheJob.Serves.empty() && !TheJob.Requests.Keyword.Text.empty())
    reportMissing(diag::MissingSection, "serve", "serve { engine = vllm }");
  if (!HasParallel)
    reportMissing(diag::MissingSection, "parallel", "parallel { world = 8 }");
}

/// Keys that are not in ir/model/Spec.def.
static constexpr llvm::StringRef OtherTrainKeys[] = {"model"},
                                 OtherParallelKeys[] = {"layout"};

std::vector<llvm::StringRef> Binder::keysOf(llvm::StringRef Section) {
  if (Section == "train")
    return keyNames<ir::TrainSpec>(OtherTrainKeys);
  if (Section == "parallel")
    return keyNames<ir::ParallelSpec>(OtherParallelKeys);
  return {};
}

ir::Spec Binder::bind() {
  ir::Spec S;
  S.Layers = TheJob.Layers;
  for (const ast::Dim *D : TheJob.Dims)
    S.Dims.push_back(bindDim(*D));
  const bool IsComplete =
      TheJob.ModelName.empty() && !(TheJob.IsOfModel && TheJob.IsOfModel({}));
  Body Train = TheJob.Train;
  const Body *Serve = chooseServe();
  Body Parallel = TheJob.Parallel;
  if (Serve)
    if (const Body *Own = Serve->findSection("parallel"))
      BodyBuilder::lay(Parallel, *Own);
  if (!Train.Keyword.Text.empty()) {
    takeRecipe(Train, S.Train.Recipe);
    bindKeys(Train, S.Train, OtherTrainKeys);
    placeRecipe(S.Train);
    if (const Field *F = Train.findField("routing"))
      bindRouting(*F, S.Train.Routing);
    if (IsComplete)
      requireKeys(Train.Keyword, S.Train, {&Train});
  }
  if (!Parallel.Keyword.Text.empty()) {
    bindKeys(Parallel, S.Parallel, OtherParallelKeys);
    if (const Field *F = Parallel.findField("layout"))
      bindLayout(*F, S.Parallel);
    if (const Field *F = Parallel.findField("schedule"))
      bindScheduleFile(*F, S);
    if (IsComplete)
      requireKeys(Parallel.Keyword, S.Parallel, {&Parallel});
  }
  if (Serve)
    bindServe(*Serve, S);
  bindCost(S.Cost);
  S.Cluster = bindCluster();
  bindKernels(S);
  bindModel(S.Model);
  if (HasLayoutMtp && !S.Model.Branch)
    Diags.report(S.Parallel.LayoutRange, diag::LayoutMtp);
  takeStagesOfPattern(S);
  applyDefaults(S);
  if (!TheJob.ModelName.empty())
    applyModelDefaults(S);
  requireDevice(S);

  publishKeys(S.Train);
  publishKeys(S.Parallel);
  Eval.setJobKey("model", S.Model.Name);
  for (const Job::Declared &E : TheJob.Emits)
    bindEmit(E, S.Emits.emplace_back());
  // Of several engines of which none is chosen, each may have its own.
  const bool IsUnknown = !Serve && !TheJob.Serves.empty();
  requireSections(S, IsUnknown || !Parallel.Keyword.Text.empty());
  return S;
}
