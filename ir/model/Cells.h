// SPDX-License-Identifier: Apache-2.0
//
// Cells of PyTorch's schedule files, which have one line of comma-separated
// cells per rank. The `schedule` backend writes them, and the frontend reads
// them.
#pragma once

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
  int64_t MicroBatch = 0; ///< if the kind has one

  friend bool operator==(const Cell &A, const Cell &B) {
    return A.Kind == B.Kind && A.Part == B.Part && A.MicroBatch == B.MicroBatch;
  }
};

/// Returns the cell of an action; nothing if files have none for it.
std::optional<CellKind> cellOf(ActionKind K);
/// Returns whether the cell runs a chunk.
bool isCompute(CellKind K);
/// Returns the action of a cell; nothing if only a runtime executes it.
std::optional<ActionKind> actionOf(CellKind K);

/// An entry between two commas: cells that begin together, and the word after
/// their parentheses, which is empty for a single cell.
struct CellEntry {
  llvm::SmallVector<Cell, 2> Cells;
  llvm::StringRef Word = "";
};
/// Steps that overlap: `(0F7;7B3)OVERLAP_F_B`.
inline constexpr llvm::StringLiteral OverlapWord = "OVERLAP_F_B";
/// Messages of one `batch_isend_irecv` call; not part of PyTorch's format.
inline constexpr llvm::StringLiteral CallWord = "BATCH_P2P";

llvm::raw_ostream &operator<<(llvm::raw_ostream &OS, const Cell &C);
llvm::raw_ostream &operator<<(llvm::raw_ostream &OS, const CellEntry &E);
/// Parses a cell or an entry without surrounding blanks; returns nothing if \p
/// Text is not one.
std::optional<Cell> parseCell(llvm::StringRef Text);
std::optional<CellEntry> parseEntry(llvm::StringRef Text);
/// Guesses the meaning of a malformed entry; empty if it is not clear.
std::string guessEntry(llvm::StringRef Text);

} // namespace foretrace::ir
