// SPDX-License-Identifier: Apache-2.0
//
// The `report` backend: what a job is and costs as one page of HTML, which
// needs nothing but a browser.
#ifndef FORETRACE_BACKENDS_REPORT_REPORT_H
#define FORETRACE_BACKENDS_REPORT_REPORT_H

#include "backends/Backend.h"

namespace foretrace::report {

struct Options {
  std::string File; ///< empty: from the job's name
};

llvm::ArrayRef<EmitOption> optionTable();
Options readOptions(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);
ir::FactSet needs(const Options &O);
bool check(const EmitRequest &Request, const Options &O,
           DiagnosticEngine &Diags);
llvm::Error emit(const EmitRequest &Request, const Options &O, OutputSet &Out);

} // namespace foretrace::report

#endif
