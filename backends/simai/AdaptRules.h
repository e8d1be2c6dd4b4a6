// SPDX-License-Identifier: Apache-2.0
//
// The rules of an `adapt` section, read (AdaptRead.cpp) and applied to a folded
// table (AdaptApply.cpp). Private to Adapt*.cpp.
#pragma once

#include "backends/simai/Adapt.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/JSON.h"

namespace foretrace::simai {

/// A key of a `rows` section.
enum class EditKey : unsigned char {
#define EDIT(ENUMERATOR, KEY, LEAST, NEW) ENUMERATOR,
#include "backends/simai/AdaptKeys.def"
};
inline bool isOfTime(EditKey K) { return K <= EditKey::MinTime; }
inline bool isOfCell(EditKey K) { return K <= EditKey::MinSize; }

enum class Numbering : unsigned char {
#define NUMBERING(ENUMERATOR, WORD) ENUMERATOR,
#include "backends/simai/AdaptKeys.def"
};

/// The columns of a row, in the order of the table.
struct Column {
  llvm::StringLiteral Name;
  WorkloadCell WorkloadRow::*Member;
};
constexpr Column Columns[] = {{"forward", &WorkloadRow::Forward},
                              {"backward", &WorkloadRow::Backward},
                              {"update", &WorkloadRow::Update}};

/// A key that is set: its place in the source, and its index in the record.
struct Setting {
  SourceRange Range;
  unsigned Option; ///< index into Adaptation::Options
};

/// Change of one column of the rows of a section.
struct Edit : Setting {
  EditKey Key;
  unsigned Section; ///< index into Adaptation::Sections
  /// One value for every row, or a list: one for each row of that name in a
  /// layer; nothing where it says `keep`.
  bool IsList = false;
  std::vector<std::optional<int64_t>> Values;

  int64_t value() const { return *Values.front(); }
};

/// A `rows` section: the names and columns of its edits.
struct RowSection {
  SourceRange Range;
  std::string Label;
  std::vector<llvm::GlobPattern> Names;
  unsigned Columns = 7; ///< a bit for each

  bool matches(llvm::StringRef Name) const;
};

/// A count that is set.
struct StatedCount : Setting {
  int64_t Value;
};

/// A field of the header that can be replaced.
struct HeaderField {
  llvm::StringLiteral Name;
  int64_t Least;
  bool IsFlag;
  llvm::json::Value (*Get)(const Header &);
  void (*Set)(Header &, int64_t);
};
llvm::ArrayRef<HeaderField> headerFields();

struct Adaptation {
  std::vector<std::string> Options; ///< all keys that are set, in source order
  std::vector<RowSection> Sections;
  std::vector<Edit> Edits; ///< the last that applies wins
  std::optional<StatedCount> MicroBatches, LastLayers;
  std::vector<std::pair<const HeaderField *, StatedCount>> Header;

  /// The last edit that applies to a row; of a cell, in a column.
  const Edit *find(llvm::StringRef Row, EditKey Key, unsigned Column = 0) const;
  /// Returns which rows of the name \p Row get a number.
  Numbering numbering(llvm::StringRef Row) const;
};

/// Effect of one option.
struct OptionEffect {
  RowCount Count; ///< cells, rows or header fields
  std::string Row, Column;
  llvm::json::Value Old = nullptr, New = nullptr; ///< of the first
};

/// A table as adapted, but for the numbers in names.
struct Adapted {
  WorkloadTable Table;
  std::vector<OptionEffect> Changes; ///< parallel to Adaptation::Options
};

/// Applies \p A; reports what can't be applied.
Adapted apply(const Adaptation &A, const WorkloadTable &T,
              DiagnosticEngine &Diags);

/// The number that the record has: there may be several cells to each of 2^63
/// rows, and what can't be counted must not wrap around.
inline int64_t orMost(RowCount Rows) {
  return Rows.isOverflow() ? INT64_MAX : Rows.value();
}

} // namespace foretrace::simai
