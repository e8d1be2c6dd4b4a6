// SPDX-License-Identifier: Apache-2.0
#include "backends/simai/Adapt.h"
#include "backends/simai/AdaptRules.h"
#include "llvm/ADT/StringMap.h"

using namespace foretrace;
using namespace foretrace::simai;

bool RowRule::matches(llvm::StringRef Name) const {
  return Names.empty() || llvm::any_of(Names, [&](const llvm::GlobPattern &P) {
           return P.match(Name);
         });
}

/// What stands later was read from closer by: a section of rows goes before the
/// whole, a column before all.
const Setting *Adaptation::find(llvm::StringRef Row, CellKey Key,
                                unsigned Column) const {
  for (const RowRule &Rule : llvm::reverse(Rules)) {
    if (!Rule.matches(Row))
      continue;
    for (const Setting &S : llvm::reverse(Rule.Settings))
      if (S.Key == Key && S.Column.value_or(Column) == Column)
        return &S;
  }
  return nullptr;
}

std::optional<int64_t> foretrace::simai::adaptedWorld(const Adaptation &A) {
  for (const auto &[Key, New] : A.Header)
    if (Key == HeaderKey::AllGpus)
      return New.Value;
  return std::nullopt;
}

std::optional<Table> foretrace::simai::adapted(const Adaptation &A,
                                               const Table &T,
                                               DiagnosticEngine &Diags) {
  const unsigned Before = Diags.errorCount();
  Table Edited = apply(A, T, Diags).Table;
  if (Diags.errorCount() != Before)
    return std::nullopt;
  return Edited;
}

/// Only the number of each name is kept between rows.
void foretrace::simai::writeAdapted(const Adaptation &A, const Table &T,
                                    llvm::raw_ostream &OS) {
  struct Counter {
    Numbering Number = Numbering::None;
    int64_t Seen = 0;
  };
  DiagnosticEngine Known; // `adapted` has reported these
  const Table Edited = apply(A, T, Known).Table;
  llvm::StringMap<Counter> Counters;
  for (const std::vector<Row> &Body : Edited.Bodies)
    for (const Row &R : Body)
      if (const Stated<Numbering> *N = A.find(R.Name, &RowRule::Number))
        Counters[R.Name].Number = N->Value;
  writeHeader(Edited.Header, OS);
  OS << Edited.rowCount().value() << '\n';
  forEachRow(Edited, [&](const Row &R) {
    Counter &C = Counters[R.Name];
    ++C.Seen;
    if (C.Number == Numbering::None ||
        (C.Number == Numbering::Repeats && C.Seen == 1))
      return writeRow(R, OS);
    Row Numbered = R;
    Numbered.Name += "_" + std::to_string(C.Seen);
    writeRow(Numbered, OS);
  });
}

void foretrace::simai::writeRecord(const Adaptation &A, const Table &T,
                                   llvm::raw_ostream &OS) {
  DiagnosticEngine Known; // `adapted` has reported these
  const Adapted Out = apply(A, T, Known);
  llvm::json::OStream J(OS, /*IndentSize=*/2);
  J.object([&] {
    J.attribute("rows_before", T.rowCount().value());
    J.attribute("rows_after", Out.Table.rowCount().value());
    J.attributeArray("adaptations", [&] {
      for (size_t I = 0; I < A.Options.size(); ++I) {
        const Change &C = Out.Changes[I];
        J.object([&] {
          J.attribute("option", A.Options[I]);
          J.attribute("changed", C.Count);
          if (!C.Row.empty())
            J.attribute("row", C.Row);
          if (!C.Column.empty())
            J.attribute("column", C.Column);
          if (C.Count == 0)
            return;
          J.attribute("old", C.Old);
          J.attribute("new", C.New);
        });
      }
    });
  });
  OS << '\n';
}
