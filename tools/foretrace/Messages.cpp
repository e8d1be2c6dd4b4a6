// SPDX-License-Identifier: Apache-2.0
#include "tools/foretrace/Messages.h"
#include "lang/diagnostics/Lang.h"
#include "tools/driver/TextFiles.h"
#include "tools/driver/WarningParser.h"
#include "tools/driver/Watch.h"
#include "tools/foretrace/JobOptions.h"
#include <cstdlib>

using namespace llvm;

namespace foretrace {

enum class ColorMode { Auto, Always, Never };

static cl::opt<DiagnosticFormat> MessageFormat(
    "diagnostics", cl::desc("Format of diagnostics:"),
    cl::value_desc("text|json|sarif"),
    cl::values(clEnumValN(DiagnosticFormat::Text, "text",
                          "with source lines (default)"),
               clEnumValN(DiagnosticFormat::JSON, "json",
                          "one object per line"),
               clEnumValN(DiagnosticFormat::Sarif, "sarif", "SARIF 2.1.0")),
    cl::init(DiagnosticFormat::Text), messageOption(diagnosingCommands()),
    cl::sub(validateCommand()), cl::sub(summaryCommand()),
    cl::sub(mergeCommand()), cl::sub(inferCommand()));

static cl::opt<ColorMode> Color(
    "color", cl::desc("When to colour diagnostics:"),
    cl::value_desc("auto|always|never"),
    cl::values(clEnumValN(ColorMode::Auto, "auto", "on a terminal (default)"),
               clEnumValN(ColorMode::Always, "always",
                          "also in files and pipes"),
               clEnumValN(ColorMode::Never, "never", "plain text")),
    cl::init(ColorMode::Auto), messageOption(diagnosingCommands()));

static cl::opt<bool>
    Quiet("quiet",
          cl::desc("Print diagnostics only: no progress, no list of files"),
          messageOption(diagnosingCommands()));

static cl::alias QuietShort("q", cl::desc("The same as --quiet"),
                            cl::aliasopt(Quiet));

static cl::opt<bool>
    Verbose("verbose",
            cl::desc("Also print the files that were read, such as imports "
                     "and foretrace.toml"),
            messageOption(diagnosingCommands()));
static cl::alias VerboseShort("v", cl::desc("The same as --verbose"),
                              cl::aliasopt(Verbose));

static cl::opt<unsigned>
    ErrorLimit("error-limit", cl::value_desc("n"), cl::init(100),
               cl::desc("Maximum number of errors and of warnings to show "
                        "(default: 100; 0: all)"),
               messageOption(diagnosingCommands()));

static cl::list<WarningOption, bool, driver::WarningParser>
    WarningOptions("W", cl::Prefix,
                   cl::desc("-Werror: treat warnings as errors; -Werror=SLUG: "
                            "treat this one as an error; -Wno-SLUG: hide it"),
                   messageOption(diagnosingCommands()));

static cl::opt<bool>
    Watch("watch",
          cl::desc("Run again whenever the job or a file that it imports "
                   "changes"),
          messageOption(planCommand()), cl::sub(memoryCommand()),
          cl::sub(reportCommand()), cl::sub(timeCommand()));

/// Files of the last run.
static std::vector<std::string> FilesRead;

DiagnosticEngine makeEngine() {
  DiagnosticEngine Diags;
  Diags.setLimit(ErrorLimit);
  for (const WarningOption &W : WarningOptions)
    W.applyTo(Diags);
  return Diags;
}

bool isQuiet() { return Quiet || MessageFormat == DiagnosticFormat::Sarif; }

static bool useColors() {
  if (Color != ColorMode::Auto)
    return Color == ColorMode::Always;
  return errs().is_displayed() && errs().has_colors() &&
         !std::getenv("NO_COLOR");
}

DiagnosticClient &messages() {
  static const std::unique_ptr<DiagnosticClient> Client =
      makeClient(MessageFormat, errs(), {useColors()});
  return *Client;
}

void finishMessages() { messages().finish(); }

ExitCode showMessages(const DiagnosticEngine &Diags,
                      const SourceFiles &Sources) {
  FilesRead = driver::filesRead(Sources);
  if (Verbose && MessageFormat == DiagnosticFormat::Text)
    for (const std::string &Name : FilesRead)
      errs() << "foretrace: read `" << Name << "`\n";
  showAll(Diags, Sources, messages());
  return !Diags.hasErrors()          ? ExitSuccess
         : driver::areOfFiles(Diags) ? ExitEnvironment
                                     : ExitDiagnosed;
}

ExitCode runOrWatch(ExitCode (*Run)()) {
  if (!Watch)
    return Run();
  if (jobPath() == "-")
    return usageError("--watch: standard input can't be watched");
  ExitCode Code = ExitSuccess;
  driver::watch([&] {
    FilesRead.clear();
    Code = Run();
    if (Code != ExitUsage)
      FilesRead.push_back(jobPath().str());
    return FilesRead;
  });
  return Code;
}

void showPlain(Severity Level, const std::string &Text) {
  if (MessageFormat == DiagnosticFormat::Text)
    errs() << "foretrace: " << Text << '\n';
  else
    messages().show({diag::Failure, Level, {}, {Text}, {}, {}}, SourceFiles());
}

ExitCode failure(Error E) {
  bool IsOfSystem = false; // it has a code of the operating system
  E = handleErrors(std::move(E), [&](std::unique_ptr<ErrorInfoBase> Info) {
    IsOfSystem |= Info->convertToErrorCode() != inconvertibleErrorCode();
    return Error(std::move(Info));
  });
  return failure(std::move(E), IsOfSystem ? ExitEnvironment : ExitDiagnosed);
}

ExitCode failure(Error E, ExitCode Code) {
  showPlain(Severity::Error, toString(std::move(E)));
  return Code;
}

std::vector<std::string> warningWords() {
  std::vector<std::string> Words;
  for (const WarningOption &W : WarningOptions)
    Words.push_back("-W" + W.text());
  return Words;
}

} // namespace foretrace
