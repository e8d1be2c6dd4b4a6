// SPDX-License-Identifier: Apache-2.0
#include "tools/foretrace/Emit.h"
#include "tools/foretrace/Commands.h"
#include "tools/foretrace/Pipeline.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace {

static cl::opt<bool>
    ShowCommand("show-command",
                cl::desc("Print the command that runs the simulator on what "
                         "was written"),
                cl::cat(outputCategory()), cl::sub(compileCommand()),
                cl::sub(convertCommand()));

static cl::opt<bool>
    AllowOutside("allow-outside",
                 cl::desc("Let `emit` blocks name files outside of the output "
                          "folder"),
                 cl::cat(outputCategory()), cl::sub(compileCommand()));

driver::Emitter makeEmitter(StringRef Path, const SourceMgr &Sources,
                            FileOutputs &Outputs, DiagnosticEngine &Diags) {
  return {{sys::path::stem(Path).str(), AllowOutside, ShowCommand, runPipeline,
           showStatistics},
          Sources,
          Outputs,
          Diags};
}

} // namespace foretrace
