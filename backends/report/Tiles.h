// SPDX-License-Identifier: Apache-2.0
//
// The tiles on top of a page: what people look at first, each judged by a limit
// of analysis/FigureLimits.h. All numbers are those of other backends. Private
// to the backend.
#pragma once

#include "analysis/FigureLimits.h"
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
/// Returns the parts of the memory of a rank, in the order of pictures.
std::vector<MemoryPart> memoryParts(const ir::Spec &S);

/// Makes all tiles. The answers, of all backends with figures that know the
/// job, must outlive them.
class TileMaker {
public:
  TileMaker(const EmitRequest &Request, llvm::ArrayRef<Answer> All)
      : Request(Request), P(Request.Program), All(All) {}

  std::vector<Tile> make() const;

private:
  std::string clusterToAdd() const;
  const Answer &answer(llvm::StringRef Name) const;
  std::optional<TileNumber> find(llvm::StringRef Answer,
                                 llvm::StringRef Key) const;
  Tile refused(Tile Of, llvm::StringRef Answer) const;
  void addParts(const std::vector<Figure> &Row, Tile &To) const;
  void addMemoryTerms(Tile &To) const;
  void addTimeTerms(Tile &To, bool IsOfMessages) const;
  void judge(Tile &Of, const std::optional<FigureLimit> &By,
             const TileNumber &Value, const llvm::Twine &What = "") const;
  Tile room() const;
  Tile peak() const;
  Tile time() const;
  std::optional<Tile> waiting() const;
  Tile bubble() const;
  Tile exposed() const;
  Tile crossNode() const;
  Tile throughput() const;
  Tile cacheRoom() const;
  Tile sequences() const;
  Tile cache() const;

  const EmitRequest &Request;
  const ir::Program &P;
  const llvm::ArrayRef<Answer> All;
};

} // namespace foretrace::report
