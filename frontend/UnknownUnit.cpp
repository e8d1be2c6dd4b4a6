// SPDX-License-Identifier: Apache-2.0
#include "frontend/UnknownUnit.h"
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Frontend.h"
#include "lang/diagnostics/Lang.h"

using namespace foretrace;

void foretrace::reportUnknownUnit(SourceRange Range, llvm::StringRef Word,
                                  DiagnosticEngine &Diags) {
  static constexpr std::pair<llvm::StringRef, llvm::StringRef> Elsewhere[] = {
#define UNIT_ELSEWHERE(WORD, HERE) {WORD, HERE},
#include "frontend/Units.def"
  };
  static constexpr llvm::StringRef Units[] = {
#define UNIT(WORD, ...) WORD,
#include "frontend/Units.def"
  };
  DiagnosticBuilder Report = Diags.report(Range, diag::UnknownUnit, Word);
  for (auto [There, Here] : Elsewhere)
    if (There == Word) {
      Report.note(Range, diag::DidYouMean, Here).fix(Range, Here);
      return;
    }
  suggest(std::move(Report), Range, Word, Units);
}
