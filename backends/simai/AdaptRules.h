// SPDX-License-Identifier: Apache-2.0
//
// What an `adapt` section says, read (AdaptRead.cpp) and applied to a folded
// table (AdaptApply.cpp). Private to Adapt*.cpp.
#ifndef FORETRACE_BACKENDS_SIMAI_ADAPTRULES_H
#define FORETRACE_BACKENDS_SIMAI_ADAPTRULES_H

#include "backends/simai/Adapt.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/JSON.h"

namespace foretrace::simai {

/// A way to change a number of a column.
enum class CellKey : unsigned char {
#define CELL(ENUMERATOR, KEY, LEAST) ENUMERATOR,
#include "backends/simai/AdaptKeys.def"
};
constexpr CellKey AllCellKeys[] = {
#define CELL(ENUMERATOR, KEY, LEAST) CellKey::ENUMERATOR,
#include "backends/simai/AdaptKeys.def"
};
enum class HeaderKey : unsigned char {
#define HEADER(ENUMERATOR, KEY, LEAST) ENUMERATOR,
#include "backends/simai/AdaptKeys.def"
};
enum class Numbering : unsigned char {
#define NUMBERING(ENUMERATOR, WORD) ENUMERATOR,
#include "backends/simai/AdaptKeys.def"
};

/// The columns of a row, in the order of the table.
struct Column {
  llvm::StringLiteral Name;
  Cell Row::*Member;
};
constexpr Column Columns[] = {{"forward", &Row::Forward},
                              {"backward", &Row::Backward},
                              {"update", &Row::Update}};

/// A value with its place in the source and in the record.
template <typename T> struct Stated {
  T Value;
  SourceRange Range;
  unsigned Option; ///< index into Adaptation::Options
};

/// One value for every row, or one for each row of that name in a layer;
/// nothing where the list says `keep`.
struct CellValue {
  bool IsList = false;
  std::vector<std::optional<int64_t>> Values;
};

struct Setting {
  CellKey Key;
  std::optional<unsigned> Column; ///< index into Columns; nothing: all
  Stated<CellValue> Value;
};

/// What is said of all rows, or in one `rows` section.
struct RowRule {
  SourceRange Range;
  std::string Label;
  std::vector<llvm::GlobPattern> Names; ///< empty: all rows
  std::vector<Setting> Settings;        ///< the last that applies wins
  std::optional<Stated<Numbering>> Number;
  std::optional<Stated<int64_t>> DropBelow;

  bool matches(llvm::StringRef Name) const;
};

struct Adaptation {
  std::vector<std::string> Options; ///< all that is said, in source order
  std::vector<RowRule> Rules;       ///< the last that applies wins
  std::optional<Stated<int64_t>> MicroBatches, LastLayers;
  std::vector<std::pair<HeaderKey, Stated<int64_t>>> Header;
  std::optional<Stated<bool>> PpCommColon;

  /// The last rule that applies to a row and says \p Member.
  template <typename T>
  const Stated<T> *find(llvm::StringRef Row,
                        std::optional<Stated<T>> RowRule::*Member) const {
    for (size_t I = Rules.size(); I-- > 0;)
      if (Rules[I].*Member && Rules[I].matches(Row))
        return &*(Rules[I].*Member);
    return nullptr;
  }
  const Setting *find(llvm::StringRef Row, CellKey Key, unsigned Column) const;
};

/// What one option did.
struct Change {
  int64_t Count = 0; ///< cells, rows or header fields
  std::string Row, Column;
  llvm::json::Value Old = nullptr, New = nullptr; ///< of the first
};

/// A table as adapted, but for the numbers in names.
struct Adapted {
  simai::Table Table;
  std::vector<Change> Changes; ///< parallel to Adaptation::Options
};

/// Applies \p A; reports what can't be applied.
Adapted apply(const Adaptation &A, const Table &T, DiagnosticEngine &Diags);

} // namespace foretrace::simai

#endif
