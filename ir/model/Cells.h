// SPDX-License-Identifier: Apache-2.0
//
// Cells of PyTorch's schedule files: a line a rank, separated by commas. The
// `schedule` backend writes them, the frontend reads them.
#ifndef FORETRACE_IR_MODEL_CELLS_H
#define FORETRACE_IR_MODEL_CELLS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <optional>

namespace foretrace::ir {

enum class ActionKind : unsigned char; // ir/model/Schedule.h

enum class CellKind : unsigned char {
#define CELL_ACTION(KIND, WORD) KIND,
#define CELL(ENUMERATOR, WORD) ENUMERATOR,
#include "ir/model/Cells.def"
};

/// `2F0`.
struct Cell {
  CellKind Kind;
  int64_t Part;
  int64_t MicroBatch = 0; ///< of what has one

  friend bool operator==(const Cell &A, const Cell &B) {
    return A.Kind == B.Kind && A.Part == B.Part && A.MicroBatch == B.MicroBatch;
  }
};

/// What an action is in a file; nothing if files don't say it.
std::optional<CellKind> cellOf(ActionKind K);
/// What runs a chunk.
bool isCompute(CellKind K);
/// The action that a cell is; nothing of what only a runtime has.
std::optional<ActionKind> actionOf(CellKind K);

/// What stands between two commas: cells that begin together, and the word
/// behind their parentheses; empty round one alone.
struct CellEntry {
  llvm::SmallVector<Cell, 2> Cells;
  llvm::StringRef Word = "";
};
/// Steps that overlap: `(0F7;7B3)OVERLAP_F_B`.
inline constexpr llvm::StringLiteral OverlapWord = "OVERLAP_F_B";
/// Messages of one `batch_isend_irecv` call; a word of our own.
inline constexpr llvm::StringLiteral CallWord = "BATCH_P2P";

llvm::raw_ostream &operator<<(llvm::raw_ostream &OS, const Cell &C);
llvm::raw_ostream &operator<<(llvm::raw_ostream &OS, const CellEntry &E);
/// A cell, or an entry, without blanks round it; nothing if \p Text is none.
std::optional<Cell> parseCell(llvm::StringRef Text);
std::optional<CellEntry> parseEntry(llvm::StringRef Text);
/// What an entry that is none was meant to be; empty if that is not clear.
std::string guessEntry(llvm::StringRef Text);

} // namespace foretrace::ir

#endif
