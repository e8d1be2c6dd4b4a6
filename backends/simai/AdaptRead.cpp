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
using AttributeKind = ir::Attribute::Kind;

namespace {

struct EditRow {
  llvm::StringLiteral Name;
  EditKey Key;
  int64_t Least;
};
constexpr EditRow EditRows[] = {
#define EDIT(ENUMERATOR, KEY, LEAST, NEW) {KEY, EditKey::ENUMERATOR, LEAST},
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

std::string atLeast(int64_t Least) {
  return "a whole number of at least " + std::to_string(Least);
}

/// Reads one `adapt` section.
class Reader {
public:
  Reader(Adaptation &Out, DiagnosticEngine &Diags) : Out(Out), Diags(Diags) {}

  void readAdapt(const ir::Attribute &Section);

private:
  void readRows(const ir::NamedAttribute &A);
  void readRowKey(const ir::NamedAttribute &A, RowSection &In);
  void readNames(const ir::NamedAttribute &A, RowSection &In);
  void readColumns(const ir::NamedAttribute &A, RowSection &In);
  void readEdit(const ir::NamedAttribute &A, const EditRow &Row,
                llvm::StringRef Label);
  void readHeader(const ir::NamedAttribute &A);
  /// Reports \p A unless it is an integer of at least \p Least, or a boolean.
  std::optional<StatedCount> readCount(const ir::NamedAttribute &A,
                                       llvm::StringRef Path, int64_t Least,
                                       bool IsFlag = false);
  DiagnosticBuilder reportKey(const ir::NamedAttribute &A,
                              llvm::StringRef Where,
                              std::vector<llvm::StringRef> Known);
  Setting add(const ir::Attribute &Value, std::string Option) {
    Out.Options.push_back(std::move(Option));
    return {Value.Range, static_cast<unsigned>(Out.Options.size() - 1)};
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
                                             int64_t Least, bool IsFlag) {
  const ir::Attribute &V = A.Value;
  if (V.K == (IsFlag ? AttributeKind::Bool : AttributeKind::Int) &&
      V.Integer >= Least)
    return StatedCount{add(V, (Path + A.Name).str()), V.Integer};
  reportOptionValue(A, IsFlag ? "true or false" : atLeast(Least), Diags);
  return std::nullopt;
}

void Reader::readEdit(const ir::NamedAttribute &A, const EditRow &Row,
                      llvm::StringRef Label) {
  const ir::Attribute &V = A.Value;
  const bool IsOfCell = isOfCell(Row.Key);
  const bool IsList = IsOfCell && V.K == AttributeKind::List;
  std::vector<std::optional<int64_t>> Values;
  std::string Expected =
      atLeast(Row.Least) + (IsOfCell ? ", `keep`, or a list of these" : "");
  bool IsGood = !IsList || !V.Elements.empty();
  if (Row.Key == EditKey::Number) {
    const std::optional<size_t> Word = option::findWord(V, NumberingWords);
    Values.push_back(static_cast<int64_t>(Word.value_or(0)));
    IsGood = Word.has_value();
    Expected = option::oneOf(NumberingWords);
  } else {
    for (const ir::Attribute &Of :
         IsList ? llvm::ArrayRef(V.Elements) : llvm::ArrayRef(V)) {
      const bool IsKeep =
          IsOfCell && Of.K == AttributeKind::Name && Of.Text == "keep";
      IsGood &=
          IsKeep || (Of.K == AttributeKind::Int && Of.Integer >= Row.Least);
      Values.push_back(IsKeep ? std::nullopt : std::optional(Of.Integer));
    }
  }
  if (!IsGood)
    return reportOptionValue(A, Expected, Diags);
  Out.Edits.push_back({add(V, ("rows " + Label + "." + A.Name).str()), Row.Key,
                       static_cast<unsigned>(Out.Sections.size()), IsList,
                       std::move(Values)});
}

void Reader::readNames(const ir::NamedAttribute &A, RowSection &In) {
  In.Names.clear();
  for (const ir::Attribute &E : A.Value.Elements) {
    llvm::Expected<llvm::GlobPattern> Name = llvm::GlobPattern::create(E.Text);
    if (Name && E.K == AttributeKind::Text)
      In.Names.push_back(std::move(*Name));
    llvm::consumeError(Name.takeError());
  }
  if (In.Names.empty() || In.Names.size() != A.Value.Elements.size())
    reportOptionValue(A,
                      "a list of names of rows in quotes; `*` stands for any "
                      "characters",
                      Diags);
}

void Reader::readColumns(const ir::NamedAttribute &A, RowSection &In) {
  In.Columns = 0;
  bool IsGood = !A.Value.Elements.empty();
  for (const ir::Attribute &E : A.Value.Elements) {
    const Column *C = findRow(Columns, E.Text);
    IsGood &= C && E.K == AttributeKind::Name;
    if (C)
      In.Columns |= 1U << (C - std::begin(Columns));
  }
  if (!IsGood)
    reportOptionValue(A, "a list of " + llvm::join(namesOf(Columns), ", "),
                      Diags);
}

void Reader::readRowKey(const ir::NamedAttribute &A, RowSection &In) {
  if (const EditRow *Row = findRow(EditRows, A.Name))
    return readEdit(A, *Row, In.Label);
  if (A.Name == "names")
    return readNames(A, In);
  if (A.Name == "columns")
    return readColumns(A, In);
  std::vector<llvm::StringRef> Known = {"names", "columns"};
  llvm::append_range(Known, namesOf(EditRows));
  DiagnosticBuilder D = reportKey(A, "rows", std::move(Known));
  if (findRow(Columns, A.Name))
    D.note(A.NameRange, diag::SimaiAdaptColumns, A.Name);
}

void Reader::readRows(const ir::NamedAttribute &A) {
  const llvm::StringRef Label = A.Value.Text;
  if (A.Value.K != AttributeKind::Section || Label.empty())
    return reportOptionValue(A, "a section with a label, `rows NAME { ... }`",
                             Diags);
  // A label is made of words and hyphens, so it is a pattern without errors.
  RowSection Rows{A.NameRange, Label.str(), {}};
  Rows.Names.push_back(llvm::cantFail(llvm::GlobPattern::create(Label)));
  for (const ir::NamedAttribute &F : A.Value.Fields)
    readRowKey(F, Rows);
  Out.Sections.push_back(std::move(Rows));
}

void Reader::readHeader(const ir::NamedAttribute &A) {
  if (A.Value.K != AttributeKind::Section)
    return reportOptionValue(A, "a section", Diags);
  for (const ir::NamedAttribute &F : A.Value.Fields) {
    const HeaderField *Field = findRow(headerFields(), F.Name);
    if (!Field)
      reportKey(F, "header", namesOf(headerFields()));
    else if (auto Count = readCount(F, "header.", Field->Least, Field->IsFlag))
      Out.Header.push_back({Field, *Count});
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
