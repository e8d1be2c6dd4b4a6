// SPDX-License-Identifier: Apache-2.0
#include "tools/importers/Translation.h"
#include "frontend/Frontend.h"
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Import.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;

namespace foretrace::importers {

/// Models have fewer layers, and a job of them must be written.
static constexpr int64_t MaxLayers = 10000;

namespace {

class Translator {
public:
  Translator(const Translation &Of, ImportedJob &Job)
      : Map(Of.Map), Diags(Of.Diags),
        Formulas(Of.Map, Of.Input, Of.Outer, Of.Diags), Job(Job) {}

  void run();

private:
  void top(const ast::Entry &E);
  void topAll(ArrayRef<ast::Entry> All) {
    for (const ast::Entry &E : All)
      top(E);
  }
  void require(const ast::Require &R);
  void topSection(const ast::Section &S);
  void assignTop(const ast::Assignment &A);
  void fill(SectionText &To, ArrayRef<ast::Entry> All);
  void assign(SectionText &To, const ast::Assignment &A);
  void layers();
  void layer(LayerText &L, ArrayRef<ast::Entry> All);
  void layerSection(SectionText &To, const ast::Section &S);
  bool isOmitted(StringRef Key, const ForeignValue &V);

  const Mapping &Map;
  DiagnosticEngine &Diags;
  FormulaEvaluator Formulas;
  ImportedJob &Job;
  std::vector<const ast::Section *> OfLayers;
  const ast::Expr *Count = nullptr;
};

} // namespace

bool Translator::isOmitted(StringRef Key, const ForeignValue &V) {
  const ast::Expr *Default = Map.findOmitted(Key);
  return Default && Formulas.evaluate(*Default).print() == V.print();
}

/// Returns whether a job can have the value. Texts of the input are words of
/// the job only where a page says so.
static bool isWritable(const ForeignValue &V) {
  const bool IsForeignText =
      V.Is == ForeignValue::Kind::Text && V.Range.isValid() && !V.IsFormula;
  return V.Is != ForeignValue::Kind::Real && V.Is != ForeignValue::Kind::Map &&
         V.Is != ForeignValue::Kind::List && !IsForeignText;
}

void Translator::assign(SectionText &To, const ast::Assignment &A) {
  const StringRef Key = A.Key.Text;
  const unsigned NumAsked = Formulas.numAsked();
  const ForeignValue V = Formulas.evaluate(*A.Value);
  if (V.isMissing() && Formulas.numAsked() != NumAsked) {
    // The parameter has the name of the key that it sets.
    if (!is_contained(Job.Params, Key))
      Job.Params.push_back(Key.str());
    To.set(Key, Key);
    return;
  }
  if (Key == "kind" && &To != &Job.Emit) {
    if (!V.isMissing() && To.Kind != V.Text)
      To = {V.Text, {}};
  } else if (V.isMissing() || V.Is == ForeignValue::Kind::Null ||
             isOmitted(Key, V)) {
    To.erase(Key);
  } else if (isWritable(V)) {
    To.set(Key, V.print());
  } else {
    Diags.report(V.Range, diag::ImportValueKind, V.kindName(), "an integer");
  }
}

void Translator::fill(SectionText &To, ArrayRef<ast::Entry> All) {
  for (const ast::Entry &E : All)
    if (const auto *A = std::get_if<ast::Assignment>(&E.Node))
      assign(To, *A);
    else if (const auto *I = std::get_if<ast::If>(&E.Node))
      fill(To, Formulas.choose(*I));
}

void Translator::assignTop(const ast::Assignment &A) {
  if (A.Key.Text == "comment")
    Job.ModelComments.push_back(Formulas.interpolate(textOf(*A.Value)));
  else if (A.Key.Text == "note")
    Job.Notes.push_back(Formulas.interpolate(textOf(*A.Value)));
  else if (A.Key.Text == "library")
    Job.Library = Formulas.interpolate(textOf(*A.Value));
}

void Translator::topSection(const ast::Section &S) {
  const StringRef Keyword = S.Keyword.Text;
  if (Keyword == "layers") {
    OfLayers.push_back(&S);
  } else if (Keyword == "model") {
    fill(Job.Keys, S.Entries);
  } else if (Keyword == "branch") {
    fill(Job.Branch, S.Entries);
    if (!Job.Branch.Keys.empty())
      Job.Branch.Kind = S.Label.Text;
  } else if (Keyword == "emit") {
    Job.Emit.Kind = S.Label.Text;
    fill(Job.Emit, S.Entries);
  } else {
    SectionText &To = Keyword == "train"      ? Job.Train
                      : Keyword == "requests" ? Job.Requests
                      : Keyword == "serve"    ? Job.Serve
                                              : Job.Parallel;
    To.Kind = S.Label.Text;
    Formulas.askForMissing(true);
    fill(To, S.Entries);
    Formulas.askForMissing(false);
  }
}

void Translator::require(const ast::Require &R) {
  const std::optional<bool> Holds = Formulas.holds(*R.Condition);
  if (Holds && !*Holds)
    Diags.report(Formulas.origin(), diag::ImportRefused,
                 Formulas.interpolate(textOf(*R.Message)));
}

void Translator::top(const ast::Entry &E) {
  if (const auto *R = std::get_if<ast::Require>(&E.Node)) {
    require(*R);
  } else if (const auto *I = std::get_if<ast::If>(&E.Node)) {
    const ArrayRef<ast::Entry> Chosen = Formulas.choose(*I);
    const SourceRange Where = Formulas.origin();
    for (const ast::Entry &In : Chosen)
      if (const auto *A = std::get_if<ast::Assignment>(&In.Node);
          A && A->Key.Text == "warn")
        Diags.report(Where, diag::ImportDiffers,
                     Formulas.interpolate(textOf(*A->Value)));
    topAll(Chosen);
  } else if (const auto *A = std::get_if<ast::Assignment>(&E.Node)) {
    assignTop(*A);
  } else if (const ast::Section *S = sectionOf(E)) {
    topSection(*S);
  }
}

void Translator::layerSection(SectionText &To, const ast::Section &S) {
  const std::string &Kind = S.Label.Text;
  if (!Kind.empty() && To.Kind != Kind)
    To = {Kind, {}};
  fill(To, S.Entries);
}

void Translator::layer(LayerText &L, ArrayRef<ast::Entry> All) {
  for (const ast::Entry &E : All) {
    if (const auto *I = std::get_if<ast::If>(&E.Node)) {
      layer(L, Formulas.choose(*I));
    } else if (const auto *R = std::get_if<ast::Require>(&E.Node)) {
      require(*R);
    } else if (const ast::Section *S = sectionOf(E);
               S && S->Keyword.Text == "with_experts") {
      if (L.Block.find("experts"))
        fill(L.Block, S->Entries);
    } else if (S) {
      layerSection(S->Keyword.Text == "ffn" ? L.Ffn : L.Attention, *S);
    } else if (const auto *A = std::get_if<ast::Assignment>(&E.Node)) {
      if (A->Key.Text == "name")
        L.Name = Formulas.evaluate(*A->Value).Text;
      else if (A->Key.Text != "count")
        assign(L.Block, *A);
    }
  }
}

void Translator::layers() {
  for (const ast::Section *S : OfLayers)
    for (const ast::Entry &E : S->Entries)
      if (const auto *A = std::get_if<ast::Assignment>(&E.Node);
          A && A->Key.Text == "count")
        Count = A->Value.get();
  if (!Count) { // the job has its layers from elsewhere
    for (LayerText &L : Job.Layers)
      for (const ast::Section *S : OfLayers)
        layer(L, S->Entries);
    return;
  }
  const unsigned NumAsked = Formulas.numAsked();
  const ForeignValue Of = Formulas.evaluate(*Count);
  if (Of.isMissing() && NumAsked == Formulas.numAsked())
    return;
  if (Of.Is != ForeignValue::Kind::Integer || Of.Integer < 0 ||
      Of.Integer > MaxLayers) {
    Diags.report(Of.Range, diag::ImportLayerCount, Of.print(), MaxLayers);
    return;
  }
  for (int64_t I = 0; I != Of.Integer && !Diags.hasErrors(); ++I) {
    Formulas.setLayer(I);
    LayerText &L = Job.Layers.emplace_back();
    for (const ast::Section *S : OfLayers)
      layer(L, S->Entries);
  }
  Formulas.setLayer(std::nullopt);
}

/// Fails for a section of a page that is none of \p Known, also in branches
/// that are not chosen: pages are shipped, so it is misspelt.
static void checkSections(const ast::Entry &E, ArrayRef<StringRef> Known) {
  if (const auto *I = std::get_if<ast::If>(&E.Node)) {
    for (const ast::Entry &In : concat<const ast::Entry>(I->Then, I->Else))
      checkSections(In, Known);
  } else if (const ast::Section *S = sectionOf(E)) {
    if (!is_contained(Known, S->Keyword.Text))
      report_fatal_error("in an import page: unknown section `" +
                         Twine(S->Keyword.Text) + "`");
    if (S->Keyword.Text == "layers")
      for (const ast::Entry &In : S->Entries)
        checkSections(In, {"attention", "ffn", "with_experts"});
  }
}

void Translator::run() {
  for (const ast::Entry *E : Map.entries())
    checkSections(*E, {"layers", "model", "branch", "emit", "train", "parallel",
                       "requests", "serve"});
  for (const ast::Entry *E : Map.entries())
    top(*E);
  if (!Diags.hasErrors())
    layers();
  Job.Defaults = Formulas.defaults();
}

void Translation::translate(ImportedJob &Job) const {
  Translator(*this, Job).run();
}

/// The key of \p Known that has the meaning of \p Key in a job, or the only one
/// that begins with it; empty if there is none.
static StringRef meantBy(StringRef Key, ArrayRef<StringRef> Known) {
  for (StringRef Name : namesOfKey(Key))
    if (is_contained(Known, Name))
      return *find(Known, Name);
  const auto Begins = [&](StringRef K) { return K.starts_with(Key); };
  if (!nearestWord(Key, Known).empty() || count_if(Known, Begins) != 1)
    return "";
  return *find_if(Known, Begins);
}

static void reportUnknown(const ast::Word &Key, ArrayRef<StringRef> Known,
                          DiagnosticEngine &Diags) {
  DiagnosticBuilder D =
      Diags.report(Key.Range, diag::ImportUnknownKey, Key.Text);
  const StringRef Meant = meantBy(Key.Text, Known);
  if (Meant.empty())
    suggest(std::move(D), Key.Range, Key.Text, Known);
  else
    D.note(Key.Range, diag::DidYouMean, Meant);
}

void Translation::reportKeys(const ForeignValue &Of, KeyCounts &Counts) const {
  const std::vector<StringRef> Known = Map.usedKeys();
  std::vector<const ForeignValue::Member *> Off;
  for (const ForeignValue::Member &M : *Of.Members) {
    const Mapping::FateOfKey Fate = Map.fateOf(M.Key.Text);
    switch (Fate.Is) {
    case Mapping::Fate::Used:
      ++Counts.Used;
      break;
    case Mapping::Fate::NoEffect:
      ++Counts.NoEffect;
      break;
    case Mapping::Fate::NotModelled:
      if (M.Is.isOff()) {
        ++Counts.NoEffect;
        break;
      }
      ++Counts.NotModelled;
      Diags.report(M.Key.Range, diag::ImportNotModelled, M.Key.Text,
                   Fate.Consequence);
      break;
    case Mapping::Fate::Unknown:
      ++Counts.Unknown;
      if (GathersOff && M.Is.isOff())
        Off.push_back(&M);
      else
        reportUnknown(M.Key, Known, Diags);
      break;
    }
  }
  if (Off.empty())
    return;
  const auto Name = [](const auto *M) { return M->Key.Text; };
  Diags.report(Off.front()->Key.Range, diag::ImportUnknownOff,
               join(map_range(Off, Name), ", "));
}

/// Reports the keys of members that have a class of their own.
static void reportSections(Pages &Classes, const ForeignValue &Of,
                           KeyCounts &Counts, DiagnosticEngine &Diags) {
  for (const ForeignValue::Member &M : *Of.Members) {
    const ast::Section *Class = M.Is.Is == ForeignValue::Kind::Map
                                    ? Classes.findClass("in_" + M.Key.Text)
                                    : nullptr;
    if (!Class)
      continue;
    const Mapping Map(Classes, *Class);
    Translation{Map, M.Is, nullptr, Diags}.reportKeys(M.Is, Counts);
  }
}

std::optional<ImportedJob> translate(Pages &Classes, const ast::Section &Class,
                                     const ForeignValue &Input,
                                     ImportRequest &Request,
                                     const ForeignValue *Outer) {
  const Mapping Map(Classes, Class);
  const Translation All{Map, Input, Outer, Request.Diags};
  ImportedJob Job;
  All.reportKeys(Input, Request.Counts);
  reportSections(Classes, Input, Request.Counts, Request.Diags);
  All.translate(Job);
  if (Request.Diags.hasErrors())
    return std::nullopt;
  return Job;
}

} // namespace foretrace::importers
