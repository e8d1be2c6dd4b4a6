// SPDX-License-Identifier: Apache-2.0
//
// `foretrace fmt`: files in the one style of the language.
#include "frontend/Format.h"
#include "lang/diagnostics/Lang.h"
#include "tools/driver/TextFiles.h"
#include "tools/foretrace/Emit.h"
#include "tools/foretrace/Messages.h"

using namespace llvm;

namespace foretrace {

static cl::list<std::string> Files(cl::Positional,
                                   cl::desc("<file.fore|folder|->..."),
                                   jobOption(fmtCommand()));
static cl::opt<bool>
    OnlyCheck("check",
              cl::desc("Write nothing; name the files that would change, and "
                       "exit with 4 if there are any"),
              outputOption(fmtCommand()));
static cl::opt<bool>
    ShowDiff("diff", cl::desc("Write nothing; print what would change"),
             outputOption(fmtCommand()));

/// Formats one file; counts it in \p NumChanged if it is not in the style.
static ExitCode format(const std::string &Path, unsigned &NumChanged) {
  SourceFiles Sources;
  DiagnosticEngine Diags = makeEngine();
  const ErrorOr<FileId> File = Sources.openOrStdin(Path);
  if (!File) {
    Diags.report({}, diag::FileUnreadable, Path, File.getError().message());
    return showMessages(Diags, Sources);
  }
  const SourceText Text = Sources.text(*File);
  const std::optional<std::string> Made = formatFore(Text, Diags);
  if (!Made)
    return showMessages(Diags, Sources);
  const bool IsSame = Text.str() == *Made;
  NumChanged += !IsSame;
  Error E = Error::success();
  if (ShowDiff && !IsSame)
    E = driver::printDiff(Path, Text.str(), *Made);
  else if (OnlyCheck && !IsSame)
    errs() << Path << '\n';
  else if (!ShowDiff && !OnlyCheck && (!IsSame || Path == "-"))
    E = writeFile(Path, outputOptions(), {},
                  [&](raw_ostream &OS) { OS << *Made; });
  return E ? failure(std::move(E)) : ExitSuccess;
}

ExitCode runFmt() {
  if (Files.empty())
    return usageError("fmt: files are missing, for example `foretrace fmt "
                      "job.fore`, or `-` for standard input");
  unsigned NumChanged = 0;
  ExitCode Worst = ExitSuccess;
  for (const std::string &Path : driver::listFiles(Files))
    Worst = std::max(Worst, format(Path, NumChanged));
  return Worst == ExitSuccess && OnlyCheck && NumChanged > 0 ? ExitDiffers
                                                             : Worst;
}

} // namespace foretrace
