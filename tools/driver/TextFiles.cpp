// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/TextFiles.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
namespace fs = llvm::sys::fs;

namespace foretrace::driver {

std::vector<std::string> listFiles(ArrayRef<std::string> Given) {
  std::vector<std::string> All;
  for (const std::string &Path : Given) {
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

Error printDiff(const std::string &Path, StringRef Before, StringRef After) {
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

bool areOfFiles(const DiagnosticEngine &Diags) {
  return all_of(Diags.diagnostics(), [](const Diagnostic &D) {
    return D.Level != Severity::Error || D.Id == diag::FileUnreadable ||
           D.Id == diag::CannotWrite;
  });
}

std::vector<std::string> filesRead(const SourceFiles &Sources) {
  SetVector<StringRef> Names;
  const SourceMgr &Read = Sources.forRenderer();
  for (unsigned I = 1; I <= Read.getNumBuffers(); ++I)
    if (const StringRef Name = Read.getMemoryBuffer(I)->getBufferIdentifier();
        !Name.starts_with("<"))
      Names.insert(Name);
  return {Names.begin(), Names.end()};
}

} // namespace foretrace::driver
