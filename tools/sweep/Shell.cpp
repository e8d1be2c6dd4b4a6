// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Shell.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace foretrace::sweep {

std::string quoted(StringRef Word) {
  constexpr StringLiteral Plain = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "_-./=:,+%";
  if (!Word.empty() && Word.find_first_not_of(Plain) == StringRef::npos)
    return Word.str();
  std::string Out = "'";
  for (const char C : Word)
    Out += C == '\'' ? "'\\''" : std::string(1, C);
  return Out + "'";
}

std::string quoted(ArrayRef<std::string> Command) {
  std::string Line;
  for (const std::string &Word : Command)
    Line += (Line.empty() ? "" : " ") + quoted(StringRef(Word));
  return Line;
}

std::string Outcome::reason() const {
  StringRef Said = StringRef(Errors).trim();
  if (Said.empty())
    Said = StringRef(Output).trim();
  const std::string End =
      Code < 0 ? WhyNone : "exit code " + std::to_string(Code);
  return Said.empty() ? End : (End + ": " + Said).str();
}

static Error makeTemporary(SmallVectorImpl<char> &Path) {
  const std::error_code Code =
      sys::fs::createTemporaryFile("foretrace", "txt", Path);
  return Code ? createStringError("there can be no temporary file: " +
                                  Code.message())
              : Error::success();
}

static std::string contentOf(StringRef Path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> Content = MemoryBuffer::getFile(Path);
  return Content ? (*Content)->getBuffer().str() : "";
}

Expected<Outcome> capture(ArrayRef<std::string> Command) {
  const ErrorOr<std::string> Program = sys::findProgramByName(Command.front());
  if (!Program)
    return createStringError("there is no `" + Command.front() + "` on PATH");
  SmallString<128> Output, Errors;
  if (Error E = makeTemporary(Output))
    return E;
  const FileRemover RemoveOutput{Twine(Output)};
  if (Error E = makeTemporary(Errors))
    return E;
  const FileRemover RemoveErrors{Twine(Errors)};
  const SmallVector<StringRef, 16> Words(Command.begin(), Command.end());
  const std::optional<StringRef> Redirects[] = {"", Output, Errors};
  Outcome Of;
  Of.Code =
      sys::ExecuteAndWait(*Program, Words, std::nullopt, Redirects,
                          /*SecondsToWait=*/0, /*MemoryLimit=*/0, &Of.WhyNone);
  Of.Output = contentOf(Output);
  Of.Errors = contentOf(Errors);
  return Of;
}

} // namespace foretrace::sweep
