// SPDX-License-Identifier: Apache-2.0
//
// Which numbers of the answers to the same questions differ: those with a name,
// and cells of tables by the names of their rows.
#pragma once

#include "backends/figures/Figures.h"
#include <map>

namespace foretrace::diff {

/// All figures of a job, in one order for all jobs.
using Answers = std::vector<Figures>;

/// The name of a row: the text of its first column, and of further ones as long
/// as these are words; in a table of only words, the first column alone. Stages
/// that are alike are one row, `1-6`. Two answers may group them differently,
/// so a name only has the first stage.
struct RowName {
  std::vector<std::string> Words;
  std::optional<IndexRange> Stages = std::nullopt;

  /// Returns the first of its stages; rows without stages come after those.
  int64_t stage() const { return Stages ? Stages->First : INT64_MAX; }
  friend bool operator<(const RowName &A, const RowName &B) {
    return std::make_pair(A.stage(), A.Words) <
           std::make_pair(B.stage(), B.Words);
  }
};

/// A number, or words, of an answer.
struct FigureName {
  unsigned Answer;        ///< its number
  llvm::StringRef Table;  ///< empty: it has a name of its own
  RowName Row;            ///< of a table
  llvm::StringRef Column; ///< of a table, or its own name
};

/// A figure that differs between two jobs, or that only one of them has.
struct FigureChange {
  FigureName Name;
  std::string Title; ///< of the table, or of the number itself
  FigureUnit Unit;
  bool IsOnly = false; ///< its table has one number for each row
  std::optional<Figure> Before = {}, After = {}; ///< at least one is set
  std::vector<std::string> By = {}; ///< paths of keys; set by findCauses
  /// Whether only all these keys together change it, or the cause is unknown.
  bool IsByAll = false;
};

/// Returns the differences between \p Before and \p After, in their order. Both
/// must outlive the result.
std::vector<FigureChange> compareFigures(const Answers &Before,
                                         const Answers &After);

/// Finds figures by name.
class FigureIndex {
public:
  explicit FigureIndex(const Answers &Of);

  /// Null if there is none of that name.
  const Figure *find(const FigureName &Name) const;

private:
  struct Rows {
    unsigned Answer;
    const FigureTable *Table;
    std::map<RowName, const std::vector<Figure> *> ByName;
  };

  const Answers &Of;
  std::vector<Rows> Tables;
};

} // namespace foretrace::diff
