// SPDX-License-Identifier: Apache-2.0
#include "tools/foretrace/Messages.h"
#include "lang/DidYouMean.h"
#include "lang/Render.h"
#include <cstdlib>

using namespace llvm;

namespace foretrace {

enum class MessageFormat { Text, JSON };
enum class ColorMode { Auto, Always, Never };

static cl::opt<MessageFormat> Format(
    "diagnostics", cl::desc("How to print diagnostics:"),
    cl::values(clEnumValN(MessageFormat::Text, "text",
                          "with the lines they speak of (default)"),
               clEnumValN(MessageFormat::JSON, "json", "one object a line")),
    cl::init(MessageFormat::Text), cl::cat(messageCategory()),
    cl::sub(compileCommand()), cl::sub(planCommand()), cl::sub(checkCommand()),
    cl::sub(calibrateCommand()), cl::sub(groupsCommand()),
    cl::sub(optCommand()));

static cl::opt<ColorMode> Color(
    "color", cl::desc("When to colour diagnostics:"),
    cl::values(clEnumValN(ColorMode::Auto, "auto", "on a terminal (default)"),
               clEnumValN(ColorMode::Always, "always", "always"),
               clEnumValN(ColorMode::Never, "never", "never")),
    cl::init(ColorMode::Auto), cl::cat(messageCategory()),
    cl::sub(compileCommand()), cl::sub(planCommand()), cl::sub(checkCommand()),
    cl::sub(calibrateCommand()), cl::sub(groupsCommand()),
    cl::sub(optCommand()));

static cl::opt<bool>
    Quiet("quiet",
          cl::desc("Print diagnostics only: no progress, no list of files"),
          cl::cat(messageCategory()), cl::sub(compileCommand()),
          cl::sub(planCommand()), cl::sub(checkCommand()),
          cl::sub(calibrateCommand()), cl::sub(groupsCommand()),
          cl::sub(optCommand()));

namespace {

/// What one `-W` asks for, of all warnings or of one.
struct WarningOption {
  bool IsError;
  std::optional<diag::Id> Id;
};

/// Reads `error`, `error=SLUG` and `no-SLUG`.
class WarningParser : public cl::basic_parser<WarningOption> {
public:
  explicit WarningParser(cl::Option &O) : basic_parser(O) {}
  StringRef getValueName() const override { return "what"; }
  bool parse(cl::Option &O, StringRef, StringRef Text, WarningOption &W);
};

} // namespace

/// True, and reported, if \p Slug is not that of a warning.
static bool findWarning(cl::Option &O, StringRef Slug,
                        std::optional<diag::Id> &Id) {
  Id = findDiagnostic(Slug);
  if (Id && getDiagnosticInfo(*Id).Level == Severity::Warning)
    return false;
  if (Id && getDiagnosticInfo(*Id).Level == Severity::Error)
    return O.error("`" + Slug + "` is an error, not a warning");
  std::vector<StringRef> Warnings;
  for (unsigned I = 0; I != diag::NumDiagnostics; ++I)
    if (getDiagnosticInfo(diag::Id(I)).Level == Severity::Warning)
      Warnings.push_back(getDiagnosticInfo(diag::Id(I)).Slug);
  StringRef Nearest = nearestWord(Slug, Warnings);
  return O.error("`" + Slug + "` is not a warning" +
                 (Nearest.empty() ? "; see `foretrace list diagnostics`"
                                  : "; did you mean `" + Nearest + "`?"));
}

bool WarningParser::parse(cl::Option &O, StringRef, StringRef Text,
                          WarningOption &W) {
  W.IsError = Text.consume_front("error");
  if (W.IsError && Text.empty())
    return false;
  if (Text.consume_front(W.IsError ? "=" : "no-"))
    return findWarning(O, Text, W.Id);
  return O.error("it is `-Werror`, `-Werror=SLUG` or `-Wno-SLUG`");
}

static cl::list<WarningOption, bool, WarningParser> WarningOptions(
    "W", cl::Prefix,
    cl::desc("-Werror: warnings are errors; -Werror=SLUG: this one is; "
             "-Wno-SLUG: it is not shown"),
    cl::cat(messageCategory()), cl::sub(compileCommand()),
    cl::sub(planCommand()), cl::sub(checkCommand()),
    cl::sub(calibrateCommand()), cl::sub(groupsCommand()),
    cl::sub(optCommand()));

DiagnosticEngine makeEngine() {
  DiagnosticEngine Diags;
  for (const WarningOption &W : WarningOptions) {
    if (!W.Id)
      Diags.refuseWarnings();
    else if (W.IsError)
      Diags.refuse(*W.Id);
    else
      Diags.ignore(*W.Id);
  }
  return Diags;
}

bool isQuiet() { return Quiet; }

static bool useColors() {
  if (Color != ColorMode::Auto)
    return Color == ColorMode::Always;
  return errs().is_displayed() && errs().has_colors() &&
         !std::getenv("NO_COLOR");
}

ExitCode showMessages(const DiagnosticEngine &Diags, const SourceMgr &Sources) {
  if (Format == MessageFormat::JSON)
    renderJSON(Diags, Sources, errs());
  else
    renderText(Diags, Sources, errs(), useColors());
  return Diags.hasErrors() ? ExitDiagnosed : ExitSuccess;
}

ExitCode failure(Error E) {
  errs() << "foretrace: " << toString(std::move(E)) << '\n';
  return ExitDiagnosed;
}

} // namespace foretrace
