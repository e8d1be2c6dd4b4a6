// SPDX-License-Identifier: Apache-2.0
#include "lang/WarningOption.h"
#include "lang/DidYouMean.h"

using namespace foretrace;
using llvm::createStringError;
using llvm::StringRef;

void WarningOption::applyTo(DiagnosticEngine &Diags) const {
  if (!Id)
    Diags.refuseWarnings();
  else if (IsError)
    Diags.refuse(*Id);
  else
    Diags.ignore(*Id);
}

std::string WarningOption::text() const {
  if (!Id)
    return "error";
  return (IsError ? "error=" : "no-") + getDiagnosticInfo(*Id).Slug.str();
}

/// The warning called \p Slug.
static llvm::Expected<diag::Id> findWarning(StringRef Slug) {
  const std::optional<diag::Id> Id = findDiagnostic(Slug);
  if (Id && getDiagnosticInfo(*Id).Level == Severity::Warning)
    return *Id;
  if (Id && getDiagnosticInfo(*Id).Level == Severity::Error)
    return createStringError("`" + Slug + "` is an error, not a warning");
  std::vector<StringRef> Warnings;
  for (diag::Id Other : allDiagnostics())
    if (getDiagnosticInfo(Other).Level == Severity::Warning)
      Warnings.push_back(getDiagnosticInfo(Other).Slug);
  return createStringError(
      "`" + Slug + "` is not a warning" +
      didYouMean(Slug, Warnings, "; see `foretrace list diagnostics`"));
}

llvm::Expected<WarningOption> foretrace::parseWarningOption(StringRef Text) {
  const bool IsError = Text.consume_front("error");
  if (IsError && Text.empty())
    return WarningOption{true, std::nullopt};
  if (!Text.consume_front(IsError ? "=" : "no-"))
    return createStringError("it is `-Werror`, `-Werror=SLUG` or `-Wno-SLUG`");
  llvm::Expected<diag::Id> Id = findWarning(Text);
  if (!Id)
    return Id.takeError();
  return WarningOption{IsError, *Id};
}
