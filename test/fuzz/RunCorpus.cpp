// SPDX-License-Identifier: Apache-2.0
//
// Gives every file of the folders on the command line to a fuzz target once,
// for compilers without libFuzzer. Prints how many there were.
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size);

int main(int ArgCount, char **Args) {
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
      LLVMFuzzerTestOneInput(Text.bytes_begin(), Text.size());
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
