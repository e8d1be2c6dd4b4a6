// SPDX-License-Identifier: Apache-2.0
#include "backends/EmitOptions.h"
#include "backends/OptionKinds.h"
#include "backends/simai/AdaptRules.h"
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Backends.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::simai;

namespace {

struct EditRow {
  llvm::StringLiteral Name;
  EditKey Key;
  int64_t Least;
};
constexpr EditRow EditRows[] = {
#define EDIT(ENUMERATOR, KEY, LEAST) {KEY, EditKey::ENUMERATOR, LEAST},
#include "backends/simai/AdaptKeys.def"
};
constexpr llvm::StringRef NumberingWords[] = {
#define NUMBERING(ENUMERATOR, WORD) WORD,
#include "backends/simai/AdaptKeys.def"
};

/// The row of a table of keys with that name, or null.
template <typename RangeT>
auto findRow(const RangeT &Rows, llvm::StringRef Name) {
  const auto Row =
      llvm::find_if(Rows, [&](const auto &R) { return R.Name == Name; });
  return Row == std::end(Rows) ? nullptr : &*Row;
}
template <typename RangeT>
std::vector<llvm::StringRef> namesOf(const RangeT &Rows) {
  std::vector<llvm::StringRef> Names;
  for (const auto &R : Rows)
    Names.push_back(R.Name);
  return Names;
}

/// Reads one `adapt` section.
class Reader {
public:
  Reader(Adaptation &Out, DiagnosticEngine &Diags) : Out(Out), Diags(Diags) {}

  void readAdapt(const ir::Attribute &Section);

private:
  void readRows(const ir::NamedAttribute &A);
  void readRowKey(const ir::NamedAttribute &A, RowRule &Rule);
  void readNames(const ir::NamedAttribute &A, RowRule &Rule);
  void readColumns(const ir::NamedAttribute &A, RowRule &Rule);
  void readEdit(const ir::NamedAttribute &A, const EditRow &Row, RowRule &To);
  void readHeader(const ir::NamedAttribute &A);
  /// Reports \p A unless it is an integer of at least \p Least.
  std::optional<StatedCount> readCount(const ir::NamedAttribute &A,
                                       llvm::StringRef Path, int64_t Least);
  DiagnosticBuilder reportKey(const ir::NamedAttribute &A,
                              llvm::StringRef Where,
                              std::vector<llvm::StringRef> Known);
  unsigned addOption(std::string Name) {
    Out.Options.push_back(std::move(Name));
    return static_cast<unsigned>(Out.Options.size() - 1);
  }

  Adaptation &Out;
  DiagnosticEngine &Diags;
};

} // namespace

DiagnosticBuilder Reader::reportKey(const ir::NamedAttribute &A,
                                    llvm::StringRef Where,
                                    std::vector<llvm::StringRef> Known) {
  DiagnosticBuilder D = Diags.report(A.NameRange, diag::SimaiAdaptKey, A.Name,
                                     Where, llvm::join(Known, ", "));
  suggest(D, A.NameRange, A.Name, Known);
  return D;
}

std::optional<StatedCount> Reader::readCount(const ir::NamedAttribute &A,
                                             llvm::StringRef Path,
                                             int64_t Least) {
  if (A.Value.K == ir::Attribute::Kind::Int && A.Value.Integer >= Least)
    return StatedCount{A.Value.Integer, A.Value.Range,
                       addOption((Path + A.Name).str())};
  reportOptionValue(A, "a whole number of at least " + std::to_string(Least),
                    Diags);
  return std::nullopt;
}

void Reader::readEdit(const ir::NamedAttribute &A, const EditRow &Row,
                      RowRule &To) {
  const ir::Attribute &V = A.Value;
  Edit E{Row.Key,
         V.Range,
         0,
         isOfCell(Row.Key) && V.K == ir::Attribute::Kind::List,
         {}};
  std::string Expected =
      "a whole number of at least " + std::to_string(Row.Least);
  bool IsGood = !E.IsList || !V.Elements.empty();
  if (Row.Key == EditKey::Number) {
    const std::optional<size_t> Word = option::findWord(V, NumberingWords);
    E.Values.push_back(static_cast<int64_t>(Word.value_or(0)));
    IsGood = Word.has_value();
    Expected = option::oneOf(NumberingWords);
  } else {
    for (const ir::Attribute &Of :
         E.IsList ? llvm::ArrayRef(V.Elements) : llvm::ArrayRef(V)) {
      const bool IsKeep = isOfCell(Row.Key) &&
                          Of.K == ir::Attribute::Kind::Name &&
                          Of.Text == "keep";
      IsGood &= IsKeep ||
                (Of.K == ir::Attribute::Kind::Int && Of.Integer >= Row.Least);
      E.Values.push_back(IsKeep ? std::nullopt : std::optional(Of.Integer));
    }
    if (isOfCell(Row.Key))
      Expected += ", `keep`, or a list of these";
  }
  if (!IsGood)
    return reportOptionValue(A, Expected, Diags);
  E.Option = addOption("rows " + To.Label + "." + A.Name);
  To.Edits.push_back(std::move(E));
}

void Reader::readNames(const ir::NamedAttribute &A, RowRule &Rule) {
  Rule.Names.clear();
  for (const ir::Attribute &E : A.Value.Elements) {
    llvm::Expected<llvm::GlobPattern> Name = llvm::GlobPattern::create(E.Text);
    if (Name && E.K == ir::Attribute::Kind::Text)
      Rule.Names.push_back(std::move(*Name));
    llvm::consumeError(Name.takeError());
  }
  if (Rule.Names.empty() || Rule.Names.size() != A.Value.Elements.size())
    reportOptionValue(A,
                      "a list of names of rows in quotes; `*` stands for any "
                      "characters",
                      Diags);
}

void Reader::readColumns(const ir::NamedAttribute &A, RowRule &Rule) {
  Rule.Columns = 0;
  bool IsGood = !A.Value.Elements.empty();
  for (const ir::Attribute &E : A.Value.Elements) {
    const Column *C = findRow(Columns, E.Text);
    IsGood &= C && E.K == ir::Attribute::Kind::Name;
    if (C)
      Rule.Columns |= 1U << (C - std::begin(Columns));
  }
  if (!IsGood)
    reportOptionValue(A, "a list of " + llvm::join(namesOf(Columns), ", "),
                      Diags);
}

void Reader::readRowKey(const ir::NamedAttribute &A, RowRule &Rule) {
  if (const EditRow *Row = findRow(EditRows, A.Name))
    return readEdit(A, *Row, Rule);
  if (A.Name == "names")
    return readNames(A, Rule);
  if (A.Name == "columns")
    return readColumns(A, Rule);
  std::vector<llvm::StringRef> Known = {"names", "columns"};
  llvm::append_range(Known, namesOf(EditRows));
  DiagnosticBuilder D = reportKey(A, "rows", std::move(Known));
  if (findRow(Columns, A.Name))
    D.note(A.NameRange, diag::SimaiAdaptColumns, A.Name);
}

void Reader::readRows(const ir::NamedAttribute &A) {
  const llvm::StringRef Label = A.Value.Text;
  if (A.Value.K != ir::Attribute::Kind::Section || Label.empty())
    return reportOptionValue(A, "a section with a label, `rows NAME { ... }`",
                             Diags);
  RowRule Rule;
  Rule.Range = A.NameRange;
  Rule.Label = Label;
  // A label is made of words and hyphens, so it is a pattern without errors.
  Rule.Names.push_back(llvm::cantFail(llvm::GlobPattern::create(Label)));
  for (const ir::NamedAttribute &F : A.Value.Fields)
    readRowKey(F, Rule);
  Out.Rules.push_back(std::move(Rule));
}

void Reader::readHeader(const ir::NamedAttribute &A) {
  if (A.Value.K != ir::Attribute::Kind::Section)
    return reportOptionValue(A, "a section", Diags);
  for (const ir::NamedAttribute &F : A.Value.Fields) {
    const HeaderField *Field = findRow(headerFields(), F.Name);
    if (!Field) {
      reportKey(F, "header", namesOf(headerFields()));
    } else if (Field->Name == "pp_comm_colon") {
      if (F.Value.K != ir::Attribute::Kind::Bool)
        reportOptionValue(F, "true or false", Diags);
      else
        Out.Header.push_back(
            {Field,
             {F.Value.Integer, F.Value.Range, addOption("header." + F.Name)}});
    } else if (auto Count = readCount(F, "header.", Field->Least)) {
      Out.Header.push_back({Field, *Count});
    }
  }
}

void Reader::readAdapt(const ir::Attribute &Section) {
  for (const ir::NamedAttribute &A : Section.Fields) {
    if (A.Name == "micro_batches") {
      Out.MicroBatches = readCount(A, "", 1);
    } else if (A.Name == "last_layers") {
      Out.LastLayers = readCount(A, "", 0);
    } else if (A.Name == "rows") {
      readRows(A);
    } else if (A.Name == "header") {
      readHeader(A);
    } else {
      DiagnosticBuilder D = reportKey(
          A, "adapt", {"micro_batches", "last_layers", "rows", "header"});
      if (findRow(EditRows, A.Name))
        D.note(A.NameRange, diag::SimaiAdaptRows, A.Name);
    }
  }
}

AdaptationPtr foretrace::simai::readAdaptation(const ir::Attribute &Section,
                                               DiagnosticEngine &Diags) {
  unsigned Before = Diags.errorCount();
  auto A = std::make_shared<Adaptation>();
  Reader(*A, Diags).readAdapt(Section);
  return Diags.errorCount() == Before ? std::move(A) : nullptr;
}
