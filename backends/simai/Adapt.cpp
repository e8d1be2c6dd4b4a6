// SPDX-License-Identifier: Apache-2.0
#include "backends/simai/Adapt.h"
#include "backends/simai/AdaptRules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace foretrace;
using namespace foretrace::simai;

template <typename T> static void set(T &Field, int64_t V) {
  if constexpr (std::is_same_v<T, std::optional<std::string>>)
    Field = std::to_string(V);
  else
    Field = V;
}

llvm::ArrayRef<HeaderField> foretrace::simai::headerFields() {
  static constexpr HeaderField Fields[] = {
#define HEADER(KEY, LEAST, MEMBER)                                             \
  {KEY, LEAST, std::is_same_v<decltype(Header::MEMBER), bool>,                 \
   [](const Header &H) { return llvm::json::Value(H.MEMBER); },                \
   [](Header &H, int64_t V) { set(H.MEMBER, V); }},
#include "backends/simai/AdaptKeys.def"
  };
  return Fields;
}

bool RowSection::matches(llvm::StringRef Name) const {
  return llvm::any_of(
      Names, [&](const llvm::GlobPattern &P) { return P.match(Name); });
}

const Edit *Adaptation::find(llvm::StringRef Row, EditKey Key,
                             unsigned Column) const {
  for (const Edit &E : llvm::reverse(Edits))
    if (const RowSection &S = Sections[E.Section];
        E.Key == Key && S.matches(Row) &&
        (!isOfCell(Key) || (S.Columns >> Column & 1) != 0))
      return &E;
  return nullptr;
}

Numbering Adaptation::numbering(llvm::StringRef Row) const {
  const Edit *E = find(Row, EditKey::Number);
  return E ? static_cast<Numbering>(E->value()) : Numbering::None;
}

std::optional<int64_t> foretrace::simai::adaptedWorld(const Adaptation &A) {
  for (const auto &[Field, New] : A.Header)
    if (Field->Name == "all_gpus")
      return New.Value;
  return std::nullopt;
}

std::optional<WorkloadTable>
foretrace::simai::adapted(const Adaptation &A, const WorkloadTable &T,
                          DiagnosticEngine &Diags) {
  const unsigned Before = Diags.errorCount();
  WorkloadTable Edited = apply(A, T, Diags).Table;
  if (Diags.errorCount() != Before)
    return std::nullopt;
  return Edited;
}

/// Only the number of each name is kept between rows.
void foretrace::simai::writeAdapted(const Adaptation &A, const WorkloadTable &T,
                                    llvm::raw_ostream &OS) {
  struct Counter {
    Numbering Number = Numbering::None;
    int64_t Seen = 0;
  };
  DiagnosticEngine Known; // `adapted` has reported these
  const WorkloadTable Edited = apply(A, T, Known).Table;
  llvm::StringMap<Counter> Counters;
  writeHeader(Edited.Header, OS);
  OS << Edited.rowCount().value() << '\n';
  forEachRow(Edited, [&](const WorkloadRow &R) {
    const auto [Place, IsNew] = Counters.try_emplace(R.Name);
    Counter &C = Place->second;
    if (IsNew)
      C.Number = A.numbering(R.Name);
    ++C.Seen;
    if (C.Number == Numbering::None ||
        (C.Number == Numbering::Repeats && C.Seen == 1))
      return writeRow(R, OS);
    WorkloadRow Numbered = R;
    Numbered.Name += "_" + std::to_string(C.Seen);
    writeRow(Numbered, OS);
  });
}

void foretrace::simai::writeRecord(const Adaptation &A, const WorkloadTable &T,
                                   llvm::raw_ostream &OS) {
  DiagnosticEngine Known; // `adapted` has reported these
  const Adapted Out = apply(A, T, Known);
  llvm::json::OStream J(OS, /*IndentSize=*/2);
  J.object([&] {
    J.attribute("schema", "foretrace.adapt/1");
    J.attribute("rows_before", T.rowCount().value());
    J.attribute("rows_after", Out.Table.rowCount().value());
    J.attributeArray("adaptations", [&] {
      for (const auto &[Option, C] : llvm::zip_equal(A.Options, Out.Changes))
        J.object([&, &Option = Option, &C = C] {
          J.attribute("option", Option);
          J.attribute("changed", orMost(C.Count));
          if (!C.Row.empty())
            J.attribute("row", C.Row);
          if (!C.Column.empty())
            J.attribute("column", C.Column);
          if (C.Count == RowCount(0))
            return;
          J.attribute("old", C.Old);
          J.attribute("new", C.New);
        });
    });
  });
  OS << '\n';
}
