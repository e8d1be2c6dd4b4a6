// SPDX-License-Identifier: Apache-2.0
//
// `foretrace compile`: frontend, then each `emit` block.
#include "backends/Backends.h"
#include "lang/diagnostics/Tools.h"
#include "tools/driver/EmitBlocks.h"
#include "tools/foretrace/Emit.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Messages.h"
#include "tools/foretrace/Pipeline.h"
#include "tools/start/JobChanges.h"

using namespace llvm;

namespace foretrace {

static cl::opt<std::string> CompileOutput(
    "o", cl::value_desc("path"),
    cl::desc("Output folder, created if the path ends in `/`; or, if the job "
             "has one `emit` block, output file (`-`: standard output)"),
    outputOption(compileCommand()));

static cl::list<std::string>
    CompileEmits("emit", cl::value_desc("backend"), cl::CommaSeparated,
                 cl::desc("Run only this backend, with the options of its "
                          "`emit` block, if there is one"),
                 outputOption(compileCommand()));

static cl::opt<std::string>
    IRLevel("level", cl::value_desc("level"),
            cl::desc("For --emit=ir: spec, model, spmd or schedule (default)"),
            outputOption(compileCommand()));

static cl::opt<bool> ToStdout("stdout", cl::desc("The same as -o -"),
                              outputOption(compileCommand()));

/// Selects the blocks of the job that the command line names.
static std::vector<ir::EmitSpec> selectEmits(ArrayRef<ir::EmitSpec> Emits) {
  return driver::selectEmits(
      Emits,
      std::vector<std::string>(CompileEmits.begin(), CompileEmits.end()));
}

/// Emits the blocks that are meant; everything wrong is in the diagnostics.
static void emitJob(CompiledJob &Job, Compiler &Session,
                    const FrontendOptions &Reading) {
  DiagnosticEngine &Diags = Job.engine();
  const driver::Destination To =
      driver::destinationOf(ToStdout ? "-" : CompileOutput.getValue());
  std::vector<ir::EmitSpec> Emits = selectEmits(Job.spec()->Emits);
  if (Emits.empty())
    Diags.report({}, diag::NothingToEmit);
  if (Emits.size() > 1 && !To.File.empty()) {
    Diags.report(Emits[1].Range, diag::OneFileManyEmits,
                 CompileOutput.getValue(), Emits.size());
    return;
  }
  if (Emits.size() == 1 && !To.File.empty() && !driver::takesFile(Emits[0])) {
    Diags.report(Emits[0].Range, diag::FolderNeeded, Emits[0].Backend,
                 CompileOutput.getValue());
    return;
  }
  using Kind = ir::Attribute::Kind;
  for (ir::EmitSpec &E : Emits) {
    if (!To.File.empty())
      E.set("file", Kind::Text, To.File);
    if (E.Backend != "ir")
      continue;
    if (!IRLevel.empty())
      E.set("level", Kind::Text, IRLevel);
    if (!To.Folder.empty() && !E.Options.find("file"))
      E.set("file", Kind::Text, stemOfJob(jobPath()) + ".ftir");
  }

  driver::Emitter Emitter =
      makeEmitter(jobPath(), To, Session.sources(), Diags,
                  start::offerChanges(Session, jobPath(), Reading));
  Emitter.emitJob(Job, Emits);
  Emitter.commit();
}

ExitCode runCompile() {
  if (jobPath().empty())
    return usageError("compile: a job is missing, for example "
                      "`foretrace compile job.fore`");
  for (const std::string &Name : CompileEmits)
    if (!findBackend(Name))
      return usageError("--emit: `" + Name +
                        "` is not a backend; see `foretrace list backends`");
  if (!checkPipelineOptions())
    return ExitUsage;
  Compiler Session(runPipeline);
  DiagnosticEngine Diags = makeEngine();
  if (!hasFolder(CompileOutput, Diags))
    return showMessages(Diags, Session.sources());
  FrontendOptions Options = jobOptions(Session, Diags);
  Options.IsOfModel = [](ArrayRef<ir::EmitSpec> Emits) {
    return driver::areOfModel(selectEmits(Emits));
  };
  if (const ExitCode Code = fixIfAsked(Options))
    return Code;
  CompiledJob &Job = Session.read(jobPath(), Options, Diags);
  if (Job.spec())
    emitJob(Job, Session, Options);
  return showMessages(Job.engine(), Session.sources());
}

} // namespace foretrace
