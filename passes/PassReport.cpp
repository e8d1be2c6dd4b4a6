// SPDX-License-Identifier: Apache-2.0
#include "passes/PassReport.h"
#include "ir/text/Print.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

using namespace foretrace;
using namespace foretrace::ir;

bool foretrace::runPasses(Program &P, llvm::ArrayRef<const PassInfo *> Passes,
                          DiagnosticEngine &Diags, const PassReport &Report,
                          llvm::raw_ostream &OS) {
  auto PrintAfter = [&](const PassInfo &Pass, const Program &Now) {
    if (!llvm::is_contained(Report.PrintAfter, Pass.Name) &&
        !llvm::is_contained(Report.PrintAfter, "all"))
      return;
    OS << "// after " << Pass.Name << "\n";
    print(Now, OS);
  };
  auto PrintTime = [&](const PassInfo &Pass, int64_t Nanoseconds) {
    OS << llvm::format("%10.3f ms  ", Nanoseconds / 1e6) << Pass.Name << "\n";
  };
  PassOptions Options;
  Options.VerifyEach = Report.VerifyEach;
  Options.After = PrintAfter;
  if (Report.Times)
    Options.Timed = PrintTime;
  return runPasses(P, Passes, Diags, Options);
}

void foretrace::printStatistics(const Program &P, llvm::raw_ostream &OS) {
  size_t Values = 0, Ops = 0, Collectives = 0;
  for (const Block &B : P.Blocks) {
    Values += B.Values.size();
    Ops += B.Ops.size();
    Collectives +=
        llvm::count_if(B.Ops, [](const Op &O) { return isCollective(O.Kind); });
  }
  const ParallelSpec &Parallel = P.Spec.Parallel;
  OS << "stats: blocks " << P.Blocks.size() << "\n"
     << "stats: values " << Values << "\n"
     << "stats: ops " << Ops << "\n"
     << "stats: collectives " << Collectives << "\n"
     << "stats: stage kinds " << P.Stages.size() << "\n"
     << "stats: standing for " << P.Spec.Model.layerCount() << " layers, "
     << *Parallel.Ga << " micro-batches, " << *Parallel.World << " ranks\n";
}
