// SPDX-License-Identifier: Apache-2.0
//
// `foretrace plan`: which layers each pipeline stage of a job holds, and what
// they weigh; or what it runs, and when.
#include "tools/driver/FormatOption.h"
#include "tools/foretrace/Emit.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Messages.h"
#include "tools/foretrace/Pipeline.h"

using namespace llvm;

namespace foretrace {

static cl::opt<std::string>
    PlanFormat("format", cl::value_desc("format"), cl::init("table"),
               cl::desc("table (default), json, csv, md or svg"),
               outputOption(planCommand()));

static driver::ExactOption PlanExact(cl::sub(planCommand()), outputCategory());

static cl::opt<std::string>
    PlanOutput("o", cl::value_desc("file"), cl::init("-"),
               cl::desc("Output file (default: standard output)"),
               outputOption(planCommand()));

static cl::opt<bool> OfSchedule(
    "schedule",
    cl::desc("Print the schedule of each stage instead of its layers"),
    outputOption(planCommand()));

static cl::opt<std::string>
    Comms("comms", cl::value_desc("which"), cl::ValueOptional, cl::init("none"),
          cl::desc("Messages in --schedule --format=csv: lowered (added by "
                   "PyTorch's runtime; the default of a bare --comms) or calls "
                   "(of the schedule itself)"),
          outputOption(planCommand()));

static cl::opt<std::string>
    Time("time", cl::value_desc("which"), cl::ValueOptional, cl::init("unit"),
         cl::desc("Also print the estimated times of each stage; in --schedule "
                  "as svg or json the durations of steps: unit (default) or "
                  "cost"),
         outputOption(planCommand()));

/// `emit plan { format = ...  file = ... }`; cuts inside of layers are for
/// `optimus` to say.
static ir::EmitSpec makeEmit(const ir::Spec &Job) {
  if (OfSchedule) {
    ir::EmitSpec Emit = ir::EmitSpec::plain("schedule");
    Emit.set("format", ir::Attribute::Kind::Name,
             PlanFormat == "table" ? "grid" : PlanFormat.getValue());
    Emit.set("comms", ir::Attribute::Kind::Name,
             Comms.empty() ? "lowered" : Comms.getValue());
    Emit.set("time", ir::Attribute::Kind::Name,
             Time.empty() ? "cost" : Time.getValue());
    Emit.set("file", ir::Attribute::Kind::Text, PlanOutput);
    return Emit;
  }
  const bool IsCutInside =
      *Job.Parallel.Partition == ir::PartitionKind::ModuleCount;
  ir::EmitSpec Emit = ir::EmitSpec::plain(IsCutInside ? "optimus" : "plan");
  Emit.set("format", ir::Attribute::Kind::Name, PlanFormat);
  Emit.set("file", ir::Attribute::Kind::Text, PlanOutput);
  if (PlanExact)
    Emit.setFlag("exact");
  if (!IsCutInside && Time.getNumOccurrences() != 0)
    Emit.setFlag("times");
  return Emit;
}

ExitCode runPlan() {
  if (jobPath().empty())
    return usageError("plan: a job is missing, for example "
                      "`foretrace plan job.fore`");
  if (!OfSchedule && Comms.getNumOccurrences() != 0)
    return usageError("plan: --comms needs --schedule");
  if (!OfSchedule && !Time.empty() && Time.getNumOccurrences() != 0)
    return usageError("plan: --time has a value with --schedule only");
  Compiler Session(runPipeline);
  const SourceFiles &Sources = Session.sources();
  DiagnosticEngine Diags = makeEngine();
  if (!hasFolder(PlanOutput, Diags))
    return showMessages(Diags, Sources);
  if (const ExitCode Code = fixIfAsked(frontendOptions()))
    return Code;
  const FrontendOptions Options = jobOptions(Session, Diags);
  CompiledJob &Job = Session.read(jobPath(), Options, Diags);
  driver::Emitter Emitter = makeEmitter(
      jobPath(), {"", "", isStream(PlanOutput) ? PlanOutput.getValue() : ""},
      Sources, Job.engine());
  if (const ir::Spec *Spec = Job.spec())
    Emitter.emitJob(Job, makeEmit(*Spec));
  Emitter.commit();
  return showMessages(Job.engine(), Sources);
}

} // namespace foretrace
