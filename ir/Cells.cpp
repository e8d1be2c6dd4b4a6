// SPDX-License-Identifier: Apache-2.0
#include "ir/Cells.h"
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
#include "ir/Cells.def"
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

std::optional<Cell> foretrace::ir::parseCell(llvm::StringRef Text) {
  Cell Out = {};
  const bool HasPart = !Text.consumeInteger(10, Out.Part) && Out.Part >= 0;
  const llvm::StringRef Word = Text.take_until(llvm::isDigit);
  Text = Text.drop_front(Word.size());
  const auto *Found =
      llvm::find_if(Rows, [Word](const Row &R) { return R.Word == Word; });
  if (!HasPart || Found == std::end(Rows))
    return std::nullopt;
  Out.Kind = static_cast<CellKind>(Found - Rows);
  const bool HasMicroBatch = !Text.empty();
  if (HasMicroBatch != Found->Action.has_value() ||
      (HasMicroBatch && Text.getAsInteger(10, Out.MicroBatch)))
    return std::nullopt;
  return Out;
}
