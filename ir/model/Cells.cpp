// SPDX-License-Identifier: Apache-2.0
#include "ir/model/Cells.h"
#include "ir/model/Schedule.h"
#include "lang/DidYouMean.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {
struct Row {
  llvm::StringLiteral Word;
  std::optional<ActionKind> Action;
};
} // namespace

static constexpr Row Rows[] = {
#define CELL_ACTION(KIND, WORD) {WORD, ActionKind::KIND},
#define CELL(ENUMERATOR, WORD) {WORD, std::nullopt},
#include "ir/model/Cells.def"
};

std::optional<CellKind> foretrace::ir::cellOf(ActionKind K) {
  const auto *Found =
      llvm::find_if(Rows, [K](const Row &R) { return R.Action == K; });
  if (Found == std::end(Rows))
    return std::nullopt;
  return static_cast<CellKind>(Found - Rows);
}

std::optional<ActionKind> foretrace::ir::actionOf(CellKind K) {
  return Rows[static_cast<size_t>(K)].Action;
}

bool foretrace::ir::isCompute(CellKind K) {
  const std::optional<ActionKind> Action = actionOf(K);
  return Action && isCompute(*Action);
}

llvm::raw_ostream &foretrace::ir::operator<<(llvm::raw_ostream &OS,
                                             const Cell &C) {
  OS << C.Part << Rows[static_cast<size_t>(C.Kind)].Word;
  return actionOf(C.Kind) ? OS << C.MicroBatch : OS;
}

llvm::raw_ostream &foretrace::ir::operator<<(llvm::raw_ostream &OS,
                                             const CellEntry &E) {
  OS << (E.Word.empty() ? "" : "(");
  llvm::interleave(E.Cells, OS, ";");
  return OS << (E.Word.empty() ? "" : ")") << E.Word;
}

/// Takes a number off the front of \p Text, if there is one that is not too
/// large to count with.
static std::optional<int64_t> takeNumber(llvm::StringRef &Text) {
  uint32_t Value;
  if (Text.consumeInteger(10, Value) || Value > INT32_MAX)
    return std::nullopt;
  return Value;
}

std::optional<Cell> foretrace::ir::parseCell(llvm::StringRef Text) {
  const std::optional<int64_t> Part = takeNumber(Text);
  const llvm::StringRef Word = Text.take_until(llvm::isDigit);
  Text = Text.drop_front(Word.size());
  const auto *Found =
      llvm::find_if(Rows, [Word](const Row &R) { return R.Word == Word; });
  if (!Part || Found == std::end(Rows))
    return std::nullopt;
  Cell Out = {static_cast<CellKind>(Found - Rows), *Part};
  if (Found->Action) {
    const std::optional<int64_t> MicroBatch = takeNumber(Text);
    if (!MicroBatch)
      return std::nullopt;
    Out.MicroBatch = *MicroBatch;
  }
  return Text.empty() ? std::optional(Out) : std::nullopt;
}

std::optional<CellEntry> foretrace::ir::parseEntry(llvm::StringRef Text) {
  CellEntry Out;
  if (Text.consume_back(OverlapWord))
    Out.Word = OverlapWord;
  else if (Text.consume_back(CallWord))
    Out.Word = CallWord;
  if (!Out.Word.empty() && !(Text.consume_front("(") && Text.consume_back(")")))
    return std::nullopt;
  llvm::SmallVector<llvm::StringRef, 2> Parts;
  Text.split(Parts, ';');
  for (llvm::StringRef Part : Parts) {
    const std::optional<Cell> C = parseCell(Part.trim());
    if (!C)
      return std::nullopt;
    Out.Cells.push_back(*C);
  }
  // Two steps overlap; a call is of messages, which have an action and no step.
  if (Out.Word == CallWord)
    return llvm::all_of(Out.Cells,
                        [](const Cell &C) {
                          return actionOf(C.Kind) && !isCompute(C.Kind);
                        })
               ? std::optional(Out)
               : std::nullopt;
  const bool AreSteps =
      llvm::all_of(Out.Cells, [](const Cell &C) { return isCompute(C.Kind); });
  const size_t Size = Out.Word.empty() ? 1 : 2;
  return Out.Cells.size() == Size && (Size == 1 || AreSteps)
             ? std::optional(Out)
             : std::nullopt;
}

std::string foretrace::ir::guessEntry(llvm::StringRef Text) {
  const std::string Upper = Text.upper();
  if (parseEntry(Upper))
    return Upper;
  const llvm::StringRef Part = Text.take_while(llvm::isDigit);
  const llvm::StringRef Word =
      Text.drop_front(Part.size()).take_until(llvm::isDigit);
  const llvm::StringRef Rest = Text.drop_front(Part.size() + Word.size());
  if (Part.empty() || Word.empty())
    return "";
  std::vector<llvm::StringRef> Words;
  for (const Row &R : Rows)
    Words.push_back(R.Word);
  const std::string Guess =
      (Part + nearestWord(Word.upper(), Words) + Rest).str();
  return parseEntry(Guess) ? Guess : "";
}
