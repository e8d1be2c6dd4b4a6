// SPDX-License-Identifier: Apache-2.0
//
// `foretrace new`: a job to begin with.
#include "ir/model/Spellings.h"
#include "tools/compiler/Project.h"
#include "tools/foretrace/Emit.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Messages.h"
#include "tools/importers/Importers.h"
#include "tools/start/NewJob.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace foretrace {

/// An option of the command.
template <typename T> struct NewOption : cl::opt<T> {
  NewOption(StringRef Name, StringRef Value, StringRef Doc,
            cl::OptionCategory &In)
      : cl::opt<T>(Name, cl::value_desc(Value), cl::desc(Doc), cl::cat(In),
                   cl::sub(newCommand())) {}
};

static NewOption<std::string>
    ModelOption("model", "name", "Model of the library, or a file with one",
                jobCategory());
static NewOption<std::string> Config("hf", "config.json",
                                     "Model of a Hugging Face configuration",
                                     jobCategory());
static NewOption<std::string>
    MegatronFile("megatron", "args.sh",
                 "Model and training of Megatron-LM arguments", jobCategory());
static NewOption<std::string>
    ClusterName("cluster", "name", "Cluster of the library, or a file with one",
                jobCategory());
static NewOption<int64_t>
    WorldSize("world", "n", "Number of devices (default: all of the cluster)",
              jobCategory());
static NewOption<std::string>
    NewOutput("o", "file.fore", "Output file (default: standard output)",
              outputCategory());
enum class NewGoal : unsigned char { Time, DeviceHours };
static cl::opt<NewGoal> GoalOption(
    "for", cl::desc("What the layout is best for (default: time)"),
    cl::values(clEnumValN(NewGoal::Time, "time",
                          "least time on --world devices"),
               clEnumValN(NewGoal::DeviceHours, "device-hours",
                          "fewest device hours on --world devices or fewer")),
    jobOption(newCommand()));
static NewOption<std::string>
    ServeOption("serve", "engine",
                "A job that serves: on the fewest devices on which its "
                "requests fit. With vllm, sglang, trtllm or generic",
                jobCategory());
static NewOption<bool> WhyOption("why", "",
                                 "Print what other values of each key would do",
                                 outputCategory());
static NewOption<bool> Force("force", "",
                             "Replace the file of -o if there is one",
                             outputCategory());

/// Reports what --serve does not take.
static std::optional<ExitCode> refuseEngine() {
  if (ServeOption.empty())
    return std::nullopt;
  if (!ir::findSpelling<ir::EngineKind>(ServeOption))
    return usageError("new: --serve takes one of " +
                      join(ir::getSpellings<ir::EngineKind>(), ", "));
  if (WhyOption || GoalOption.getNumOccurrences() || !MegatronFile.empty())
    return usageError(
        "new: --why, --for and --megatron are of jobs that train");
  return std::nullopt;
}

ExitCode runNew() {
  if (ModelOption.empty() + Config.empty() + MegatronFile.empty() != 2)
    return usageError("new: expected one of --model, --hf and --megatron, for "
                      "example `foretrace new --model=llama3-8b "
                      "--cluster=h100 --world=64`");
  if (WorldSize.getNumOccurrences() != 0 && WorldSize <= 0)
    return usageError("new: --world takes a positive number");
  if (const std::optional<ExitCode> Code = refuseEngine())
    return *Code;
  if (!Force && !isStream(NewOutput) && sys::fs::exists(NewOutput))
    return usageError("new: `" + NewOutput +
                      "` exists; use --force to replace it");
  SourceFiles Sources;
  DiagnosticEngine Diags = makeEngine();
  start::NewJobRequest Request;
  Request.Path = isStream(NewOutput) ? "new.fore" : NewOutput.getValue();
  Request.World = WorldSize;
  const auto Find = [&](const std::string &Name, StringRef Folder,
                        StringRef Extension, std::string &To) {
    Expected<std::string> Path =
        start::importFor(Name, Folder, Extension, Request.Path);
    if (Path)
      To = *Path;
    return Path.takeError();
  };
  Request.Model = ModelOption;
  Request.Engine = ServeOption;
  Request.IsForDeviceHours = GoalOption == NewGoal::DeviceHours;
  Request.IsExplained = WhyOption;
  Expected<std::vector<std::string>> InputKeys =
      start::takeOverrides(frontendOptions().Overrides, Request);
  if (!InputKeys)
    return usageError("new: " + toString(InputKeys.takeError()));
  if (!ModelOption.empty() && !InputKeys->empty())
    return usageError("new: -D " + InputKeys->front() +
                      " has no section, such as `train.sequence=8192`");
  if (!ModelOption.empty())
    if (Error E = Find(ModelOption, "models", "fore", Request.ModelImport))
      return usageError("--model: " + toString(std::move(E)));
  const Project Shared = readProject(Request.Path, Sources, Diags);
  if (Diags.hasErrors())
    return showMessages(Diags, Sources);
  Request.Cluster = ClusterName.empty() ? Shared.Cluster : ClusterName;
  if (!Request.Cluster.empty())
    if (Error E =
            Find(Request.Cluster, "clusters", "toml", Request.ClusterImport))
      return usageError("--cluster: " + toString(std::move(E)));
  if (ModelOption.empty()) {
    Request.Imported =
        Config.empty()
            ? importers::importFile("megatron", MegatronFile, Sources, Diags)
            : importers::importFile("hf", Config, Sources, Diags);
    if (const ExitCode Code = showMessages(Diags, Sources))
      return Code;
    Request.Model = Request.Imported->Model;
    if (Error E = Request.Imported->complete(*InputKeys))
      return usageError("new: " + toString(std::move(E)));
  }
  Expected<start::NewJob> Made = start::makeNewJob(std::move(Request));
  if (!Made)
    return failure(Made.takeError(), ExitDiagnosed);
  errs() << Made->Why;
  if (Error E = writeFile(NewOutput.empty() ? "-" : NewOutput.getValue(),
                          outputOptions(), {},
                          [&](raw_ostream &OS) { OS << Made->Text; }))
    return failure(std::move(E));
  return ExitSuccess;
}

} // namespace foretrace
