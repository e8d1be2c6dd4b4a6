// SPDX-License-Identifier: Apache-2.0
#include "frontend/Parse.h"
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Tools.h"
#include "tools/runs/Check.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::runs {

bool Allowance::covers(const Divergence &D, int64_t Rank) const {
  return (Kinds.empty() || is_contained(Kinds, D.Kind)) &&
         (Ops.empty() || is_contained(Ops, D.Op)) &&
         (Ranks.empty() || is_contained(Ranks, Rank));
}

namespace {

class ToleranceReader {
public:
  explicit ToleranceReader(DiagnosticEngine &Diags) : Diags(Diags) {}

  Allowance read(const ast::Section &Table);

private:
  void readKey(const ast::Assignment &A, Allowance &Out);
  void readKind(const ast::Expr &E, Allowance &Out);
  /// Returns the elements of a list, or the only value.
  static std::vector<const ast::Expr *> elements(const ast::Expr &E);

  DiagnosticEngine &Diags;
};

} // namespace

std::vector<const ast::Expr *> ToleranceReader::elements(const ast::Expr &E) {
  const auto *List = std::get_if<ast::List>(&E.Node);
  if (!List)
    return {&E};
  std::vector<const ast::Expr *> Out;
  for (const ast::ExprPtr &Element : List->Elements)
    Out.push_back(Element.get());
  return Out;
}

/// Returns whether it is a diagnostic of a divergence in a run.
static bool isDivergence(diag::Id Id) {
  return Id / diag::MaxRows ==
             static_cast<unsigned>(diag::DiagnosticTable::Runs) &&
         getDiagnosticInfo(Id).Level == Severity::Error;
}

void ToleranceReader::readKind(const ast::Expr &E, Allowance &Out) {
  const auto *Text = std::get_if<ast::String>(&E.Node);
  std::vector<StringRef> Names;
  for (const diag::Id Id : allDiagnostics()) {
    const DiagnosticInfo &Info = getDiagnosticInfo(Id);
    if (!isDivergence(Id))
      continue;
    Names.push_back(Info.Slug);
    if (Text && Text->Value == Info.Slug)
      return Out.Kinds.push_back(Id);
  }
  DiagnosticBuilder D =
      Diags.report(E.Range, diag::ToleranceValue, "kind", join(Names, ", "));
  if (Text)
    suggest(D, E.Range, Text->Value, Names);
}

void ToleranceReader::readKey(const ast::Assignment &A, Allowance &Out) {
  static constexpr StringRef Keys[] = {"kind", "op", "rank"};
  if (!is_contained(Keys, A.Key.Text)) {
    suggest(Diags.report(A.Key.Range, diag::ToleranceKey, A.Key.Text,
                         join(ArrayRef(Keys), ", ")),
            A.Key.Range, A.Key.Text, Keys);
    return;
  }
  for (const ast::Expr *E : elements(*A.Value)) {
    if (A.Key.Text == "kind") {
      readKind(*E, Out);
    } else if (A.Key.Text == "op") {
      if (const auto *Text = std::get_if<ast::String>(&E->Node))
        Out.Ops.push_back(Text->Value);
      else
        Diags.report(E->Range, diag::ToleranceValue, "op", "names of rows");
    } else {
      const auto *Number = std::get_if<ast::Number>(&E->Node);
      int64_t Rank;
      if (Number && !StringRef(Number->Digits).getAsInteger(10, Rank))
        Out.Ranks.push_back(Rank);
      else
        Diags.report(E->Range, diag::ToleranceValue, "rank", "ranks");
    }
  }
}

Allowance ToleranceReader::read(const ast::Section &Table) {
  Allowance Out;
  Out.Name = Table.Keyword.Text;
  for (const ast::Entry &E : Table.Entries)
    if (const auto *A = std::get_if<ast::Assignment>(&E.Node))
      readKey(*A, Out);
    else
      Diags.report(E.Range, diag::ToleranceTable);
  return Out;
}

std::optional<std::vector<Allowance>>
readTolerance(StringRef Path, SourceFiles &Sources, DiagnosticEngine &Diags) {
  const ErrorOr<FileId> Id = Sources.open(Path);
  if (!Id) {
    Diags.report({}, diag::FileUnreadable, Path, Id.getError().message());
    return std::nullopt;
  }
  std::optional<ast::Section> File = parseToml(Sources.text(*Id), Diags);
  if (!File)
    return std::nullopt;
  std::vector<Allowance> Out;
  for (const ast::Entry &E : File->Entries)
    if (const auto *Table = std::get_if<ast::Section>(&E.Node))
      Out.push_back(ToleranceReader(Diags).read(*Table));
    else
      Diags.report(E.Range, diag::ToleranceTable);
  if (Diags.hasErrors())
    return std::nullopt;
  return Out;
}

} // namespace foretrace::runs
