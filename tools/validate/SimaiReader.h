// SPDX-License-Identifier: Apache-2.0
//
// Pulls header and rows out of a SimAI/AICB workload table. Takes whatever is
// there, in fields as a reader of the format would split it; what is wrong with
// them is for others to say.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace foretrace::validate {

/// The fields of a line between blanks. They are of the text that is read.
struct TableLine {
  int64_t Number = 0; ///< from 1
  llvm::SmallVector<llvm::StringRef, 13> Fields;
};

/// A number as the format has it.
struct TableNumber {
  enum class Form : unsigned char { Integer, Negative, Overflow, Malformed };
  Form Is = Form::Malformed;
  uint64_t Value = 0; ///< if it is an integer
};
TableNumber readNumber(llvm::StringRef Field);

/// Reads line by line a text that outlives it. Line 1 and line 2 are the header
/// and the number of rows; blank lines below them are skipped.
class SimaiReader {
public:
  explicit SimaiReader(llvm::StringRef Text) : Rest(Text) {}

  /// The next line, valid until the next call; null at the end of the text.
  const TableLine *next();

private:
  llvm::StringRef Rest;
  TableLine Line;
  int64_t Number = 0;
};

} // namespace foretrace::validate
