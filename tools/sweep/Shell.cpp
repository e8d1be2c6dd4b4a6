// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Shell.h"
#include "backends/CommandLine.h"
#include "tools/output/Leftover.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include <csignal>
#include <sys/wait.h>

using namespace llvm;

namespace foretrace::sweep {

std::string quoted(StringRef Word) {
  constexpr StringLiteral Plain = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "_-./=:,+%";
  if (!Word.empty() && Word.find_first_not_of(Plain) == StringRef::npos)
    return Word.str();
  return shellQuoted(Word);
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

namespace {

/// An empty file, for the output of a program.
class Temporary {
public:
  Error make() {
    SmallString<128> Path;
    if (std::error_code Code =
            sys::fs::createTemporaryFile("foretrace", "txt", Path))
      return createStringError("there can be no temporary file: " +
                               Code.message());
    File.emplace(Path);
    return Error::success();
  }
  StringRef path() const { return File->path(); }
  std::string content() const {
    ErrorOr<std::unique_ptr<MemoryBuffer>> Read =
        MemoryBuffer::getFile(File->path());
    return Read ? (*Read)->getBuffer().str() : "";
  }

private:
  std::optional<LeftoverFile> File;
};

/// A process that does not outlive us, until it was waited for.
class Child final : public Leftover {
public:
  explicit Child(sys::procid_t Id) : Id(Id) {
    SignalHold Hold;
    expect();
  }
  ~Child() { // its number is still taken, so no other process gets the signal
    siginfo_t Ended;
    while (::waitid(P_PID, static_cast<id_t>(Id), &Ended, WEXITED | WNOWAIT) <
               0 &&
           errno == EINTR) {
    }
    SignalHold Hold;
    forget();
  }

private:
  void remove() noexcept override { (void)::kill(Id, SIGTERM); }

  const sys::procid_t Id;
};

} // namespace

Expected<Outcome> capture(ArrayRef<std::string> Command) {
  const ErrorOr<std::string> Program = sys::findProgramByName(Command.front());
  if (!Program)
    return createStringError("there is no `" + Command.front() + "` on PATH");
  Temporary Output, Errors;
  if (Error E = Output.make())
    return E;
  if (Error E = Errors.make())
    return E;
  const SmallVector<StringRef, 16> Words(Command.begin(), Command.end());
  const std::optional<StringRef> Redirects[] = {"", Output.path(),
                                                Errors.path()};
  Outcome Of;
  bool HasFailed = false;
  const sys::ProcessInfo Process =
      sys::ExecuteNoWait(*Program, Words, std::nullopt, Redirects,
                         /*MemoryLimit=*/0, &Of.WhyNone, &HasFailed);
  if (HasFailed) {
    Of.Code = -1;
    return Of;
  }
  { const Child Running(Process.Pid); }
  Of.Code = sys::Wait(Process, /*SecondsToWait=*/std::nullopt, &Of.WhyNone)
                .ReturnCode;
  Of.Output = Output.content();
  Of.Errors = Errors.content();
  return Of;
}

} // namespace foretrace::sweep
