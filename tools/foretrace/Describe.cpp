// SPDX-License-Identifier: Apache-2.0
//
// `foretrace completion` and `foretrace man`.
#include "tools/driver/CommandLineText.h"
#include "tools/foretrace/Commands.h"

using namespace llvm;

namespace foretrace {

static cl::opt<std::string> Shell(cl::Positional, cl::desc("bash|zsh"),
                                  cl::cat(jobCategory()),
                                  cl::sub(completionCommand()));

ExitCode runCompletion() {
  if (Shell == "bash")
    driver::writeBashCompletion("foretrace", outs());
  else if (Shell == "zsh")
    driver::writeZshCompletion("foretrace", outs());
  else
    return usageError("completion: say for which shell: bash or zsh");
  return ExitSuccess;
}

ExitCode runMan() {
  outs()
      << ".TH FORETRACE 1 \"\" \"foretrace " FORETRACE_VERSION "\"\n"
         ".SH NAME\nforetrace \\- compile the description of an LLM training "
         "job to workloads for simulators\n"
         ".SH SYNOPSIS\n.B foretrace\n.I command\n[options]\n";
  driver::writeManSections("foretrace", outs());
  outs() << ".SH EXIT STATUS\n0 done, 1 diagnosed, 2 wrong usage.\n"
            ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nNo colours on a terminal.\n"
            ".TP\n.B FORETRACE_VERIFY_EACH\nIf set, the same as "
            "\\-\\-verify\\-each.\n";
  return ExitSuccess;
}

} // namespace foretrace
