// SPDX-License-Identifier: Apache-2.0
//
// All programs of the tests, of which the name of the link that was run chooses
// one. A fuzz target gets each file of the folders on the command line once, as
// for compilers without libFuzzer, and the number of files is printed.
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#define PROGRAM(Name, Function) int Function(int ArgCount, char **Args);
#define FUZZ_TARGET(Name, Target)                                              \
  extern "C" int Target(const uint8_t *Data, size_t Size);
#include "test/Programs.inc"
#undef FUZZ_TARGET
#undef PROGRAM

static int runCorpus(int (*Target)(const uint8_t *, size_t), int ArgCount,
                     char **Args) {
  unsigned NumFiles = 0;
  for (int I = 1; I != ArgCount; ++I) {
    std::error_code Failure;
    for (llvm::sys::fs::directory_iterator File(Args[I], Failure), End;
         File != End && !Failure; File.increment(Failure)) {
      auto Buffer = llvm::MemoryBuffer::getFile(
          File->path(), /*IsText=*/false, /*RequiresNullTerminator=*/false);
      if (!Buffer) {
        Failure = Buffer.getError();
        break;
      }
      llvm::StringRef Text = (*Buffer)->getBuffer();
      Target(Text.bytes_begin(), Text.size());
      ++NumFiles;
    }
    if (Failure) {
      llvm::errs() << Args[I] << ": " << Failure.message() << '\n';
      return 1;
    }
  }
  llvm::outs() << NumFiles << " files\n";
  return NumFiles == 0;
}

int main(int ArgCount, char **Args) {
  const llvm::StringRef Name = llvm::sys::path::filename(Args[0]);
#define PROGRAM(Program, Function)                                             \
  if (Name == Program)                                                         \
    return Function(ArgCount, Args);
#define FUZZ_TARGET(Program, Target)                                           \
  if (Name == Program)                                                         \
    return runCorpus(Target, ArgCount, Args);
#include "test/Programs.inc"
  llvm::errs() << Name << " is none of the programs of the tests\n";
  return 2;
}
