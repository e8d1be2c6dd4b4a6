// SPDX-License-Identifier: Apache-2.0
#include "tools/explain/DiagnosticPage.h"
#include "lang/Diagnostic.h"
#include "lang/DiagnosticDocs.h"
#include "lang/DidYouMean.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace foretrace::explain {

static Error unknownSlug(StringRef Slug) {
  std::vector<StringRef> Known;
  for (diag::Id Id : allDiagnostics())
    if (const DiagnosticInfo &Info = getDiagnosticInfo(Id);
        Info.Level < Severity::Note)
      Known.push_back(Info.Slug);
  return createStringError(
      "explain: `" + Slug + "` is not a diagnostic" +
      didYouMean(Slug, Known,
                 "; for a job, say what to explain, for example `--memory`"));
}

Error printDiagnostic(StringRef Slug, raw_ostream &OS) {
  const StringRef Section = findSection(Slug);
  if (Section.empty())
    return unknownSlug(Slug);
  OS << Section << '\n';
  return Error::success();
}

} // namespace foretrace::explain
