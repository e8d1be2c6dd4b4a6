// SPDX-License-Identifier: Apache-2.0
//
// The tiles on top of a page: what people look at first, each judged by a limit
// of analysis/FigureLimits.h. All numbers are those of other backends. Private
// to the backend.
#pragma once

#include "backends/Palette.h"
#include "backends/figures/Answers.h"

namespace foretrace::report {

/// A number with its unit, whose derivation is in \p Sizes.
struct TileNumber {
  Figure Of;
  FigureUnit Unit;
  const ir::ExprTable *Sizes = nullptr;
};

/// Words and numbers, one after the other; the page formats the numbers.
using Phrase = std::vector<std::variant<std::string, TileNumber>>;

/// A number that the one of a tile follows from.
struct TileTerm {
  std::string Title;
  TileNumber Of;
  llvm::StringRef Colour = {}; ///< of backends/Palette.def; else of no picture
};

struct Tile {
  llvm::StringRef Key, Title;
  llvm::StringRef Section; ///< of the page, with more about it
  std::optional<bool> IsGood = std::nullopt;
  Phrase Headline = {}, Detail = {}, Reason = {};
  std::string Why = {}; ///< of the limit
  std::vector<TileTerm> Terms = {};
};

/// How a column of memory is drawn.
struct MemoryPart {
  llvm::StringLiteral Column, Title;
  Colour Fill;
};
/// Returns the parts of the peak memory of a rank, in the order of pictures.
llvm::ArrayRef<MemoryPart> memoryParts();

/// Makes all tiles. \p All has all backends with figures, and must outlive them.
std::vector<Tile> makeTiles(const EmitRequest &Request,
                            llvm::ArrayRef<Answer> All);

} // namespace foretrace::report
