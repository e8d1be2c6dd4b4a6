// SPDX-License-Identifier: Apache-2.0
//
// `foretrace completion` and `foretrace man`.
#include "lang/Version.h"
#include "tools/convert/Formats.h"
#include "tools/driver/CommandLineText.h"
#include "tools/explain/Explain.h"
#include "tools/exporters/Exporters.h"
#include "tools/foretrace/Commands.h"
#include "tools/importers/Importers.h"

using namespace llvm;

namespace foretrace {

static cl::opt<std::string> Shell(cl::Positional, cl::desc("bash|zsh|fish"),
                                  jobOption(completionCommand()));

ExitCode runCompletion() {
  std::vector<driver::CompletionWords> Known = driver::completionWords();
  Known.push_back({"convert", "to", convert::formatNames()});
  Known.push_back({"import", "", driver::names(importers::importers())});
  Known.push_back({"export", "", driver::names(exporters::exporters())});
  Known.push_back({"explain", "emit", explain::explainedBackends()});
  if (Shell == "bash")
    driver::writeBashCompletion("foretrace", Known, outs());
  else if (Shell == "zsh")
    driver::writeZshCompletion("foretrace", Known, outs());
  else if (Shell == "fish")
    driver::writeFishCompletion("foretrace", Known, outs());
  else
    return usageError("completion: expected a shell: bash, zsh or fish");
  return ExitSuccess;
}

static cl::opt<std::string> PageOf(cl::Positional, cl::desc("[command]"),
                                   jobOption(manCommand()));

ExitCode runMan() {
  const bool IsKnown = driver::writeManPage(
      {"foretrace",
       FORETRACE_VERSION,
       "compile the description of an LLM training job to workloads for "
       "simulators",
       ExitCodes,
       {{"NO_COLOR", "No colours on a terminal."},
        {"FORETRACE_VERIFY_EACH", "If set, the same as --verify-each."}},
       commandExamples()},
      PageOf, outs());
  return IsKnown ? ExitSuccess
                 : usageError("man: `" + PageOf + "` is not a subcommand");
}

} // namespace foretrace
