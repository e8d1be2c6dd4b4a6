// SPDX-License-Identifier: Apache-2.0
//
// Reads the lines of a real trace, whatever dialect: keys that are not known
// are skipped.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>

namespace foretrace::runs {

/// A call within a row, as text; what is not there is empty.
struct SeenCall {
  llvm::StringRef Function, Duration, Timestamp, Shape, DType, Name, Group,
      Comm;
};

/// A line, as text, parts of the line it was read from.
struct SeenRow {
  int64_t Rank = 0, Stage = 0, Batch = 0;
  llvm::StringRef Op;
  llvm::StringRef State, Duration, Description, GroupKind, Shape, DType,
      Timestamp;
  llvm::SmallVector<SeenCall, 8> Calls;
};

/// A whole number as Python prints it, from 0 and below 2^63: no sign, no zeros
/// before it; nothing if \p Text is more or less than one.
std::optional<int64_t> readCount(llvm::StringRef Text);

/// The sizes of a shape as Python prints a list, `[1024, 1, 4096]`; nothing if
/// \p Text is none.
std::optional<llvm::SmallVector<int64_t, 4>> readShape(llvm::StringRef Text);

/// A finite decimal number as Python prints it, digits on both sides of its
/// point, whatever the locale; nothing if \p Text is more or less than one.
std::optional<double> readNumber(llvm::StringRef Text);

/// No row takes longer: watchdogs of collectives give up before. In ms.
inline constexpr double MaxDuration = 3'600'000;
/// No clock says more, not even one that counts from 1970. In ms.
inline constexpr double MaxTimestamp = 1e13;

/// Returns why \p Text is no time from 0 to \p Most ms, nor `None`, or empty.
std::string whyNoTime(llvm::StringRef Text, double Most);

/// Reads one line into \p Row, whose text then lives as long as the line. An
/// error names the defect: a field that is missing or given twice, or a number
/// out of range.
llvm::Error parseRow(llvm::StringRef Line, SeenRow &Row);

} // namespace foretrace::runs
