// SPDX-License-Identifier: Apache-2.0
//
// `foretrace explain`: a number of a job back to its source, or a diagnostic.
#include "tools/driver/EmitBlocks.h"
#include "tools/explain/DiagnosticPage.h"
#include "tools/explain/Options.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Messages.h"

using namespace llvm;

namespace foretrace {

static explain::Options Options(explainCommand(), outputCategory());

ExitCode runExplain() {
  const explain::Query Asked = Options.asked();
  explain::PrinterFn *Print = Options.printer();
  if (jobPath().empty() || !Print)
    return usageError(!Print ? "--format: text, json, csv or md"
                             : "explain: a job or a diagnostic is missing");
  if (Asked.isEmpty()) {
    Error E = explain::printDiagnostic(jobPath(), outs());
    return E ? usageError(toString(std::move(E))) : ExitSuccess;
  }
  Compiler Session;
  DiagnosticEngine Diags = makeEngine();
  FrontendOptions Reading = jobOptions(Session, Diags);
  Reading.IsOfModel = [&](ArrayRef<ir::EmitSpec> Emits) {
    return !Asked.Backend.empty() &&
           driver::areOfModel(driver::selectEmits(Emits, Asked.Backend));
  };
  CompiledJob &Job = Session.read(jobPath(), Reading, Diags);
  if (const ir::Program *P = driver::programFor(Job, Asked.Backend)) {
    Expected<Subjects> Found = explain::explain(*P, Asked);
    if (!Found)
      return usageError(toString(Found.takeError()));
    Print(*Found, Session.sources(), outs());
  }
  return showMessages(Job.engine(), Session.sources());
}

} // namespace foretrace
