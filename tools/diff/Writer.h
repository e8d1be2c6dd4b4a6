// SPDX-License-Identifier: Apache-2.0
//
// Differences for people, for a pull request, and for programs.
#pragma once

#include "lang/SourceFiles.h"
#include "tools/diff/Difference.h"

namespace foretrace::diff {

/// Writes what differs between two sides.
class DiffWriter {
public:
  /// Tables for people have \p MostRows rows each, and say how many more there
  /// are; 0 for all. If they are exact, numbers have all their digits.
  DiffWriter(const Side &Before, const Side &After, const Difference &D,
             const SourceFiles &Sources, unsigned MostRows,
             bool IsExact = false)
      : Before(Before), After(After), D(D), Sources(Sources),
        MostRows(MostRows), IsExact(IsExact) {}

  /// Writes the changes; for people nothing if there are none.
  void write(RowFormat As, llvm::raw_ostream &OS) const;

private:
  Figures tables() const;
  std::vector<std::string> notes() const;
  FigureTable tableOfKeys() const;
  FigureTable tableOfMessages() const;
  void addTablesOfChanges(std::vector<FigureTable> &To) const;
  llvm::StringRef answerOf(const FigureChange &C) const;
  std::string placeOf(SourceRange Range) const;
  std::string originOf(const std::optional<KeyValue> &K) const;
  void writeJSON(llvm::raw_ostream &OS) const;
  void writeCSV(llvm::raw_ostream &OS) const;

  const Side &Before, &After;
  const Difference &D;
  const SourceFiles &Sources;
  const unsigned MostRows;
  const bool IsExact;
};

} // namespace foretrace::diff
