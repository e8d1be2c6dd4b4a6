// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/LineReader.h"
#include "lang/ReadFile.h"

using namespace llvm;

namespace foretrace::runs {

/// Longer lines are no trace.
static constexpr size_t MaxLine = size_t(64) << 20;

Expected<LineReader> LineReader::open(StringRef Path, size_t MaxBytes) {
  if (const std::error_code EC = checkRegular(Path))
    return createFileError(Path, EC);
  Expected<sys::fs::file_t> File = sys::fs::openNativeFileForRead(Path);
  if (!File)
    return createFileError(Path, File.takeError());
  return LineReader(*File, MaxBytes);
}

LineReader::~LineReader() {
  if (File != sys::fs::kInvalidFile)
    (void)sys::fs::closeFile(File);
}

/// Reads on; false at the end of the file.
Expected<bool> LineReader::fill() {
  constexpr size_t Block = size_t(1) << 20;
  Buffer.erase(0, At);
  At = 0;
  const size_t Had = Buffer.size();
  if (Had > MaxLine)
    return createStringError("line " + Twine(Line + 1) + " is longer than " +
                             Twine(MaxLine >> 20) + " MiB");
  if (Left == 0)
    return createStringError("line " + Twine(Line + 1) +
                             " ends behind what was to be read");
  const size_t Most = std::min(Block, Left);
  Buffer.resize(Had + Most);
  Expected<size_t> Read = sys::fs::readNativeFile(
      File, MutableArrayRef<char>(Buffer.data() + Had, Most));
  Buffer.resize(Had + (Read ? *Read : 0));
  if (!Read)
    return Read.takeError();
  Left -= *Read;
  AtEnd = *Read == 0;
  return !AtEnd;
}

Expected<std::optional<StringRef>> LineReader::next() {
  for (size_t Searched = 0;;) {
    StringRef Rest = StringRef(Buffer).drop_front(At);
    size_t End = Rest.find('\n', Searched);
    if (End != StringRef::npos) {
      ++Line;
      At += End + 1;
      return Rest.take_front(End);
    }
    Searched = Rest.size();
    if (!AtEnd) {
      Expected<bool> More = fill();
      if (!More)
        return More.takeError();
      continue;
    }
    if (Rest.empty())
      return std::nullopt;
    ++Line;
    IsCutOff = true;
    At = Buffer.size();
    return Rest;
  }
}

} // namespace foretrace::runs
