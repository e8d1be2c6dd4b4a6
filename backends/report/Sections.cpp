// SPDX-License-Identifier: Apache-2.0
#include "backends/report/Parts.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::report;

namespace {

/// Writes the figures of one section.
class SectionWriter {
public:
  SectionWriter(const Figures &F, Explanations &Of, llvm::json::OStream &J)
      : F(F), Of(Of), J(J) {}

  void write();

private:
  void value(const Figure &V);
  void table(const FigureTable &T);

  const Figures &F;
  Explanations &Of;
  llvm::json::OStream &J;
};

} // namespace

void SectionWriter::value(const Figure &V) {
  if (V.isNumber())
    Of.writeNumber(J, V.number(), F.Sizes, V.From.value_or(ExprId()));
  else
    writeValue(V, FigureUnit::Text, J);
}

void SectionWriter::table(const FigureTable &T) {
  J.attribute("key", T.Key);
  J.attribute("title", T.Title);
  J.attributeArray("columns", [&] {
    for (const FigureColumn &C : T.Columns)
      J.object([&] {
        J.attribute("key", C.Key);
        J.attribute("title", C.heading());
        J.attribute("unit", getName(C.Unit));
      });
  });
  J.attributeArray("rows", [&] {
    for (const std::vector<Figure> &Row : T.Rows)
      J.array([&] {
        for (const Figure &Cell : Row)
          value(Cell);
      });
  });
}

void SectionWriter::write() {
  J.attributeArray("named", [&] {
    for (const NamedFigure &N : F.Named)
      J.object([&] {
        J.attribute("key", N.Key);
        J.attribute("title", N.Title);
        J.attribute("unit", getName(N.Unit));
        J.attributeBegin("value");
        value(N.Value);
        J.attributeEnd();
      });
  });
  J.attributeArray("tables", [&] {
    for (const FigureTable &T : F.Tables)
      J.object([&] { table(T); });
  });
  J.attributeArray("notes", [&] {
    for (const std::string &Note : F.Notes)
      J.value(Note);
  });
}

/// Writes an answer as a section, or a note if it was refused.
static void writeSection(const Answer &A, Explanations &Of,
                         llvm::json::OStream &J) {
  const Figures Refused{
      "", {}, {}, {"Not available for this job: " + A.Refusal}, {}};
  J.attribute("name", A.From->Name);
  J.attribute("title", A.From->Summary);
  SectionWriter(A.Of ? *A.Of : Refused, Of, J).write();
}

void report::writeSections(llvm::ArrayRef<Answer> All, Explanations &Of,
                           llvm::json::OStream &J) {
  J.attributeArray("sections", [&] {
    for (const Answer &A : All)
      J.object([&] { writeSection(A, Of, J); });
  });
}
