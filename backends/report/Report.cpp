// SPDX-License-Identifier: Apache-2.0
#include "backends/report/Report.h"
#include "backends/EmissionOf.h"
#include "backends/PageTemplate.h"
#include "backends/figures/PlanDocument.h"
#include "backends/report/Parts.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::option;

/// Beside this file; the first is the page.
static constexpr PageFile PageFiles[] = {
#include "backends/PageFiles.inc"
};

constexpr EmitOption report::OptionRows[] = {
#include "backends/report/Options.def"
};
constexpr EmitReader report::Reader = readerOf<Options>(OptionRows);

FactSet report::needs(const Options &) {
  FactSet Facts = factsOfPlan();
  Facts.insert(Fact::Costs);
  Facts.insert(factsOfAnswers());
  return Facts;
}

bool report::check(const EmitRequest &Request, const Options &,
                   DiagnosticEngine &Diags) {
  return checkPlan(Request.Program, Diags);
}

namespace {

/// Numbers with an index of where they come from.
class ExplainedNumbers final : public NumberWriter {
public:
  ExplainedNumbers(report::Explanations &Of, const PlanDocument &Plan)
      : Of(Of), Plan(Plan) {}

  void write(llvm::json::OStream &J, __int128 Value, ExprId From) override {
    Of.writeNumber(J, Value, Plan.sizes(), From);
  }

private:
  report::Explanations &Of;
  const PlanDocument &Plan;
};

} // namespace

void report::writeData(const EmitRequest &Request, llvm::raw_ostream &OS) {
  const Program *Largest = Request.Largest ? Request.Largest() : nullptr;
  std::vector<Answer> Others =
      answersOf(Request.Figures, Request.Program.Facts, Largest, Request.Where);
  if (Request.ListFitting)
    for (Answer &A : Others)
      if (A.Of && A.Of->ExceededRoom)
        A.Of->Tables.push_back(Request.ListFitting(*A.Of->ExceededRoom));
  PlanDocument Plan(Request.Figures);
  report::Explanations Of(Request);
  if (Largest)
    for (const Answer &A : Others)
      if (A.Of && A.From->Name == "memory")
        Of.setSpec(A.Of->Sizes, Largest->Spec);
  ExplainedNumbers Numbers(Of, Plan);
  llvm::json::OStream J(OS);
  J.object([&] {
    J.attributeBegin("plan");
    Plan.write(Request.DefaultStem, J, Numbers);
    J.attributeEnd();
    if (const auto &C = Request.Program.Spec.Cluster;
        C && C->Device.Name.isPresent())
      J.attribute("device", *C->Device.Name);
    report::writeTiles(Request, Others, Of, J);
    report::writeSections(Others, Of, J);
    if (!Request.Program.Spec.Serve)
      report::writePicture(Request, J);
    else
      report::writeOccupancy(Largest ? *Largest : Request.Program, J);
    report::writeLayers(Request.Program, J);
    report::writeNodes(Request.Program, J);
    report::writeSources(Request, Others, Of, J);
    Of.write(J);
  });
  J.flush();
}

llvm::Error report::writePage(
    llvm::raw_ostream &OS,
    llvm::function_ref<llvm::Error(llvm::raw_ostream &)> WriteData) {
  return foretrace::writePage(PageFiles, OS, WriteData);
}

llvm::Error report::emit(const EmitRequest &Request, const Options &O,
                         OutputSet &Out) {
  return Out.add(Request.file(O.File, ".report.html"),
                 [&](llvm::raw_ostream &OS) {
                   llvm::cantFail(writePage(OS, [&](llvm::raw_ostream &Data) {
                     writeData(Request, Data);
                     return llvm::Error::success();
                   }));
                 });
}
