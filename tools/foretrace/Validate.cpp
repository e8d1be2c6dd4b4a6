// SPDX-License-Identifier: Apache-2.0
//
// `foretrace validate` and `foretrace summary`: what is wrong with files for
// simulators, and what they hold.
#include "tools/validate/Validate.h"
#include "tools/driver/FormatOption.h"
#include "tools/foretrace/Messages.h"
#include "tools/validate/Findings.h"

using namespace llvm;

namespace foretrace {

static cl::SubCommandGroup Both = {&validateCommand(), &summaryCommand()};

static cl::opt<std::string>
    ValidatePath(cl::Positional, cl::desc("<folder|file>"), jobOption(Both));

static driver::FindingFormatOption
    DefectFormat(validateCommand(), outputCategory(), "Format of findings:");
static cl::opt<bool> AsJSON("json", cl::desc("The same as --format=json"),
                            outputOption(validateCommand()),
                            cl::callback([](const bool &) {
                              DefectFormat.setValue(DiagnosticFormat::JSON);
                            }));
static driver::TextFormatOption
    SummaryFormat(summaryCommand(), outputCategory(), "Format of the summary:");
static driver::ExactOption SummaryExact(cl::sub(Both), outputCategory());

ExitCode runValidate() {
  if (ValidatePath.empty())
    return usageError("validate: a file or folder is missing, for example "
                      "`foretrace validate table.txt`");
  const std::unique_ptr<DiagnosticClient> Out =
      makeClient(DefectFormat, outs(), {}, validate::Findings::columns());
  Expected<bool> IsValid = validate::validate(
      ValidatePath, *Out,
      DefectFormat == DiagnosticFormat::Text ? &outs() : nullptr, SummaryExact);
  Out->finish();
  if (!IsValid)
    return failure(IsValid.takeError());
  return *IsValid ? ExitSuccess : ExitDiagnosed;
}

ExitCode runSummary() {
  if (ValidatePath.empty())
    return usageError("summary: a folder of Chakra traces is missing");
  if (Error E = validate::summarizeSets(ValidatePath, SummaryFormat,
                                        SummaryExact, outs()))
    return failure(std::move(E));
  return ExitSuccess;
}

} // namespace foretrace
