// SPDX-License-Identifier: Apache-2.0
//
// The `json` backend: the whole plan of a job as one document.
#include "backends/EmissionOf.h"
#include "backends/figures/PlanDocument.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::option;

struct planjson::Options {
  std::string File; ///< empty: from the job's name
};

constexpr EmitOption planjson::OptionRows[] = {
#include "backends/json/Options.def"
};
constexpr EmitReader planjson::Reader = readerOf<Options>(OptionRows);

FactSet planjson::needs(const Options &) { return factsOfPlan(); }

bool planjson::check(const EmitRequest &Request, const Options &,
                     DiagnosticEngine &Diags) {
  return checkPlan(Request.Program, Diags);
}

llvm::Error planjson::emit(const EmitRequest &Request, const Options &O,
                           OutputSet &Out) {
  PlanDocument Document(Request.Figures);
  return Out.add(Request.file(O.File, ".json"), [&](llvm::raw_ostream &OS) {
    NumberWriter Plain;
    llvm::json::OStream J(OS, 2);
    Document.write(Request.DefaultStem, J, Plain);
    J.flush();
    OS << '\n';
  });
}
