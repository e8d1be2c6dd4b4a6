// SPDX-License-Identifier: Apache-2.0
//
// Subcommands that print or write what one backend says of a job.
#include "backends/Backends.h"
#include "backends/OptionKinds.h"
#include "tools/driver/EmitBlocks.h"
#include "tools/foretrace/Emit.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Messages.h"
#include "tools/foretrace/Pipeline.h"
#include "tools/start/JobChanges.h"
#include <deque>

using namespace llvm;

namespace foretrace {

namespace {

/// An option of an `emit` block on the command line: its words and what holds
/// without it are part of the help.
class AnswerOption {
public:
  AnswerOption(const EmitOption &O, cl::SubCommand &Command);

  /// `attention=full`, if it is given; a flag needs no value.
  std::optional<std::string> given() const;

private:
  const bool IsFlag;
  const std::string Values, Doc;
  cl::opt<std::string> Option;
};

class Answer {
public:
  /// \p Default is where it goes; empty: a file with the name of the job.
  Answer(StringRef Name, cl::SubCommand &Command, StringRef Default);

  ExitCode run();

private:
  std::vector<std::string> given() const;

  const Backend &Format;
  /// The options of an `emit` block; files are what `-o` says.
  std::deque<AnswerOption> Options;
  cl::opt<std::string> Path;
};

} // namespace

AnswerOption::AnswerOption(const EmitOption &O, cl::SubCommand &Command)
    : IsFlag(O.Words() == option::Flag::words()), Values(driver::valuesOf(O)),
      Doc(driver::docOf(O)),
      Option(StringRef(O.Name), cl::desc(Doc), cl::value_desc(Values),
             IsFlag ? cl::ValueOptional : cl::ValueRequired,
             outputOption(Command)) {}

std::optional<std::string> AnswerOption::given() const {
  if (Option.getNumOccurrences() == 0)
    return std::nullopt;
  const bool IsPlain = IsFlag && Option.empty();
  return (Option.ArgStr + "=" + (IsPlain ? "true" : Option.getValue())).str();
}

Answer::Answer(StringRef Name, cl::SubCommand &Command, StringRef Default)
    : Format(*findBackend(Name)),
      Path("o", cl::value_desc("file"), cl::init(Default.str()),
           cl::desc(Default.empty()
                        ? "Output file (default: in this folder, named after "
                          "the job); - is standard output"
                        : "Output file (default: standard output)"),
           outputOption(Command)) {
  for (const EmitOption &O : Format.options())
    if (!O.IsPath)
      Options.emplace_back(O, Command);
}

std::vector<std::string> Answer::given() const {
  std::vector<std::string> All;
  for (const AnswerOption &O : Options)
    if (std::optional<std::string> Text = O.given())
      All.push_back(std::move(*Text));
  return All;
}

ExitCode Answer::run() {
  const StringRef Name = Format.Name;
  if (jobPath().empty())
    return usageError(Name + ": a job is missing, for example `foretrace " +
                      Name + " job.fore`");
  Compiler Session(runPipeline);
  const SourceFiles &Sources = Session.sources();
  DiagnosticEngine Diags = makeEngine();
  std::optional<ir::EmitSpec> Emit = Session.readEmit(Name, given(), Diags);
  if (!hasFolder(Path, Diags) || !Emit)
    return showMessages(Diags, Sources);
  if (!Path.empty())
    Emit->set("file", ir::Attribute::Kind::Text, Path);
  const bool OnlyModel = driver::areOfModel(*Emit);
  FrontendOptions Reading =
      OnlyModel ? frontendOptions() : jobOptions(Session, Diags);
  Reading.OnlyModel = OnlyModel;
  Reading.IsOfModel = [&](ArrayRef<ir::EmitSpec>) { return Reading.OnlyModel; };
  CompiledJob &Job = Session.read(jobPath(), Reading, Diags);
  driver::Emitter Emitter = makeEmitter(
      jobPath(), {"", "", isStream(Path) ? Path.getValue() : ""}, Sources,
      Job.engine(), start::offerChanges(Session, jobPath(), Reading));
  if (Job.spec())
    Emitter.emitJob(Job, *Emit);
  Emitter.commit();
  return showMessages(Job.engine(), Sources);
}

#define SUBCOMMAND(...)
#define DEFINE(FUNCTION, RUN, NAME, DEFAULT)                                   \
  static Answer FUNCTION##Answer(NAME, FUNCTION(), DEFAULT);                   \
  ExitCode RUN() { return FUNCTION##Answer.run(); }
#define ANSWER(FUNCTION, RUN, NAME, SUMMARY, EXAMPLE)                          \
  DEFINE(FUNCTION, RUN, NAME, "-")
#define PAGE(FUNCTION, RUN, NAME, SUMMARY, EXAMPLE)                            \
  DEFINE(FUNCTION, RUN, NAME, "")
#include "tools/foretrace/Commands.def"

} // namespace foretrace
