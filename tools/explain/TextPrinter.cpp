// SPDX-License-Identifier: Apache-2.0
#include "ir/text/Print.h"
#include "tools/explain/Printer.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace foretrace::explain {

namespace {

class TextPrinter {
public:
  TextPrinter(const SourceFiles &Sources, raw_ostream &OS)
      : Sources(Sources), OS(OS) {}

  void print(const Subject &S);

private:
  void print(const DerivedFigure &F);
  void print(const Derivation &D, unsigned Indent);
  void print(const DerivedOperand &O, unsigned Indent);
  void printOrigin(const ir::Origin &O);

  const SourceFiles &Sources;
  raw_ostream &OS;
};

} // namespace

void TextPrinter::print(const DerivedOperand &O, unsigned Indent) {
  std::string Value;
  raw_string_ostream To(Value);
  if (O.Real)
    ir::printRounded(*O.Real, To);
  else
    To << O.Value;
  OS.indent(Indent) << O.Name << " = " << Value;
  if (!O.Unit.empty())
    OS << ' ' << O.Unit;
  if (O.Range.isValid()) {
    if (const StringRef Text = Sources.slice(O.Range); Text != Value)
      OS << " (" << Text << ')';
    OS << " at ";
    OS << placeOf(Sources, O.Range);
  } else {
    OS << ", " << getName(O.Why);
  }
  if (!O.Counts.empty())
    OS << ": " << O.Counts;
  OS << '\n';
  if (O.Definition)
    print(*O.Definition, Indent + 2);
}

void TextPrinter::print(const Derivation &D, unsigned Indent) {
  OS.indent(Indent) << "= " << D.Names;
  if (!D.Note.empty())
    OS << ": " << D.Note;
  OS << '\n';
  if (D.Numbers != D.Names)
    OS.indent(Indent) << "= " << D.Numbers << '\n';
  for (const DerivedOperand &O : D.Operands)
    print(O, Indent + 2);
}

void TextPrinter::print(const DerivedFigure &F) {
  OS << "  " << F.What << ": ";
  if (F.Value == ir::NoValue)
    OS << "beyond 2^63";
  else
    OS << F.Value;
  OS << ' ' << F.Unit << '\n';
  print(F.From, 4);
}

/// Prints `made by shard (attention) for job.fore:7:3`, as far as known.
void TextPrinter::printOrigin(const ir::Origin &O) {
  if (!O.Pass.empty())
    OS << "  made by " << O.Pass;
  else if (O.Range.isValid())
    OS << "  declared";
  if (!O.Rule.empty())
    OS << " (" << O.Rule << ')';
  if (O.Range.isValid()) {
    OS << (O.Pass.empty() ? " at " : " for ");
    OS << placeOf(Sources, O.Range);
  }
  if (!O.Pass.empty() || O.Range.isValid())
    OS << '\n';
}

void TextPrinter::print(const Subject &S) {
  OS << S.What << '\n';
  printOrigin(S.Origin);
  for (const DerivedFigure &F : S.Figures)
    print(F);
}

void printText(ArrayRef<Subject> Subjects, const SourceFiles &Sources,
               raw_ostream &OS) {
  TextPrinter Printer(Sources, OS);
  for (const Subject &S : Subjects)
    Printer.print(S);
}

PrinterFn *findPrinter(StringRef Format) {
  return StringSwitch<PrinterFn *>(Format)
      .Case("text", printText)
      .Case("json", printJSON)
      .Case("csv", printCSV)
      .Case("md", printMarkdown)
      .Default(nullptr);
}

} // namespace foretrace::explain
