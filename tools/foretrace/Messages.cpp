// SPDX-License-Identifier: Apache-2.0
#include "tools/foretrace/Messages.h"
#include "lang/Render.h"
#include "tools/driver/WarningParser.h"
#include <cstdlib>

using namespace llvm;

namespace foretrace {

enum class MessageFormat { Text, JSON };
enum class ColorMode { Auto, Always, Never };

static cl::opt<MessageFormat> MessageFormatOption(
    "diagnostics", cl::desc("How to print diagnostics:"),
    cl::value_desc("text|json"),
    cl::values(clEnumValN(MessageFormat::Text, "text",
                          "with the lines they speak of (default)"),
               clEnumValN(MessageFormat::JSON, "json", "one object a line")),
    cl::init(MessageFormat::Text), cl::cat(messageCategory()),
    cl::sub(diagnosingCommands()));

static cl::opt<ColorMode> Color(
    "color", cl::desc("When to colour diagnostics:"),
    cl::value_desc("auto|always|never"),
    cl::values(clEnumValN(ColorMode::Auto, "auto", "on a terminal (default)"),
               clEnumValN(ColorMode::Always, "always", "always"),
               clEnumValN(ColorMode::Never, "never", "never")),
    cl::init(ColorMode::Auto), cl::cat(messageCategory()),
    cl::sub(diagnosingCommands()));

static cl::opt<bool>
    Quiet("quiet",
          cl::desc("Print diagnostics only: no progress, no list of files"),
          cl::cat(messageCategory()), cl::sub(diagnosingCommands()));

static cl::opt<unsigned>
    ErrorLimit("error-limit", cl::value_desc("n"), cl::init(100),
               cl::desc("Show so many errors, and so many warnings, at most "
                        "(default 100; 0: all)"),
               cl::cat(messageCategory()), cl::sub(diagnosingCommands()));

static cl::list<WarningOption, bool, driver::WarningParser> WarningOptions(
    "W", cl::Prefix,
    cl::desc("-Werror: warnings are errors; -Werror=SLUG: this one is; "
             "-Wno-SLUG: it is not shown"),
    cl::cat(messageCategory()), cl::sub(diagnosingCommands()));

DiagnosticEngine makeEngine() {
  DiagnosticEngine Diags;
  Diags.setLimit(ErrorLimit);
  for (const WarningOption &W : WarningOptions)
    W.applyTo(Diags);
  return Diags;
}

bool isQuiet() { return Quiet; }

static bool useColors() {
  if (Color != ColorMode::Auto)
    return Color == ColorMode::Always;
  return errs().is_displayed() && errs().has_colors() &&
         !std::getenv("NO_COLOR");
}

ExitCode showMessages(const DiagnosticEngine &Diags,
                      const SourceFiles &Sources) {
  if (MessageFormatOption == MessageFormat::JSON)
    renderJSON(Diags, Sources, errs());
  else
    renderText(Diags, Sources, errs(), useColors());
  return Diags.hasErrors() ? ExitDiagnosed : ExitSuccess;
}

ExitCode failure(Error E, ExitCode Code) {
  errs() << "foretrace: " << toString(std::move(E)) << '\n';
  return Code;
}

std::vector<std::string> warningWords() {
  std::vector<std::string> Words;
  for (const WarningOption &W : WarningOptions)
    Words.push_back("-W" + W.text());
  return Words;
}

} // namespace foretrace
