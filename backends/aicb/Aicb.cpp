// SPDX-License-Identifier: Apache-2.0
#include "backends/aicb/Aicb.h"
#include "backends/aicb/Check.h"
#include "backends/aicb/Workload.h"

using namespace foretrace;
using namespace foretrace::aicb;

ir::FactSet foretrace::aicb::prepare(const ir::EmitSpec &Emit,
                                     DiagnosticEngine &Diags) {
  for (const std::string &Slug : readOptions(Emit, Diags).Allow)
    Diags.allow(Slug);
  return {ir::Fact::Complete};
}

bool foretrace::aicb::check(const EmitRequest &Request,
                            DiagnosticEngine &Diags) {
  DiagnosticEngine Known; // `prepare` has reported these
  return checkWorkload(Request.Program.Spec, Request.Emit,
                       readOptions(Request.Emit, Known), Diags);
}

llvm::Error foretrace::aicb::emit(const EmitRequest &Request, OutputSet &Out,
                                  DiagnosticEngine &) {
  DiagnosticEngine Known; // `prepare` has reported these
  const Options O = readOptions(Request.Emit, Known);
  const std::string Path =
      O.File.empty() ? (Request.DefaultStem + ".csv").str() : O.File;
  return Out.add(Path, [&](llvm::raw_ostream &OS) {
    makeWorkload(Request.Program.Spec, O, OS)->write();
  });
}
