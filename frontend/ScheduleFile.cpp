// SPDX-License-Identifier: Apache-2.0
#include "frontend/ScheduleFile.h"
#include "lang/diagnostics/Lang.h"

using namespace foretrace;

/// Reads what stands between two commas.
static void readEntry(llvm::StringRef Text, SourceRange Range,
                      std::vector<ir::ScheduleSteps> &Into,
                      DiagnosticEngine &Diags) {
  std::optional<ir::CellEntry> Entry = ir::parseEntry(Text);
  if (!Entry) {
    DiagnosticBuilder B = Diags.report(Range, diag::ScheduleCell, Text);
    if (const std::string Meant = ir::guessEntry(Text); !Meant.empty())
      B.note(Range, diag::DidYouMean, Meant).fix(Range, Meant);
    return;
  }
  if (ir::isCompute(Entry->Cells.front().Kind))
    Into.push_back({std::move(*Entry), Range});
}

std::vector<std::vector<ir::ScheduleSteps>>
foretrace::readScheduleFile(SourceText Source, DiagnosticEngine &Diags) {
  std::vector<std::vector<ir::ScheduleSteps>> Out;
  llvm::StringRef Text = Source.str().rtrim();
  while (!Text.empty()) {
    auto [Line, Rest] = Text.split('\n');
    std::vector<ir::ScheduleSteps> &Stage = Out.emplace_back();
    for (Text = Rest; !Line.empty();) {
      auto [Entry, Others] = Line.split(',');
      Line = Others;
      if (const llvm::StringRef Cell = Entry.trim(); !Cell.empty())
        readEntry(Cell, Source.rangeOf(Cell), Stage, Diags);
    }
  }
  return Out;
}
