// SPDX-License-Identifier: Apache-2.0
#include "lang/SourceFiles.h"
#include "lang/ReadFile.h"
#include "llvm/Support/FormatVariadic.h"
#include <limits>

using namespace foretrace;
using llvm::ErrorOr;
using llvm::StringRef;

static unsigned bufferOf(FileId File) {
  assert(File != FileId::None && "a file has a number");
  return static_cast<unsigned>(File);
}

ErrorOr<FileId>
SourceFiles::take(const ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> &Read,
                  StringRef Name) {
  if (!Read)
    return Read.getError();
  static_assert(MaxTextSize <= std::numeric_limits<uint32_t>::max(),
                "positions count bytes in 32 bits");
  return add((*Read)->getBuffer(), Name);
}

ErrorOr<FileId> SourceFiles::open(StringRef Path) {
  return take(readFile(*System, Path), Path);
}

ErrorOr<FileId> SourceFiles::openOrStdin(StringRef Path) {
  return Path == "-" ? take(readStdin(), "<stdin>") : open(Path);
}

// A copy: a file can be written again while it is mapped.
FileId SourceFiles::add(StringRef Text, StringRef Name) {
  FileId &Known = Newest[Name];
  if (Known == FileId::None || text(Known).str() != Text)
    Known = FileId(Buffers.AddNewSourceBuffer(
        llvm::MemoryBuffer::getMemBufferCopy(Text, Name), {}));
  return Known;
}

StringRef SourceFiles::name(FileId File) const {
  return Buffers.getMemoryBuffer(bufferOf(File))->getBufferIdentifier();
}

SourceText SourceFiles::text(FileId File) const {
  return {File, Buffers.getMemoryBuffer(bufferOf(File))->getBuffer()};
}

StringRef SourceFiles::slice(SourceRange Range) const {
  return Range.isValid() ? text(Range.File).slice(Range) : StringRef();
}

SourceFiles::LineColumn SourceFiles::locate(SourceLocation At) const {
  const char *Byte = text(At.File).str().data() + At.Offset;
  auto [Line, Column] = Buffers.getLineAndColumn(
      llvm::SMLoc::getFromPointer(Byte), bufferOf(At.File));
  return {Line, Column};
}

SourceLocation SourceFiles::find(FileId File, unsigned Line, unsigned Column) {
  const llvm::SMLoc At =
      Buffers.FindLocForLineAndColumn(bufferOf(File), Line, Column);
  if (!At.isValid())
    return {};
  return {File,
          static_cast<uint32_t>(At.getPointer() - text(File).str().data())};
}

StringRef SourceFiles::line(SourceLocation At) const {
  const StringRef Text = text(At.File).str();
  const size_t Begin = Text.take_front(At.Offset).rfind('\n') + 1;
  return Text.slice(Begin, std::min(Text.find('\n', At.Offset), Text.size()));
}

std::string foretrace::lineOf(const SourceFiles &Sources, SourceRange Range) {
  if (!Range.isValid())
    return "";
  return llvm::formatv("{0}:{1}", Sources.name(Range.File),
                       Sources.locate(Range.start()).Line);
}

std::string foretrace::placeOf(const SourceFiles &Sources, SourceRange Range) {
  if (!Range.isValid())
    return "";
  const auto [Line, Column] = Sources.locate(Range.start());
  return llvm::formatv("{0}:{1}:{2}", Sources.name(Range.File), Line, Column);
}

std::string foretrace::describePlace(const SourceFiles &Sources,
                                     SourceRange Range) {
  if (Sources.isCommandLine(Range.File))
    return Sources.line(Range.start()).str();
  return placeOf(Sources, Range);
}
