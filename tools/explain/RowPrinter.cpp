// SPDX-License-Identifier: Apache-2.0
#include "lang/RowWriter.h"
#include "tools/explain/Printer.h"

using namespace llvm;

namespace foretrace::explain {

/// What operands follow from is left to trees.
static void printRows(ArrayRef<Subject> Subjects, const SourceFiles &Sources,
                      RowFormat As, raw_ostream &OS) {
  RowWriter Rows({{"what"},
                  {"figure"},
                  {"value", true},
                  {"unit"},
                  {"expression"},
                  {"numbers"},
                  {"note"},
                  {"at"}},
                 As, OS);
  for (const Subject &S : Subjects)
    for (const DerivedFigure &F : S.Figures)
      Rows.write({S.What, F.What,
                  F.Value == ir::NoValue ? "" : std::to_string(F.Value),
                  F.Unit.str(), F.From.Names, F.From.Numbers, F.From.Note,
                  placeOf(Sources, S.Origin.Range)});
}

void printCSV(ArrayRef<Subject> Subjects, const SourceFiles &Sources,
              raw_ostream &OS) {
  printRows(Subjects, Sources, RowFormat::CSV, OS);
}

void printMarkdown(ArrayRef<Subject> Subjects, const SourceFiles &Sources,
                   raw_ostream &OS) {
  printRows(Subjects, Sources, RowFormat::Markdown, OS);
}

} // namespace foretrace::explain
