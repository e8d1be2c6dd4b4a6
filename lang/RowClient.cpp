// SPDX-License-Identifier: Apache-2.0
#include "lang/DiagnosticClient.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace llvm;

namespace foretrace {

std::string joinRanges(ArrayRef<int64_t> Numbers) {
  std::string Out;
  for (size_t I = 0; I < Numbers.size();) {
    const size_t First = I++;
    while (I < Numbers.size() && Numbers[I] <= Numbers[I - 1] + 1)
      ++I;
    Out += (First == 0 ? "" : ", ") + std::to_string(Numbers[First]);
    if (Numbers[First] != Numbers[I - 1])
      Out += "-" + std::to_string(Numbers[I - 1]);
  }
  return Out;
}

static std::string toCell(const DiagnosticArgument &A) {
  return std::visit(
      [](const auto &Value) { return formatv("{0}", Value).str(); }, A);
}

static std::string toCell(const DiagnosticProperty &P) {
  if (const auto *One = std::get_if<DiagnosticArgument>(&P.Value))
    return toCell(*One);
  if (const auto *Numbers = std::get_if<std::vector<int64_t>>(&P.Value))
    return joinRanges(*Numbers);
  return join(std::get<std::vector<std::string>>(P.Value), ", ");
}

/// Returns the value of a property, or the subject of a note; else empty.
static std::string findCell(const Diagnostic &D, StringRef Column) {
  for (const DiagnosticProperty &P : D.Properties)
    if (P.Name == Column)
      return toCell(P);
  std::string Slug = Column.str();
  std::replace(Slug.begin(), Slug.end(), '_', '-');
  for (const Diagnostic &Note : D.Notes)
    if (getDiagnosticInfo(Note.Id).Slug == Slug)
      return toCell(Note.Arguments.front());
  return "";
}

static std::string findPath(const Diagnostic &D, const SourceFiles &Sources) {
  if (D.At)
    return D.At->Path;
  return D.Range.isValid() ? Sources.name(D.Range.File).str() : "";
}

static std::string findLine(const Diagnostic &D, const SourceFiles &Sources) {
  if (D.At)
    return D.At->Line ? std::to_string(*D.At->Line) : "";
  return D.Range.isValid()
             ? std::to_string(Sources.locate(D.Range.start()).Line)
             : "";
}

namespace {

class RowClient : public DiagnosticClient {
public:
  RowClient(std::vector<RowColumn> Columns, RowFormat As, raw_ostream &OS)
      : Columns(std::move(Columns)), As(As), OS(OS) {}

  void show(const Diagnostic &D, const SourceFiles &Sources) override {
    std::vector<std::string> Row;
    for (const RowColumn &C : Columns)
      Row.push_back(printable(cellOf(D, C.Name, Sources)));
    rows().write(Row);
  }
  /// Writes the header, even if there are no rows.
  void finish() override { rows(); }

private:
  static std::string cellOf(const Diagnostic &D, StringRef Column,
                            const SourceFiles &Sources) {
    if (Column == "file")
      return findPath(D, Sources);
    if (Column == "line")
      return findLine(D, Sources);
    if (Column == "severity")
      return getName(D.Level).str();
    if (Column == "slug")
      return getDiagnosticInfo(D.Id).Slug.str();
    return Column == "message" ? D.text() : findCell(D, Column);
  }
  RowWriter &rows() {
    if (!Rows)
      Rows.emplace(Columns, As, OS);
    return *Rows;
  }

  const std::vector<RowColumn> Columns;
  const RowFormat As;
  raw_ostream &OS;
  std::optional<RowWriter> Rows;
};

} // namespace

std::unique_ptr<DiagnosticClient> makeRowClient(std::vector<RowColumn> Columns,
                                                RowFormat As, raw_ostream &OS) {
  return std::make_unique<RowClient>(std::move(Columns), As, OS);
}

} // namespace foretrace
