// SPDX-License-Identifier: Apache-2.0
#include "tools/foretrace/Pipeline.h"
#include "passes/PassReport.h"
#include "tools/foretrace/Commands.h"
#include <cstdlib>

using namespace llvm;

namespace foretrace {

static cl::list<std::string>
    PrintAfter("print-after", cl::value_desc("pass"), cl::CommaSeparated,
               cl::desc("Print the IR after this pass, or after `all`"),
               passOption(compileCommand()), cl::sub(optCommand()));

static cl::opt<bool>
    VerifyEach("verify-each", cl::desc("Verify the IR after each pass"),
               cl::init(std::getenv("FORETRACE_VERIFY_EACH") != nullptr),
               passOption(compileCommand()), cl::sub(optCommand()));

static cl::opt<bool> TimePasses("time-passes",
                                cl::desc("Print the time each pass took"),
                                passOption(compileCommand()),
                                cl::sub(optCommand()));

static cl::opt<bool>
    Stats("stats", cl::desc("Print the size of the IR, folded and unfolded"),
          passOption(compileCommand()), cl::sub(optCommand()));

bool checkPipelineOptions() {
  for (StringRef Name : PrintAfter)
    if (Name != "all" && !findPass(Name)) {
      usageError("--print-after: `" + Name +
                 "` is not a pass; see `foretrace list passes`");
      return false;
    }
  return true;
}

bool runPipeline(ir::Program &P, ArrayRef<const PassInfo *> Passes,
                 DiagnosticEngine &Diags) {
  return runPasses(
      P, Passes, Diags,
      {VerifyEach, TimePasses, {PrintAfter.begin(), PrintAfter.end()}}, errs());
}

void showStatistics(const ir::Program &P) {
  if (Stats)
    printStatistics(P, errs());
}

} // namespace foretrace
