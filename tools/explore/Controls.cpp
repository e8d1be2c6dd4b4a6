// SPDX-License-Identifier: Apache-2.0
#include "tools/explore/Controls.h"
#include "backends/CommandLine.h"
#include "ir/model/Spellings.h"
#include "ir/text/TextWriter.h"
#include "passes/vary/Keys.h"
#include "passes/vary/Moves.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::explore {

/// Returns a value in the syntax of -D.
template <typename T> static std::string textOf(const T &Value) {
  if constexpr (std::is_enum_v<T>) {
    std::string Text;
    raw_string_ostream OS(Text);
    ir::printName(ir::getSpelling(Value), OS);
    return Text;
  } else {
    return ir::spell(Value);
  }
}

template <typename T>
static StringRef nameOf(typename Located<T>::Status Status) {
  using How = typename Located<T>::Status;
  return Status == How::Stated    ? "stated"
         : Status == How::Default ? "default"
                                  : "derived";
}

/// Returns numbers that may be legal: those of the key's moves, or near ones.
static std::vector<std::string> numbersOf(ir::Spec &S, Located<int64_t> &F,
                                          StringRef Type) {
  std::set<int64_t> All;
  for (const vary::Move &M : vary::allMoves())
    if (M.Find && is_contained(M.Find(S, F.Range), &F))
      for (int64_t Value : M.List(S, F))
        All.insert(Value);
  All.insert(*F);
  const vary::ValueKey Key = {
      "", F.Range, *F, nullptr, true, Type == "Int" ? 1 : 0, INT64_MAX};
  constexpr size_t Few = 4;
  if (All.size() < Few)
    for (int64_t Value : vary::othersOf(Key, {}))
      All.insert(Value);
  std::vector<std::string> Texts;
  for (int64_t Value : All)
    Texts.push_back(std::to_string(Value));
  return Texts;
}

/// Returns a number of millionths in the syntax of -D.
static std::string spellMillionths(int64_t Number) {
  constexpr unsigned Digits = 6;
  return decimalFraction(Number, Digits);
}

/// Returns fractions of a whole, and \p Own.
static std::vector<std::string> fractionsAround(int64_t Own) {
  constexpr int64_t Whole = 1'000'000, Step = Whole / 20;
  std::set<int64_t> All = {Own};
  for (int64_t Each = Step; Each <= Whole; Each += Step)
    All.insert(Each);
  std::vector<std::string> Texts;
  for (const int64_t Each : All)
    Texts.push_back(spellMillionths(Each));
  return Texts;
}

namespace {

class ControlLister {
public:
  ControlLister(ir::Spec Derived, const SourceFiles &Sources)
      : S(std::move(Derived)), Sources(Sources) {}

  std::vector<Control> run(ArrayRef<ParamEntry> Params) &&;

private:
  template <typename T>
  void add(std::string Path, const ir::FieldRow &Row, Located<T> &F);
  void addParam(const ParamEntry &P);
  void addText(StringRef Path, SourceRange Range);

  ir::Spec S;
  const SourceFiles &Sources;
  std::vector<Control> All;
};

} // namespace

template <typename T>
void ControlLister::add(std::string Path, const ir::FieldRow &Row,
                        Located<T> &F) {
  if (!F.isPresent())
    return;
  Control C{std::move(Path),
            ir::keywordOf(Row.Section),
            Row.Name.str(),
            Row.Type.str(),
            textOf(*F),
            nameOf<T>(F.From),
            F.isStated() ? F.Range : SourceRange(),
            {}};
  if constexpr (std::is_same_v<T, bool>) {
    C.Candidates = {"false", "true"};
  } else if constexpr (std::is_enum_v<T>) {
    C.Type = "Word";
    for (size_t I = 0; I != ir::getSpellings<T>().size(); ++I)
      C.Candidates.push_back(textOf(static_cast<T>(I)));
  } else if constexpr (std::is_same_v<T, int64_t>) {
    const bool IsFraction = Row.Type == "Fraction";
    C.Candidates = IsFraction ? fractionsAround(*F) : numbersOf(S, F, Row.Type);
    if (IsFraction || Row.Type == "PerSecond")
      C.Value = spellMillionths(*F);
  } else if (!Row.Words.empty()) {
    C.Type = "Word";
    for (StringRef Word : Row.Words)
      C.Candidates.push_back(Word.str());
  } else {
    C.Type = "Text";
    if (C.Range.isValid())
      C.Value = Sources.slice(C.Range).str();
  }
  All.push_back(std::move(C));
}

/// A number as it would be one of a key.
static std::vector<std::string> numbersAround(ir::Spec &S, int64_t Number,
                                              SourceRange Range) {
  Located<int64_t> F;
  F.state(Number, Range);
  return numbersOf(S, F, "Int");
}

/// A param that names its values is a list of them.
void ControlLister::addParam(const ParamEntry &P) {
  using Kind = ParamEntry::Kind;
  Control C{P.Name, "param", P.Name, "Text", P.Value, "stated", P.Range, {}};
  if (P.Is == Kind::Flag) {
    C.Type = "Bool";
    C.Candidates = {"false", "true"};
  } else if (!P.Domain.empty()) {
    C.Type = P.Is == Kind::Count ? "Int" : "Word";
    C.Candidates = P.Domain;
  } else if (int64_t Number = 0; to_integer(P.Value, Number, 10)) {
    C.Type = "Int";
    C.Candidates = numbersAround(S, Number, P.Range);
  }
  All.push_back(std::move(C));
}

/// Adds a key that is no field, with its text as its value.
void ControlLister::addText(StringRef Path, SourceRange Range) {
  if (!Range.isValid())
    return;
  const auto [Section, Name] = Path.rsplit('.');
  Control C{
      Path.str(), Section.str(), Name.str(), "Text", Sources.slice(Range).str(),
      "stated",   Range,         {}};
  if (int64_t Number = 0; to_integer(C.Value, Number, 10)) {
    C.Type = "Int";
    C.Candidates = numbersAround(S, Number, Range);
  }
  All.push_back(std::move(C));
}

std::vector<Control> ControlLister::run(ArrayRef<ParamEntry> Params) && {
  for (const ParamEntry &P : Params)
    addParam(P);
  std::set<std::string> Seen; // blocks share sections
  vary::visitPaths(
      S, [&](std::string Path, ir::Key, const ir::FieldRow &Row, auto &F) {
        if (Seen.insert(Path).second)
          add(std::move(Path), Row, F);
      });
  addText(vary::LayersPath, S.Model.LayersRange);
  if (!S.Parallel.Layout.empty())
    addText(vary::LayoutPath, S.Parallel.LayoutRange);
  return std::move(All);
}

std::vector<Control> controlsOf(LiveJob &Job, const JobVariant &V,
                                const ir::Spec &Derived) {
  Compiler &Session = Job.session();
  DiagnosticEngine Diags;
  return ControlLister(Derived, Session.sources())
      .run(Session.listParams(Job.jobPath(), Job.prepare(Session, V), Diags));
}

std::vector<Candidate> tryCandidates(LiveJob &Job, const JobVariant &V,
                                     const Control &C) {
  std::vector<Candidate> All;
  for (const std::string &Value : C.Candidates) {
    JobVariant Changed = V;
    Changed.Changes.push_back(C.Path + "=" + Value);
    const VariantJob Varied(Job, Changed, DiagnosticEngine().cloneForTrial());
    Candidate Tried{Value, ""};
    if (!Varied->program({ir::Fact::Complete})) {
      const Diagnostic *First = Varied->engine().firstError();
      Tried.WhyNot = First ? First->text() : "the job is refused";
    }
    All.push_back(std::move(Tried));
  }
  return All;
}

} // namespace foretrace::explore
