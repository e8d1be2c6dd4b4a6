// SPDX-License-Identifier: Apache-2.0
#include "backends/Backends.h"
#include "backends/Figures.h"
#include "backends/report/Parts.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::report;

/// A backend that answers with figures, and how the page calls that.
struct Sections::Section {
  const Backend *From;
  Figures Of;
};

/// Of the backends that answer with figures, those that a page shows: all that
/// there are, in their order.
static std::vector<const Backend *> shownBackends() {
  std::vector<const Backend *> Shown;
  for (const Backend &B : allBackends())
    if (B.HasFigures)
      Shown.push_back(&B);
  return Shown;
}

FactSet Sections::needs() {
  FactSet Facts;
  for (const Backend *B : shownBackends()) {
    const EmitSpec Plain = EmitSpec::plain(B->Name);
    DiagnosticEngine Unheard;
    Facts.insert(B->Read(Plain, Unheard)->needs());
  }
  return Facts;
}

/// What a backend can't say of the job is no reason for no page.
Sections::Sections(const EmitRequest &Request) {
  for (const Backend *B : shownBackends()) {
    const EmitSpec Plain = EmitSpec::plain(B->Name);
    DiagnosticEngine Unheard;
    const std::unique_ptr<Emission> Block = B->Read(Plain, Unheard);
    const EmitRequest Own{Request.Program, Plain, Request.DefaultStem,
                          Request.Where};
    if (!Block->check(Own, Unheard) || Unheard.hasErrors())
      continue;
    if (std::optional<Figures> Of = Block->figures(Own))
      All.push_back({B, std::move(*Of)});
  }
}

Sections::~Sections() = default;

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
  if (const auto *Words = std::get_if<std::string>(&V.Value))
    J.value(*Words);
  else
    Of.writeNumber(J, V.number(), F.Sizes, V.From.value_or(ExprId()));
}

void SectionWriter::table(const FigureTable &T) {
  J.attribute("key", T.Key);
  J.attribute("title", T.Title);
  J.attributeArray("columns", [&] {
    for (const FigureColumn &C : T.Columns)
      J.object([&] {
        J.attribute("key", C.Key);
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

void Sections::write(Explanations &Of, llvm::json::OStream &J) const {
  J.attributeArray("sections", [&] {
    for (const Section &S : All)
      J.object([&] {
        J.attribute("name", S.From->Name);
        J.attribute("title", S.From->Summary);
        SectionWriter(S.Of, Of, J).write();
      });
  });
}
