// SPDX-License-Identifier: Apache-2.0
//
// Puts the frontend together: loads the files, applies -D, computes names,
// gathers sections, binds.
#include "frontend/Frontend.h"
#include "frontend/Bind.h"
#include "frontend/Overrides.h"
#include "frontend/ParamValues.h"
#include "frontend/Parse.h"
#include "frontend/UnusedNames.h"
#include "frontend/sweep/BindSweep.h"
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Frontend.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace foretrace;

namespace {

class Compilation {
public:
  Compilation(ParsedFiles &Files, const FrontendOptions &Options,
              DiagnosticEngine &Diags)
      : Sources(Files.sources()), Options(Options), Diags(Diags),
        Graph(Files, Options.ImportPaths, Diags), Eval(Sources, Diags),
        Bodies(Eval, Diags) {}

  std::optional<ir::Spec> run(llvm::StringRef Path);
  std::optional<ir::ClusterSpec> runCluster(llvm::StringRef Path);
  std::optional<SweepSpec> runSweep(llvm::StringRef Path,
                                    const SweepRequest &Request);
  std::vector<ParamEntry> runParams(llvm::StringRef Path) {
    if (!begin(Graph.load(Path)))
      return {};
    return paramsOf(Graph.units(), Eval, Sources);
  }

private:
  bool begin(const JobFile *Main);
  bool gatherAll(const JobFile *Main);
  void overrideParam(const Override &O);
  void overrideKey(const Override &O);
  void giveToParam(const Override &O);
  void takeCluster();
  void computeNames();
  void gather(const JobFile &U);
  void gatherSection(const JobFile &U, const ast::Section &S,
                     std::vector<const ast::Section *> &Seen);
  bool gatherBase(const JobFile &U, const ast::Section &S);
  void gatherEmit(const JobFile &U, const ast::Section &S);
  void gatherEmitsOfSweep(const JobFile &U, const ast::Section &S);

  SourceFiles &Sources;
  const FrontendOptions &Options;
  DiagnosticEngine &Diags;
  ImportGraph Graph;
  Evaluator Eval;
  BodyBuilder Bodies;
  GivenOverrides Given;
  Job TheJob;
};

} // namespace

void Compilation::overrideParam(const Override &O) {
  const ast::Word &Name = O.Key.Key;
  llvm::SmallVector<llvm::StringRef> Params;
  bool Found = false;
  for (JobFile *U : Graph.units())
    for (Symbol &S : U->Names.symbols()) {
      bool IsNamed = S.Name.Text == Name.Text;
      if (S.Param)
        Params.push_back(S.Name.Text);
      else if (IsNamed) {
        Diags.report(Name.Range, diag::NotAParam, Name.Text)
            .note(S.Name.Range, diag::DeclaredHere, S.Name.Text);
        return;
      }
      if (IsNamed) {
        S.Definition = O.Key.Value;
        Found = true;
      }
    }
  if (Found)
    return;
  DiagnosticBuilder Report =
      Diags.report(Name.Range, diag::UnknownParam, Name.Text);
  if (const std::string Path = pathOfKey(Name.Text);
      !Path.empty() && !Report.isDropped())
    Report.note(Name.Range, diag::DidYouMean, Path).fix(Name.Range, Path);
  else
    suggest(std::move(Report), Name.Range, Name.Text, Params);
}

/// A param with the name of a key without a value, as in `world = world`, gets
/// the value given for the key.
void Compilation::giveToParam(const Override &O) {
  for (JobFile *U : Graph.units())
    for (Symbol &S : U->Names.symbols())
      if (S.Param && !S.Definition && S.Name.Text == O.Key.Key.Text)
        S.Definition = O.Key.Value;
}

void Compilation::overrideKey(const Override &O) {
  if (O.Top.Text == "model") {
    TheJob.ModelKeys.push_back(O);
    return;
  }
  const std::pair<llvm::StringRef, Body *> Sections[] = {
      {"train", &TheJob.Train},
      {"parallel", &TheJob.Parallel},
      {"requests", &TheJob.Requests},
      {"cost", &TheJob.Cost},
      {"cluster", &TheJob.Cluster}};
  if (O.Top.Text == "serve")
    return overrideServe(TheJob, O, Bodies);
  for (auto [Keyword, B] : Sections)
    if (Keyword == O.Top.Text) {
      if (B->Keyword.Text.empty())
        B->Keyword = O.Top;
      Bodies.override(*B, O);
      overrideOwnParallel(TheJob, O, Bodies);
      return;
    }
  reportSection(
      O.Top, "-D",
      {"model", "train", "parallel", "requests", "serve", "cost", "cluster"},
      Diags);
}

/// The cluster that -D names, a page of the library or a file, takes the place
/// of the job's.
void Compilation::takeCluster() {
  const ast::Section *Table = Graph.loadCluster(Given.Cluster);
  if (!Table)
    return;
  TheJob.Cluster = {};
  Bodies.merge(TheJob.Cluster, *Table, TheJob.Main->Names);
  TheJob.Cluster.Keyword = {"cluster", Given.Cluster.Range};
  TheJob.Cluster.Label = {llvm::sys::path::stem(Given.Cluster.Text).str(),
                          Given.Cluster.Range};
}

/// Computes every name, used or not, so that all mistakes show in one run.
void Compilation::computeNames() {
  for (JobFile *U : Graph.units())
    for (Symbol &S : U->Names.symbols())
      Eval.evaluate(S, S.Name.Range);
}

void Compilation::gatherSection(const JobFile &U, const ast::Section &S,
                                std::vector<const ast::Section *> &Seen) {
  static constexpr llvm::StringRef Keywords[] = {
      "model", "train",   "parallel", "requests", "serve",
      "cost",  "cluster", "sweep",    "emit"};
  llvm::StringRef Keyword = S.Keyword.Text;
  if (!llvm::is_contained(Keywords, Keyword)) {
    reportSection(S.Keyword, "a file", Keywords, Diags);
    // A misspelt section is not reported as missing, too.
    Keyword = guessSection(Keyword, Keywords);
    if (Keyword.empty())
      return;
  }
  if (!S.Base.Text.empty() && Keyword != "model" && Keyword != "cluster")
    Diags.report(S.Base.Range, diag::UnwantedLabel, Keyword, "base");
  if (Keyword == "emit") {
    if (!Options.EmitsOfSweep)
      gatherEmit(U, S);
    return;
  }
  const bool IsModel = Keyword == "model", IsServe = Keyword == "serve";
  if (IsModel && S.Label.Text.empty()) {
    Diags.report(S.Keyword.Range, diag::MissingLabel, "model", "a name");
    return;
  }
  for (const ast::Section *First : Seen)
    if (First->Keyword.Text == Keyword &&
        (!(IsModel || IsServe) || First->Label.Text == S.Label.Text)) {
      std::string Name = Keyword.str();
      if (!S.Label.Text.empty() && (IsModel || IsServe))
        Name += " " + S.Label.Text;
      Diags.report(S.Keyword.Range, diag::DuplicateSection, Name)
          .note(First->Keyword.Range, diag::DeclaredHere, Name);
      return;
    }
  if (Seen.size() == MaxEntries) {
    Diags.report(S.Keyword.Range, diag::EntryLimit, "the file", MaxEntries);
    return;
  }
  Seen.push_back(&S);
  if (IsModel) {
    TheJob.Models.push_back({&S, &U});
    return;
  }
  const bool TakesLabel = IsServe || Keyword == "cost" || Keyword == "cluster";
  if (!TakesLabel && !S.Label.Text.empty())
    Diags.report(S.Label.Range, diag::UnwantedLabel, Keyword, "name");
  if (Keyword == "sweep") {
    gatherEmitsOfSweep(U, S);
    return;
  }
  Body &B = Keyword == "train"      ? TheJob.Train
            : Keyword == "parallel" ? TheJob.Parallel
            : Keyword == "requests" ? TheJob.Requests
            : IsServe               ? serveOf(TheJob, S.Label.Text)
            : Keyword == "cost"     ? TheJob.Cost
                                    : TheJob.Cluster;
  if (Keyword == "cluster" && !gatherBase(U, S))
    return;
  Bodies.merge(B, S, U.Names);
  B.Keyword.Text = Keyword.str();
}

void Compilation::gatherEmit(const JobFile &U, const ast::Section &S) {
  constexpr size_t MaxEmits = 1024; // names of files are compared with others
  if (&U != TheJob.Main)
    return;
  if (TheJob.Emits.size() < MaxEmits)
    TheJob.Emits.push_back({&S, &U});
  else
    Diags.report(S.Keyword.Range, diag::EntryLimit, "the list of `emit` blocks",
                 MaxEmits);
}

/// Gathers the `emit` blocks for points of a sweep. The rest of the section
/// defines the points, not this job.
void Compilation::gatherEmitsOfSweep(const JobFile &U, const ast::Section &S) {
  if (!Options.EmitsOfSweep)
    return;
  for (const ast::Entry &E : S.Entries)
    if (const auto *Emit = std::get_if<ast::Section>(&E.Node))
      gatherEmit(U, *Emit);
}

/// Takes over the table that a cluster is based on; false if there is none.
bool Compilation::gatherBase(const JobFile &U, const ast::Section &S) {
  if (!S.Base.Text.empty()) {
    TheJob.Cluster.Label = S.Base; // if it has no name of its own
    return Bodies.mergeBase(TheJob.Cluster, S.Base, U.Names);
  }
  const ast::Word &Name = S.Label;
  const Symbol *Same = U.Names.find(Name.Text);
  if (!Same || !Same->Result || !Same->Result->getIf<TableValue>())
    return true;
  Diags.report(Name.Range, diag::ClusterName, Name.Text)
      .fix(Name.Range, ": " + Name.Text);
  return Bodies.mergeBase(TheJob.Cluster, Name,
                          U.Names); // so nothing is missing
}

void Compilation::gather(const JobFile &U) {
  std::vector<const ast::Section *> Seen;
  for (const ast::Item &I : U.File->Items) {
    if (const auto *S = std::get_if<ast::Section>(&I.Node))
      gatherSection(U, *S, Seen);
    else if (const auto *R = std::get_if<ast::Require>(&I.Node))
      Bodies.check(*R, U.Names);
    else if (const auto *L = std::get_if<ast::Layer>(&I.Node))
      addLayer(TheJob, L->Is, Diags);
    else if (const auto *D = std::get_if<ast::Dim>(&I.Node))
      addDim(TheJob, *D, Diags);
  }
}

/// Sets the main file, if it could be loaded, and params to the values of -D.
bool Compilation::begin(const JobFile *Main) {
  TheJob.Main = Main;
  TheJob.IsComplete = !Diags.hasErrors();
  if (!Main)
    return false;
  Given = readOverrides(Options.Overrides, Main->Names, Sources, Diags);
  for (const Override &O : Given.Keys)
    if (O.Top.Text.empty())
      overrideParam(O);
    else if (O.Sections.empty())
      giveToParam(O);
  return true;
}

/// Gathers all sections of \p Main and its imports; false if it could not be
/// loaded.
bool Compilation::gatherAll(const JobFile *Main) {
  if (!begin(Main))
    return false;
  computeNames();
  for (JobFile *U : Graph.units())
    gather(*U);
  if (TheJob.Train.Keyword.Text.empty() && TheJob.Serves.empty() &&
      TheJob.Parallel.Keyword.Text.empty() && !TheJob.Models.empty())
    TheJob.ModelName = Options.ModelName;
  if (!Given.Cluster.Text.empty())
    takeCluster();
  for (const Override &O : Given.Keys)
    if (!O.Top.Text.empty())
      overrideKey(O);
  if (!Options.OnlyModel && !Diags.hasErrors() && !Diags.isForTrial() &&
      !Main->File->Items.empty())
    reportUnusedNames(
        *Main->File, Sources.text(Main->File->Items.front().Range.File), Diags);
  if (!Main->File->Items.empty())
    TheJob.Start = Main->File->Items.front().Range.atStart();
  return true;
}

std::optional<ir::Spec> Compilation::run(llvm::StringRef Path) {
  if (!gatherAll(Graph.load(Path)))
    return std::nullopt;
  TheJob.IsOfModel = Options.IsOfModel;
  TheJob.OnlyModel = Options.OnlyModel;
  TheJob.Pool = Options.Pool;
  ir::Spec S = Binder(TheJob, Graph, Bodies, Eval, Diags).bind();
  if (Diags.hasErrors())
    return std::nullopt;
  fitNodes(Given, S);
  return S;
}

std::optional<ir::Spec> foretrace::compileSpec(ParsedFiles &Files,
                                               llvm::StringRef Path,
                                               const FrontendOptions &Options,
                                               DiagnosticEngine &Diags) {
  return Compilation(Files, Options, Diags).run(Path);
}

/// A job that has a cluster and nothing else.
static std::string jobWithCluster(llvm::StringRef Path) {
  std::string Import = "import \"";
  for (char C : Path)
    Import += C == '"' || C == '\\' ? std::string{'\\', C} : std::string{C};
  if (!Path.ends_with(".toml"))
    return Import + "\"\n";
  return Import + "\" as machine\ncluster : machine { }\n";
}

std::optional<ir::ClusterSpec> Compilation::runCluster(llvm::StringRef Path) {
  const FileId File = Sources.add(jobWithCluster(Path), CommandLineName);
  if (!gatherAll(Graph.load(File)))
    return std::nullopt;
  std::optional<ir::ClusterSpec> C =
      Binder(TheJob, Graph, Bodies, Eval, Diags).bindCluster();
  if (!C && !Diags.hasErrors())
    Diags.report(TheJob.Start, diag::NoCluster, Path);
  if (Diags.hasErrors())
    return std::nullopt;
  return C;
}

std::optional<ir::ClusterSpec>
foretrace::compileCluster(ParsedFiles &Files, llvm::StringRef Path,
                          const FrontendOptions &Options,
                          DiagnosticEngine &Diags) {
  return Compilation(Files, Options, Diags).runCluster(Path);
}

std::optional<SweepSpec> Compilation::runSweep(llvm::StringRef Path,
                                               const SweepRequest &Request) {
  if (!begin(Graph.load(Path)))
    return std::nullopt;
  SweepEntries Entries(Diags);
  for (const ast::Item &I : TheJob.Main->File->Items)
    if (const auto *S = std::get_if<ast::Section>(&I.Node);
        S && S->Keyword.Text == "sweep" && !Request.IsAlone)
      Entries.gatherSection(*S);
  if (!Request.File.empty()) {
    if (const ast::Section *Table = Graph.loadTable(Request.File))
      Entries.gatherTable(*Table, Sources);
    else if (!Diags.hasErrors())
      Diags.report({}, diag::FileUnreadable, Request.File, "it is the job");
  }
  for (const Override &O : Given.Keys)
    Entries.pin(O.path(), Sources.text(O.Key.Value->Range.File)
                              .part(Sources.slice(O.Key.Value->Range)));
  if (const SourceRange At = Given.Cluster.Range; At.isValid())
    Entries.pin("cluster", Sources.text(At.File).part(Sources.slice(At)));
  Entries.gatherGiven(Request.Entries, Sources);
  if (Diags.hasErrors())
    return std::nullopt;
  SweepSpec S = SweepBinder(*TheJob.Main, Graph.units(), Eval, Diags)
                    .bind(Entries, Request.Metrics);
  if (Diags.hasErrors())
    return std::nullopt;
  return S;
}

std::optional<SweepSpec> foretrace::compileSweep(ParsedFiles &Files,
                                                 llvm::StringRef Path,
                                                 const FrontendOptions &Options,
                                                 const SweepRequest &Request,
                                                 DiagnosticEngine &Diags) {
  return Compilation(Files, Options, Diags).runSweep(Path, Request);
}

std::vector<ParamEntry> foretrace::listParams(ParsedFiles &Files,
                                              llvm::StringRef Path,
                                              const FrontendOptions &Options,
                                              DiagnosticEngine &Diags) {
  return Compilation(Files, Options, Diags).runParams(Path);
}
