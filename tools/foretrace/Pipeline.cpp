// SPDX-License-Identifier: Apache-2.0
#include "tools/foretrace/Pipeline.h"
#include "ir/Print.h"
#include "tools/foretrace/Commands.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include <cstdlib>

using namespace llvm;

namespace foretrace {

static cl::list<std::string>
    PrintAfter("print-after", cl::value_desc("pass"), cl::CommaSeparated,
               cl::desc("Print the IR after this pass, or after `all`"),
               cl::cat(passCategory()), cl::sub(compileCommand()),
               cl::sub(optCommand()));

static cl::opt<bool>
    VerifyEach("verify-each", cl::desc("Verify the IR after each pass"),
               cl::init(std::getenv("FORETRACE_VERIFY_EACH") != nullptr),
               cl::cat(passCategory()), cl::sub(compileCommand()),
               cl::sub(optCommand()));

static cl::opt<bool> TimePasses("time-passes",
                                cl::desc("Print the time each pass took"),
                                cl::cat(passCategory()),
                                cl::sub(compileCommand()),
                                cl::sub(optCommand()));

static cl::opt<bool>
    Stats("stats", cl::desc("Print the size of the IR and what it stands for"),
          cl::cat(passCategory()), cl::sub(compileCommand()),
          cl::sub(optCommand()));

bool checkPipelineOptions() {
  for (StringRef Name : PrintAfter)
    if (Name != "all" && !findPass(Name)) {
      usageError("--print-after: `" + Name +
                 "` is not a pass; see `foretrace list passes`");
      return false;
    }
  return true;
}

static void printAfter(const PassInfo &Pass, const ir::Program &P) {
  if (!is_contained(PrintAfter, Pass.Name) && !is_contained(PrintAfter, "all"))
    return;
  errs() << "// after " << Pass.Name << "\n";
  ir::print(P, errs());
}

static void printTime(const PassInfo &Pass, int64_t Nanoseconds) {
  errs() << format("%10.3f ms  ", Nanoseconds / 1e6) << Pass.Name << "\n";
}

bool runPipeline(ir::Program &P, ArrayRef<const PassInfo *> Passes,
                 DiagnosticEngine &Diags) {
  PassOptions Options;
  Options.VerifyEach = VerifyEach;
  if (!PrintAfter.empty())
    Options.After = printAfter;
  if (TimePasses)
    Options.Timed = printTime;
  return runPasses(P, Passes, Diags, Options);
}

void showStatistics(const ir::Program &P) {
  if (!Stats)
    return;
  size_t Values = 0, Ops = 0, Collectives = 0;
  for (const ir::Block &B : P.Blocks) {
    Values += B.Values.size();
    Ops += B.Ops.size();
    Collectives += count_if(
        B.Ops, [](const ir::Op &O) { return ir::isCollective(O.Kind); });
  }
  const ir::ParallelSpec &Parallel = P.Spec.Parallel;
  errs() << "stats: blocks " << P.Blocks.size() << "\n"
         << "stats: values " << Values << "\n"
         << "stats: ops " << Ops << "\n"
         << "stats: collectives " << Collectives << "\n"
         << "stats: stage kinds " << P.Stages.size() << "\n"
         << "stats: standing for " << P.Spec.Model.layerCount() << " layers, "
         << *Parallel.Ga << " micro-batches, " << *Parallel.World << " ranks\n";
}

} // namespace foretrace
