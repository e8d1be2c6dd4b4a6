// SPDX-License-Identifier: Apache-2.0
//
// Where the entries of a sweep come from: a section, a file of TOML, the
// command line.
#include "frontend/Parse.h"
#include "frontend/sweep/BindSweep.h"
#include "lang/diagnostics/Frontend.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;

std::string foretrace::pathOf(const ast::Name &Key) {
  std::string Path;
  for (const ast::Word &W : Key.Path)
    Path += (Path.empty() ? "" : ".") + W.Text;
  return Path;
}

std::string foretrace::pathsOf(const ast::Axis &A) {
  std::vector<std::string> Paths;
  for (const ast::Name &K : A.Keys)
    Paths.push_back(pathOf(K));
  return llvm::join(Paths, ", ");
}

void SweepEntries::beginSource() {
  Axes.First = Axes.All.size();
  Clauses.First = Clauses.All.size();
}

/// Returns a key that both axes have, or null.
static const ast::Name *findShared(const ast::Axis &A, const ast::Axis &B) {
  for (const ast::Name &K : A.Keys)
    for (const ast::Name &Other : B.Keys)
      if (pathOf(K) == pathOf(Other))
        return &K;
  return nullptr;
}

void SweepEntries::add(const ast::Axis &A) {
  for (size_t I = 0; I < A.Keys.size(); ++I)
    for (size_t J = 0; J < I; ++J)
      if (const std::string Path = pathOf(A.Keys[I]);
          Path == pathOf(A.Keys[J])) {
        Diags.report(A.Range, diag::DuplicateAxis, Path);
        return;
      }
  for (size_t I = 0; I < Axes.All.size(); ++I) {
    const ast::Axis &Other = *Axes.All[I];
    const ast::Name *Shared = findShared(A, Other);
    if (!Shared)
      continue;
    if (I < Axes.First && pathsOf(A) == pathsOf(Other)) {
      Axes.All[I] = &A; // others may depend on it: it keeps its place
      return;
    }
    Diags
        .report(Shared->Path.front().Range.to(Shared->Path.back().Range),
                diag::DuplicateAxis, pathOf(*Shared))
        .note(Other.Range, diag::DeclaredHere, pathOf(*Shared));
    return;
  }
  Axes.All.push_back(&A);
}

/// Returns whether a sweep can have only one of the two clauses.
static bool isSameKind(const ast::Clause &A, const ast::Clause &B) {
  auto IsBest = [](const ast::Clause &C) {
    return C.Keyword.Text == "minimize" || C.Keyword.Text == "maximize";
  };
  return A.Keyword.Text != "where" &&
         (A.Keyword.Text == B.Keyword.Text || (IsBest(A) && IsBest(B)));
}

void SweepEntries::add(const ast::Clause &C) {
  for (size_t I = 0; I < Clauses.All.size(); ++I) {
    const ast::Clause &Other = *Clauses.All[I];
    if (!isSameKind(C, Other))
      continue;
    if (I >= Clauses.First)
      Diags.report(C.Keyword.Range, diag::DuplicateClause, C.Keyword.Text)
          .note(Other.Keyword.Range, diag::DeclaredHere, Other.Keyword.Text);
    Clauses.All[I] = &C;
    return;
  }
  Clauses.All.push_back(&C);
}

/// `fits = any` is a clause, although it looks like a metric. Reports values
/// other than the words that the clause has.
void SweepEntries::addFits(const ast::Assignment &A) {
  const auto *Word = std::get_if<ast::Name>(&A.Value->Node);
  auto Of = std::make_unique<ast::Expr>();
  Of->Range = A.Value->Range;
  Of->Node = Word ? *Word : ast::Name();
  add(OwnClauses.emplace_back(ast::Clause{A.Key, std::move(Of)}));
}

void SweepEntries::gatherSection(const ast::Section &S) {
  beginSource();
  for (const ast::Entry &E : S.Entries) {
    if (const auto *A = std::get_if<ast::Axis>(&E.Node)) {
      add(*A);
    } else if (const auto *C = std::get_if<ast::Clause>(&E.Node)) {
      add(*C);
    } else if (const auto *L = std::get_if<ast::Let>(&E.Node)) {
      Lets.push_back(L);
    } else if (const auto *M = std::get_if<ast::Assignment>(&E.Node)) {
      if (M->Key.Text == "fits")
        addFits(*M);
      else
        Metrics.push_back({M->Key, M->Value.get()});
    } else if (const auto *Emit = std::get_if<ast::Section>(&E.Node);
               Emit && Emit->Keyword.Text == "emit") {
      HasEmits = true;
    } else {
      Diags.report(E.Range, diag::NotInSweep);
    }
  }
}

void SweepEntries::pin(const std::string &Path, SourceText Value) {
  Pinned.push_back(Path);
  for (const ast::Axis *&A : Axes.All) {
    const auto *K =
        llvm::find_if(llvm::ArrayRef(A->Keys), [&](const ast::Name &Key) {
          return pathOf(Key) == Path;
        });
    if (K == llvm::ArrayRef(A->Keys).end())
      continue;
    if (A->Keys.size() > 1)
      Diags.report(A->Range, diag::AxisGiven, Path);
    else if (auto Elements = parseElements(Value, Diags))
      A = &OwnAxes.emplace_back(
          ast::Axis{A->Keys, std::move(*Elements), A->Range});
  }
}

const ast::Expr *SweepEntries::own(ast::ExprPtr E) {
  return E ? OwnExprs.emplace_back(std::move(E)).get() : nullptr;
}

/// \p Path is `parallel.tp`, or several keys with commas, at \p Range;
/// \p PlaceOf returns the place of a part of it.
void SweepEntries::addAxis(
    llvm::StringRef Path, SourceRange Range,
    llvm::function_ref<SourceRange(llvm::StringRef)> PlaceOf,
    std::vector<ast::Axis::Element> Elements) {
  ast::Axis A = {{}, std::move(Elements), Range};
  llvm::SmallVector<llvm::StringRef, 2> Keys;
  Path.split(Keys, ',');
  for (const llvm::StringRef Key : Keys) {
    llvm::SmallVector<llvm::StringRef, 4> Names;
    Key.trim().split(Names, '.');
    constexpr size_t MaxNames = 8; // no section is that deep
    if (llvm::is_contained(Names, "") || Names.size() > MaxNames) {
      Diags.report(Range, diag::MalformedAxis, Path);
      return;
    }
    ast::Name &To = A.Keys.emplace_back();
    for (const llvm::StringRef Name : Names)
      To.Path.push_back({Name.trim().str(), PlaceOf(Name.trim())});
  }
  add(OwnAxes.emplace_back(std::move(A)));
}

/// Returns the text of a string in a file, without its quotes.
static SourceText insideOf(const ast::Expr &E, SourceFiles &Sources) {
  const SourceText File = Sources.text(E.Range.File);
  llvm::StringRef Text = File.slice(E.Range);
  if (const auto &Said = std::get<ast::String>(E.Node).Value;
      Text.contains('\\')) // places are in the unescaped text
    return Sources.text(Sources.add(Said, Sources.name(E.Range.File)));
  const size_t Quotes =
      Text.starts_with("\"\"\"") || Text.starts_with("'''") ? 3 : 1;
  return File.part(Text.drop_front(Quotes).drop_back(Quotes));
}

/// The elements of an axis in TOML: a list, or a string of them.
void SweepEntries::addAxes(const ast::Section &Table, const std::string &Prefix,
                           SourceFiles &Sources) {
  for (const ast::Entry &Entry : Table.Entries) {
    if (const auto *S = std::get_if<ast::Section>(&Entry.Node)) {
      addAxes(*S, Prefix + S->Keyword.Text + ".", Sources);
      continue;
    }
    const auto &A = std::get<ast::Assignment>(Entry.Node);
    std::vector<ast::Axis::Element> Elements;
    auto Add = [&](const ast::Expr &E) {
      const bool IsText = std::holds_alternative<ast::String>(E.Node);
      auto Parsed = parseElements(
          IsText ? insideOf(E, Sources)
                 : Sources.text(E.Range.File).part(Sources.slice(E.Range)),
          Diags);
      if (Parsed)
        llvm::move(*Parsed, std::back_inserter(Elements));
    };
    if (const auto *L = std::get_if<ast::List>(&A.Value->Node))
      for (const ast::ExprPtr &E : L->Elements)
        Add(*E);
    else
      Add(*A.Value);
    addAxis(
        Prefix + A.Key.Text, A.Key.Range,
        [&](llvm::StringRef) { return A.Key.Range; }, std::move(Elements));
  }
}

/// A clause for each string of \p E, which is one or a list of them.
void SweepEntries::addTexts(llvm::StringRef Keyword, const ast::Expr &E,
                            SourceFiles &Sources) {
  if (const auto *L = std::get_if<ast::List>(&E.Node)) {
    for (const ast::ExprPtr &Element : L->Elements)
      addTexts(Keyword, *Element, Sources);
    return;
  }
  if (!std::holds_alternative<ast::String>(E.Node)) {
    Diags.report(E.Range, diag::WrongType, Keyword, "an expression",
                 "a string");
    return;
  }
  if (ast::ExprPtr Of = parseExpression(insideOf(E, Sources), Diags))
    add(OwnClauses.emplace_back(
        ast::Clause{{Keyword.str(), E.Range}, std::move(Of)}));
}

void SweepEntries::gatherTable(const ast::Section &Table,
                               SourceFiles &Sources) {
  static constexpr llvm::StringLiteral Keywords[] = {
      "where", "minimize", "maximize", "keep", "fits"};
  beginSource();
  for (const ast::Entry &Entry : Table.Entries) {
    if (const auto *S = std::get_if<ast::Section>(&Entry.Node)) {
      if (S->Keyword.Text == "axes") {
        addAxes(*S, "", Sources);
        continue;
      }
      if (S->Keyword.Text == "metrics") {
        for (const ast::Entry &M : S->Entries)
          if (const auto *A = std::get_if<ast::Assignment>(&M.Node);
              A && std::holds_alternative<ast::String>(A->Value->Node)) {
            if (const auto *Of =
                    own(parseExpression(insideOf(*A->Value, Sources), Diags)))
              Metrics.push_back({A->Key, Of});
          } else {
            Diags.report(M.Range, diag::NotInSweep);
          }
        continue;
      }
    } else if (const auto *A = std::get_if<ast::Assignment>(&Entry.Node);
               A && llvm::is_contained(Keywords, A->Key.Text)) {
      addTexts(A->Key.Text, *A->Value, Sources);
      continue;
    }
    Diags.report(Entry.Range, diag::NotInSweep);
  }
}

void SweepEntries::addGiven(llvm::StringRef Flag, SourceText Text) {
  if (Flag != "sweep" && Flag != "metric") {
    if (ast::ExprPtr Of = parseExpression(Text, Diags))
      add(OwnClauses.emplace_back(
          ast::Clause{{Flag.str(), Text.range()}, std::move(Of)}));
    return;
  }
  auto [Key, Value] = Text.str().split('=');
  Key = Key.trim();
  if (Key.empty() || Value.trim().empty()) {
    Diags.report(Text.range(), diag::MalformedAxis, Text.str());
    return;
  }
  if (Flag == "metric") {
    if (const auto *Of = own(parseExpression(Text.part(Value), Diags)))
      Metrics.push_back({{Key.str(), Text.rangeOf(Key)}, Of});
    return;
  }
  if (llvm::is_contained(Pinned, Key)) {
    Diags.report(Text.rangeOf(Key), diag::AxisGiven, Key);
    return;
  }
  if (auto Elements = parseElements(Text.part(Value), Diags))
    addAxis(
        Key, Text.rangeOf(Key),
        [&](llvm::StringRef Part) { return Text.rangeOf(Part); },
        std::move(*Elements));
}

void SweepEntries::gatherGiven(llvm::ArrayRef<SweepRequest::Given> Given,
                               SourceFiles &Sources) {
  beginSource();
  std::string Lines;
  for (const SweepRequest::Given &G : Given)
    Lines += "--" + G.Flag + " " + G.Text + "\n";
  const SourceText All = Sources.text(Sources.add(Lines, CommandLineName));
  llvm::StringRef Rest = All.str();
  for (const SweepRequest::Given &G : Given) {
    const size_t Begin = G.Flag.size() + 3;
    addGiven(G.Flag, All.part(Rest.substr(Begin, G.Text.size())));
    Rest = Rest.drop_front(Begin + G.Text.size() + 1);
  }
}
