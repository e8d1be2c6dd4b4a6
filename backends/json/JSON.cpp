// SPDX-License-Identifier: Apache-2.0
#include "backends/json/JSON.h"
#include "backends/OptionKinds.h"
#include "backends/figures/PlanDocument.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::option;

llvm::ArrayRef<EmitOption> planjson::optionTable() {
  using planjson::Options;
  static constexpr EmitOption Table[] = {
#define OPTION(...) EMIT_OPTION(__VA_ARGS__)
#include "backends/json/Options.def"
  };
  return Table;
}

planjson::Options planjson::readOptions(const EmitSpec &Emit,
                                        DiagnosticEngine &Diags) {
  return readEmitOptions<Options>(Emit, optionTable(), Diags);
}

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
