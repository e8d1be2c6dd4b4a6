// SPDX-License-Identifier: Apache-2.0
#include "tools/explain/Printer.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace foretrace::explain {

namespace {

class JSONPrinter {
public:
  JSONPrinter(const SourceFiles &Sources, raw_ostream &OS)
      : Sources(Sources), Out(OS) {}

  void print(const Subject &S);

private:
  void print(const DerivedFigure &F);
  void print(const Derivation &D);
  void print(const DerivedOperand &O);
  void printPlace(SourceRange Range);

  const SourceFiles &Sources;
  json::OStream Out;
};

} // namespace

void JSONPrinter::printPlace(SourceRange Range) {
  if (!Range.isValid())
    return;
  const auto [Line, Column] = Sources.locate(Range.start());
  Out.attribute("file", Sources.name(Range.File));
  Out.attribute("line", Line);
  Out.attribute("column", Column);
}

void JSONPrinter::print(const DerivedOperand &O) {
  Out.object([&] {
    Out.attribute("key", O.Name);
    if (O.Real)
      Out.attribute("value", *O.Real);
    else
      Out.attribute("value", O.Value);
    if (!O.Unit.empty())
      Out.attribute("unit", O.Unit);
    Out.attribute("from", getName(O.Why));
    if (!O.Counts.empty())
      Out.attribute("counts", O.Counts);
    printPlace(O.Range);
    if (O.Range.isValid())
      Out.attribute("text", Sources.slice(O.Range));
    if (O.Definition)
      print(*O.Definition);
  });
}

void JSONPrinter::print(const Derivation &D) {
  Out.attribute("expression", D.Names);
  Out.attribute("numbers", D.Numbers);
  if (!D.Note.empty())
    Out.attribute("note", D.Note);
  Out.attributeArray("operands", [&] {
    for (const DerivedOperand &O : D.Operands)
      print(O);
  });
}

void JSONPrinter::print(const DerivedFigure &F) {
  Out.object([&] {
    Out.attribute("what", F.What);
    if (F.Value == ir::NoValue)
      Out.attribute("value", nullptr);
    else
      Out.attribute("value", F.Value);
    Out.attribute("unit", F.Unit);
    print(F.From);
  });
}

void JSONPrinter::print(const Subject &S) {
  Out.object([&] {
    Out.attribute("schema", "foretrace.explain/1");
    Out.attribute("what", S.What);
    if (S.Stages) {
      Out.attributeBegin("stages");
      Out.rawValue(printPair(*S.Stages));
      Out.attributeEnd();
    }
    if (!S.Origin.Pass.empty())
      Out.attribute("pass", S.Origin.Pass);
    if (!S.Origin.Rule.empty())
      Out.attribute("rule", S.Origin.Rule);
    printPlace(S.Origin.Range);
    Out.attributeArray("figures", [&] {
      for (const DerivedFigure &F : S.Figures)
        print(F);
    });
  });
}

void printJSON(ArrayRef<Subject> Subjects, const SourceFiles &Sources,
               raw_ostream &OS) {
  for (const Subject &S : Subjects) {
    JSONPrinter(Sources, OS).print(S);
    OS << '\n';
  }
}

} // namespace foretrace::explain
