// SPDX-License-Identifier: Apache-2.0
#include "backends/aicb/Aicb.h"
#include "backends/aicb/Check.h"
#include "backends/aicb/Workload.h"

using namespace foretrace;
using namespace foretrace::aicb;

ir::FactSet foretrace::aicb::needs(const Options &) {
  return {ir::Fact::Complete};
}

bool foretrace::aicb::check(const EmitRequest &Request, const Options &O,
                            DiagnosticEngine &Diags) {
  return checkWorkload(Request.Program.Spec, Request.Emit, O, Diags);
}

llvm::Error foretrace::aicb::emit(const EmitRequest &Request, const Options &O,
                                  OutputSet &Out) {
  return Out.add(Request.file(O.File, ".csv"), [&](llvm::raw_ostream &OS) {
    makeWorkload(Request.Program.Spec, O, OS)->write();
  });
}
