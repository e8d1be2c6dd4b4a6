// SPDX-License-Identifier: Apache-2.0
//
// `foretrace fmt`: files in the one style of the language.
#include "frontend/Format.h"
#include "lang/diagnostics/Lang.h"
#include "tools/foretrace/Emit.h"
#include "tools/foretrace/Messages.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace llvm;
namespace fs = llvm::sys::fs;

namespace foretrace {

static cl::list<std::string> Files(cl::Positional,
                                   cl::desc("<file.fore|folder|->..."),
                                   cl::cat(jobCategory()),
                                   cl::sub(fmtCommand()));
static cl::opt<bool>
    OnlyCheck("check",
              cl::desc("Write nothing; name the files that would change, and "
                       "exit with 4 if there are any"),
              cl::cat(outputCategory()), cl::sub(fmtCommand()));
static cl::opt<bool>
    ShowDiff("diff", cl::desc("Write nothing; print what would change"),
             cl::cat(outputCategory()), cl::sub(fmtCommand()));

/// The files that are given, and those in the folders that are.
static std::vector<std::string> listFiles() {
  std::vector<std::string> All;
  for (const std::string &Path : Files) {
    if (!fs::is_directory(Path)) {
      All.push_back(Path);
      continue;
    }
    const size_t First = All.size();
    std::error_code Code;
    for (fs::recursive_directory_iterator It(Path, Code), End;
         It != End && !Code; It.increment(Code))
      if (sys::path::extension(It->path()) == ".fore")
        All.push_back(It->path());
    llvm::sort(All.begin() + static_cast<std::ptrdiff_t>(First), All.end());
  }
  return All;
}

/// Prints the difference as `diff -u` does.
static Error printDiff(const std::string &Path, StringRef Before,
                       StringRef After) {
  const ErrorOr<std::string> Program = sys::findProgramByName("diff");
  if (!Program)
    return createStringError("--diff needs the program `diff`");
  SmallString<128> Names[2];
  for (const auto &[Name, Text] :
       {std::pair(&Names[0], Before), std::pair(&Names[1], After)}) {
    int File;
    if (std::error_code Code =
            fs::createTemporaryFile("foretrace-fmt", "fore", File, *Name))
      return errorCodeToError(Code);
    raw_fd_ostream(File, /*shouldClose=*/true) << Text;
  }
  const FileRemover First(Names[0]), Second(Names[1]);
  outs().flush();
  sys::ExecuteAndWait(*Program, {*Program, "-u", "--label", Path, "--label",
                                 Path, Names[0], Names[1]});
  return Error::success();
}

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
    E = printDiff(Path, Text.str(), *Made);
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
  for (const std::string &Path : listFiles())
    Worst = std::max(Worst, format(Path, NumChanged));
  return Worst == ExitSuccess && OnlyCheck && NumChanged > 0 ? ExitDiffers
                                                             : Worst;
}

} // namespace foretrace
