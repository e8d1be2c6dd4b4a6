// SPDX-License-Identifier: Apache-2.0
//
// `foretrace export`: a job in the terms of another tool.
#include "tools/exporters/Exporters.h"
#include "tools/foretrace/Emit.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Messages.h"

using namespace llvm;

namespace foretrace {

static cl::opt<std::string> Format(cl::Positional, cl::desc("<format>"),
                                   jobOption(exportCommand()));
static cl::opt<std::string> Exported(cl::Positional, cl::desc("<job.fore>"),
                                     jobOption(exportCommand()));
static cl::opt<std::string>
    ExportOutput("o", cl::value_desc("file"), cl::init("-"),
                 cl::desc("Output file (default: standard output)"),
                 outputOption(exportCommand()));

ExitCode runExport() {
  const exporters::Exporter *To = exporters::findExporter(Format);
  if (!To || Exported.empty())
    return usageError("export: expected a format and a job:" +
                      exporters::exampleLines());
  Compiler Session;
  DiagnosticEngine Given = makeEngine();
  if (!hasFolder(ExportOutput, Given))
    return showMessages(Given, Session.sources());
  FrontendOptions Reading = frontendOptions();
  Reading.OnlyModel = To->isOfModel();
  Reading.IsOfModel = [&](ArrayRef<ir::EmitSpec>) { return To->isOfModel(); };
  CompiledJob &Job = Session.read(Exported, Reading, Given);
  const ir::Program *P =
      Job.spec() ? Job.program({ir::Fact::Complete}) : nullptr;
  std::optional<std::string> Text;
  if (P)
    Text = exporters::exportJob(*To, P->Spec, Session.sources(), Job.engine());
  if (const ExitCode Code = showMessages(Job.engine(), Session.sources()))
    return Code;
  InputFiles Inputs;
  Inputs.add(Session.sources());
  if (Error E = writeFile(ExportOutput, outputOptions(), std::move(Inputs),
                          [&](raw_ostream &OS) { OS << *Text; }))
    return failure(std::move(E));
  return ExitSuccess;
}

} // namespace foretrace
