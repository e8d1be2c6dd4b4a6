// SPDX-License-Identifier: Apache-2.0
#include "backends/EmitOptions.h"
#include "backends/simai/AdaptRules.h"
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Backends.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::simai;

namespace {

struct CellRow {
  llvm::StringLiteral Name;
  CellKey Key;
  int64_t Least;
};
constexpr CellRow CellRows[] = {
#define CELL(ENUMERATOR, KEY, LEAST) {KEY, CellKey::ENUMERATOR, LEAST},
#include "backends/simai/AdaptKeys.def"
};

struct HeaderRow {
  llvm::StringLiteral Name;
  HeaderKey Key;
  int64_t Least;
};
constexpr HeaderRow HeaderRows[] = {
#define HEADER(ENUMERATOR, KEY, LEAST) {KEY, HeaderKey::ENUMERATOR, LEAST},
#include "backends/simai/AdaptKeys.def"
};

struct NumberingRow {
  llvm::StringLiteral Name;
  Numbering N;
};
constexpr NumberingRow NumberingRows[] = {
#define NUMBERING(ENUMERATOR, WORD) {WORD, Numbering::ENUMERATOR},
#include "backends/simai/AdaptKeys.def"
};

template <typename Range> std::vector<llvm::StringRef> names(const Range &R) {
  std::vector<llvm::StringRef> Names;
  for (const auto &Row : R)
    Names.push_back(Row.Name);
  return Names;
}

/// The row of a table of keys with that name, or null.
template <typename T, size_t N>
const T *findRow(const T (&Rows)[N], llvm::StringRef Name) {
  const T *Row =
      llvm::find_if(Rows, [&](const T &R) { return R.Name == Name; });
  return Row == std::end(Rows) ? nullptr : Row;
}

/// Reads one `adapt` section.
class Reader {
public:
  Reader(Adaptation &Out, DiagnosticEngine &Diags) : Out(Out), Diags(Diags) {}

  void readAdapt(const ir::Attribute &Section);

private:
  using ReadFn = void (Reader::*)(const ir::NamedAttribute &);
  struct KeyRow {
    llvm::StringLiteral Name;
    ReadFn Read;
  };
  static const KeyRow AdaptRows[], RuleRows[];

  void readSection(const ir::Attribute &Section, llvm::ArrayRef<KeyRow> Keys,
                   bool HasColumns);
  void readField(const ir::NamedAttribute &A, llvm::ArrayRef<KeyRow> Keys,
                 bool HasColumns);
  void readCell(const ir::NamedAttribute &A, const CellRow &Row);
  void readColumn(const ir::NamedAttribute &A);
  void readRows(const ir::NamedAttribute &A);
  void readNames(const ir::NamedAttribute &A);
  void readNumber(const ir::NamedAttribute &A);
  void readDropBelow(const ir::NamedAttribute &A);
  void readMicroBatches(const ir::NamedAttribute &A);
  void readLastLayers(const ir::NamedAttribute &A);
  void readHeader(const ir::NamedAttribute &A);

  /// Reports \p A unless it is an integer of at least \p Least.
  std::optional<Stated<int64_t>> readInteger(const ir::NamedAttribute &A,
                                             int64_t Least);
  bool expectSection(const ir::NamedAttribute &A);
  void reportKey(const ir::NamedAttribute &A,
                 std::vector<llvm::StringRef> Known);
  template <typename T> Stated<T> state(const ir::NamedAttribute &A, T Value);

  Adaptation &Out;
  DiagnosticEngine &Diags;
  // The section being read.
  std::string Path; ///< "rows mlp.forward."
  llvm::StringRef Where = "adapt";
  size_t Rule = 0;
  std::optional<unsigned> Column;
};

} // namespace

const Reader::KeyRow Reader::RuleRows[] = {
    {"names", &Reader::readNames},
    {"number", &Reader::readNumber},
    {"drop_below", &Reader::readDropBelow},
};

const Reader::KeyRow Reader::AdaptRows[] = {
    {"number", &Reader::readNumber},
    {"drop_below", &Reader::readDropBelow},
    {"micro_batches", &Reader::readMicroBatches},
    {"last_layers", &Reader::readLastLayers},
    {"header", &Reader::readHeader},
    {"rows", &Reader::readRows},
};

template <typename T>
Stated<T> Reader::state(const ir::NamedAttribute &A, T Value) {
  Out.Options.push_back(Path + A.Name);
  return {std::move(Value), A.Value.Range,
          static_cast<unsigned>(Out.Options.size() - 1)};
}

void Reader::reportKey(const ir::NamedAttribute &A,
                       std::vector<llvm::StringRef> Known) {
  suggest(Diags.report(A.NameRange, diag::SimaiAdaptKey, A.Name, Where,
                       llvm::join(Known, ", ")),
          A.NameRange, A.Name, Known);
}

std::optional<Stated<int64_t>> Reader::readInteger(const ir::NamedAttribute &A,
                                                   int64_t Least) {
  if (A.Value.K == ir::Attribute::Kind::Int && A.Value.Integer >= Least)
    return state(A, A.Value.Integer);
  reportOptionValue(A, "a whole number of at least " + std::to_string(Least),
                    Diags);
  return std::nullopt;
}

bool Reader::expectSection(const ir::NamedAttribute &A) {
  if (A.Value.K == ir::Attribute::Kind::Section)
    return true;
  reportOptionValue(A, "a section", Diags);
  return false;
}

void Reader::readCell(const ir::NamedAttribute &A, const CellRow &Row) {
  const ir::Attribute &V = A.Value;
  CellValue Value;
  Value.IsList = V.K == ir::Attribute::Kind::List;
  bool IsGood = !Value.IsList || !V.Elements.empty();
  for (const ir::Attribute &E :
       Value.IsList ? llvm::ArrayRef(V.Elements) : llvm::ArrayRef(V)) {
    bool IsKeep = E.K == ir::Attribute::Kind::Name && E.Text == "keep";
    IsGood &=
        IsKeep || (E.K == ir::Attribute::Kind::Int && E.Integer >= Row.Least);
    Value.Values.push_back(IsKeep ? std::nullopt : std::optional(E.Integer));
  }
  if (!IsGood)
    return reportOptionValue(A,
                             "a whole number of at least " +
                                 std::to_string(Row.Least) +
                                 ", `keep`, or a list of these",
                             Diags);
  Out.Rules[Rule].Settings.push_back(
      {Row.Key, Column, state(A, std::move(Value))});
}

void Reader::readNames(const ir::NamedAttribute &A) {
  RowRule &R = Out.Rules[Rule];
  R.Names.clear();
  for (const ir::Attribute &E : A.Value.Elements) {
    llvm::Expected<llvm::GlobPattern> Name = llvm::GlobPattern::create(E.Text);
    if (Name && E.K == ir::Attribute::Kind::Text)
      R.Names.push_back(std::move(*Name));
    llvm::consumeError(Name.takeError());
  }
  if (R.Names.empty() || R.Names.size() != A.Value.Elements.size())
    reportOptionValue(A,
                      "a list of names of rows in quotes; `*` stands for any "
                      "characters",
                      Diags);
}

void Reader::readNumber(const ir::NamedAttribute &A) {
  const NumberingRow *Row = findRow(NumberingRows, A.Value.Text);
  if (Row && A.Value.K == ir::Attribute::Kind::Name)
    Out.Rules[Rule].Number = state(A, Row->N);
  else
    reportOptionValue(A, "one of " + llvm::join(names(NumberingRows), ", "),
                      Diags);
}

void Reader::readDropBelow(const ir::NamedAttribute &A) {
  Out.Rules[Rule].DropBelow = readInteger(A, 1);
}

void Reader::readMicroBatches(const ir::NamedAttribute &A) {
  Out.MicroBatches = readInteger(A, 1);
}

void Reader::readLastLayers(const ir::NamedAttribute &A) {
  Out.LastLayers = readInteger(A, 0);
}

void Reader::readHeader(const ir::NamedAttribute &A) {
  if (!expectSection(A))
    return;
  Path = "header.";
  Where = "header";
  for (const ir::NamedAttribute &F : A.Value.Fields) {
    if (const HeaderRow *Row = findRow(HeaderRows, F.Name)) {
      if (std::optional<Stated<int64_t>> V = readInteger(F, Row->Least))
        Out.Header.push_back({Row->Key, *V});
    } else if (F.Name != "pp_comm_colon") {
      std::vector<llvm::StringRef> Known = names(HeaderRows);
      Known.push_back("pp_comm_colon");
      reportKey(F, std::move(Known));
    } else if (F.Value.K == ir::Attribute::Kind::Bool) {
      Out.PpCommColon = state(F, F.Value.Integer != 0);
    } else {
      reportOptionValue(F, "true or false", Diags);
    }
  }
  Path.clear();
  Where = "adapt";
}

void Reader::readColumn(const ir::NamedAttribute &A) {
  if (!expectSection(A))
    return;
  std::string Outer = Path;
  llvm::StringRef OuterWhere = Where;
  Path += A.Name + ".";
  Where = A.Name;
  Column = findRow(Columns, A.Name) - std::begin(Columns);
  readSection(A.Value, {}, /*HasColumns=*/false);
  Column.reset();
  Path = Outer;
  Where = OuterWhere;
}

void Reader::readRows(const ir::NamedAttribute &A) {
  if (!expectSection(A))
    return;
  llvm::StringRef Label = A.Value.Text;
  if (Label.empty())
    return reportOptionValue(A, "a section with a label, `rows NAME { ... }`",
                             Diags);
  Path = ("rows " + Label + ".").str();
  Where = "rows";
  Rule = Out.Rules.size();
  RowRule &R = Out.Rules.emplace_back();
  R.Range = A.NameRange;
  R.Label = Label;
  // A label is made of words and hyphens, so it is a pattern without errors.
  R.Names.push_back(llvm::cantFail(llvm::GlobPattern::create(Label)));
  readSection(A.Value, RuleRows, /*HasColumns=*/true);
  Path.clear();
  Where = "adapt";
  Rule = 0;
}

/// Values first, then sections: what is said of a column is said more closely.
void Reader::readSection(const ir::Attribute &Section,
                         llvm::ArrayRef<KeyRow> Keys, bool HasColumns) {
  for (bool IsSection : {false, true})
    for (const ir::NamedAttribute &A : Section.Fields)
      if ((A.Value.K == ir::Attribute::Kind::Section) == IsSection)
        readField(A, Keys, HasColumns);
}

void Reader::readField(const ir::NamedAttribute &A, llvm::ArrayRef<KeyRow> Keys,
                       bool HasColumns) {
  if (const CellRow *Row = findRow(CellRows, A.Name))
    return readCell(A, *Row);
  if (HasColumns && findRow(Columns, A.Name))
    return readColumn(A);
  for (const KeyRow &Row : Keys)
    if (Row.Name == A.Name)
      return (this->*Row.Read)(A);
  std::vector<llvm::StringRef> Known = names(CellRows);
  llvm::append_range(Known, names(Keys));
  if (HasColumns)
    llvm::append_range(Known, names(Columns));
  reportKey(A, std::move(Known));
}

void Reader::readAdapt(const ir::Attribute &Section) {
  Out.Rules.emplace_back();
  readSection(Section, AdaptRows, /*HasColumns=*/true);
}

AdaptationPtr foretrace::simai::readAdaptation(const ir::Attribute &Section,
                                               DiagnosticEngine &Diags) {
  unsigned Before = Diags.errorCount();
  auto A = std::make_shared<Adaptation>();
  Reader(*A, Diags).readAdapt(Section);
  return Diags.errorCount() == Before ? std::move(A) : nullptr;
}
