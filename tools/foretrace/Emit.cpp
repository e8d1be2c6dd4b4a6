// SPDX-License-Identifier: Apache-2.0
#include "tools/foretrace/Emit.h"
#include "tools/foretrace/Messages.h"
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

static cl::opt<unsigned>
    Threads("threads", cl::value_desc("n"),
            cl::desc("Write files with so many threads (default: one for each "
                     "processor)"),
            cl::cat(outputCategory()), cl::sub(compileCommand()),
            cl::sub(convertCommand()));

driver::Emitter makeEmitter(StringRef Path, driver::Destination To,
                            const SourceFiles &Sources,
                            DiagnosticEngine &Diags) {
  driver::EmitterOptions Options;
  Options.To = std::move(To);
  Options.Stem = sys::path::stem(Path).str();
  Options.MayLeaveFolder = AllowOutside;
  Options.IsQuiet = isQuiet();
  Options.Threads = Threads;
  Options.ShowsCommand = ShowCommand;
  Options.Inspect = showStatistics;
  return {std::move(Options), Sources, Diags};
}

} // namespace foretrace
