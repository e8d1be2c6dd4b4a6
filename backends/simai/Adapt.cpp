// SPDX-License-Identifier: Apache-2.0
#include "backends/simai/Adapt.h"
#include "backends/simai/AdaptRules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace foretrace;
using namespace foretrace::simai;

static void set(int64_t &Field, int64_t V) { Field = V; }
static void set(bool &Field, int64_t V) { Field = V != 0; }
static void set(std::optional<int64_t> &Field, int64_t V) { Field = V; }
static void set(std::optional<std::string> &Field, int64_t V) {
  Field = std::to_string(V);
}

llvm::ArrayRef<HeaderField> foretrace::simai::headerFields() {
  static constexpr HeaderField Fields[] = {
#define HEADER(KEY, LEAST, MEMBER)                                             \
  {KEY, LEAST, [](const Header &H) { return llvm::json::Value(H.MEMBER); },    \
   [](Header &H, int64_t V) { set(H.MEMBER, V); }},
#include "backends/simai/AdaptKeys.def"
  };
  return Fields;
}

bool RowRule::matches(llvm::StringRef Name) const {
  return llvm::any_of(
      Names, [&](const llvm::GlobPattern &P) { return P.match(Name); });
}

const Edit *Adaptation::find(llvm::StringRef Row, EditKey Key,
                             unsigned Column) const {
  for (const RowRule &Rule : llvm::reverse(Rules)) {
    if (!Rule.matches(Row) ||
        (isOfCell(Key) && (Rule.Columns >> Column & 1) == 0))
      continue;
    for (const Edit &E : llvm::reverse(Rule.Edits))
      if (E.Key == Key)
        return &E;
  }
  return nullptr;
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
  for (const std::vector<WorkloadRow> &Body : Edited.Bodies)
    for (const WorkloadRow &R : Body)
      if (const Edit *E = A.find(R.Name, EditKey::Number))
        Counters[R.Name].Number = static_cast<Numbering>(E->value());
  writeHeader(Edited.Header, OS);
  OS << Edited.rowCount().value() << '\n';
  forEachRow(Edited, [&](const WorkloadRow &R) {
    Counter &C = Counters[R.Name];
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
    J.attribute("rows_before", T.rowCount().value());
    J.attribute("rows_after", Out.Table.rowCount().value());
    J.attributeArray("adaptations", [&] {
      for (size_t I = 0; I < A.Options.size(); ++I) {
        const OptionEffect &C = Out.Changes[I];
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
