// SPDX-License-Identifier: Apache-2.0
#include "tools/explain/DiagnosticPage.h"
#include "lang/DidYouMean.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace foretrace::explain {

namespace {
struct PageFile {
  StringRef Path, Text;
};
} // namespace

static constexpr PageFile Pages[] = {
#include "tools/explain/Pages.inc"
};

/// Up to the next heading; lines of examples can begin like one.
static StringRef untilHeading(StringRef Text) {
  bool IsExample = false;
  for (StringRef Rest = Text; !Rest.empty(); Rest = Rest.split('\n').second) {
    if (Rest.starts_with("```"))
      IsExample = !IsExample;
    else if (!IsExample && (Rest.starts_with("# ") || Rest.starts_with("## ")))
      return Text.drop_back(Rest.size());
  }
  return Text;
}

static Error unknownSlug(StringRef Slug) {
  std::vector<StringRef> Known;
  for (diag::Id Id : allDiagnostics())
    if (const DiagnosticInfo &Info = getDiagnosticInfo(Id);
        Info.Level != Severity::Note)
      Known.push_back(Info.Slug);
  const StringRef Near = nearestWord(Slug, Known);
  return createStringError(
      "explain: `" + Slug + "` is not a diagnostic; " +
      (Near.empty() ? "of a job, say what is to be explained, for example "
                      "`--memory`"
                    : "did you mean `" + Near.str() + "`?"));
}

Error printDiagnostic(StringRef Slug, raw_ostream &OS) {
  const StringRef Page = Pages[0].Text;
  const std::string Heading = ("\n## " + Twine(Slug) + "\n").str();
  const size_t At = Page.find(Heading);
  if (At == StringRef::npos)
    return unknownSlug(Slug);
  OS << untilHeading(Page.substr(At + Heading.size())).trim() << '\n';
  return Error::success();
}

} // namespace foretrace::explain
