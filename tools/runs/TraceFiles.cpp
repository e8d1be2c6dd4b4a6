// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/TraceFiles.h"
#include "lang/ReadFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <map>
#include <optional>
#include <set>
#include <utility>

using namespace llvm;

namespace foretrace::runs {

namespace {

/// An open file that is read line by line, in the memory of its longest line.
class LineReader {
public:
  /// An error if it is no regular file: a trace is looked at more than once.
  /// More than \p MaxBytes of it are not read; that is an error of the line in
  /// which they end.
  static Expected<LineReader> open(StringRef Path, size_t MaxBytes = SIZE_MAX);
  LineReader(LineReader &&Other)
      : File(std::exchange(Other.File, sys::fs::kInvalidFile)),
        Left(Other.Left), Buffer(std::move(Other.Buffer)) {}
  ~LineReader();

  /// The next line without its end, valid until the next call; nothing at the
  /// end of the file.
  Expected<std::optional<StringRef>> next();
  /// The number of the line last read, from 1.
  int64_t line() const { return Line; }
  /// Returns whether the last line has no end: the file was cut off.
  bool isCutOff() const { return IsCutOff; }

private:
  LineReader(sys::fs::file_t File, size_t MaxBytes)
      : File(File), Left(MaxBytes) {}
  Expected<bool> fill();

  sys::fs::file_t File;
  size_t Left; ///< bytes that may still be read
  std::string Buffer;
  size_t At = 0; ///< of Buffer: the next line begins
  int64_t Line = 0;
  bool AtEnd = false;
  bool IsCutOff = false;
};

} // namespace

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

Expected<std::vector<std::string>>
listTraces(const std::vector<std::string> &Given) {
  std::vector<std::string> Paths;
  for (const std::string &Path : Given) {
    if (!sys::fs::is_directory(Path)) {
      Paths.push_back(Path);
      continue;
    }
    const size_t Before = Paths.size();
    std::error_code EC;
    for (sys::fs::directory_iterator I(Path, EC), End; I != End && !EC;
         I.increment(EC))
      if (sys::path::extension(I->path()) == ".txt")
        Paths.push_back(I->path());
    if (EC)
      return createFileError(Path, EC);
    if (Paths.size() == Before)
      return createFileError(Path, createStringError("no *.txt in the folder"));
  }
  sort(Paths);
  // A path without a status is reported when it is opened.
  std::set<sys::fs::UniqueID> Seen;
  erase_if(Paths, [&](const std::string &Path) {
    sys::fs::UniqueID Id;
    return !sys::fs::getUniqueID(Path, Id) && !Seen.insert(Id).second;
  });
  return Paths;
}

Error forEachLine(StringRef Path, function_ref<bool(const TraceLine &)> Visit,
                  size_t MaxBytes) {
  Expected<LineReader> Lines = LineReader::open(Path, MaxBytes);
  if (!Lines)
    return Lines.takeError();
  SeenRow Row;
  for (;;) {
    Expected<std::optional<StringRef>> Text = Lines->next();
    if (!Text)
      return createFileError(Path, Text.takeError());
    if (!*Text)
      return Error::success();
    if ((*Text)->trim().empty())
      continue;
    TraceLine Line{Lines->line(), Row, ""};
    if (Error E = parseRow(**Text, Row)) {
      Line.Malformed = toString(std::move(E));
      if (Lines->isCutOff())
        Line.Malformed += "; the file was cut off";
    }
    if (!Visit(Line))
      return Error::success();
  }
}

static std::string withoutPath(Error E) {
  std::string Text;
  handleAllErrors(
      std::move(E),
      [&](const FileError &F) { Text = F.messageWithoutFileInfo(); },
      [&](const ErrorInfoBase &Other) { Text = Other.message(); });
  return Text;
}

/// Gives \p Of the rank that most of its first rows have; or returns why it is
/// no trace of a rank below \p World.
static std::optional<NoTrace> findRank(TraceFile &Of, int64_t World) {
  constexpr size_t MaxRows = 5;
  struct Vote {
    size_t Rows = 0;
    int64_t FirstLine = 0;
  };
  std::map<int64_t, Vote> Votes;
  size_t Rows = 0;
  int64_t FirstLine = 0;
  Error E = forEachLine(Of.Path, [&](const TraceLine &Line) {
    if (FirstLine == 0)
      FirstLine = Line.Number;
    if (Line.Row.Rank < 0)
      return true;
    Vote &V = Votes[Line.Row.Rank];
    if (V.Rows++ == 0)
      V.FirstLine = Line.Number;
    return ++Rows < MaxRows;
  });
  if (E)
    return NoTrace{Of.Path, 0, withoutPath(std::move(E))};
  if (Votes.empty())
    return NoTrace{Of.Path, FirstLine, "no row of a trace"};
  const auto Most = max_element(Votes, [](const auto &A, const auto &B) {
    return A.second.Rows < B.second.Rows;
  });
  Of.Rank = Most->first;
  if (Of.Rank < World)
    return std::nullopt;
  return NoTrace{
      Of.Path, Most->second.FirstLine,
      ("a trace of rank " + Twine(Of.Rank) + "; the job has " + Twine(World))
          .str()};
}

Expected<FoundTraces> findTraces(const std::vector<std::string> &Given,
                                 int64_t World) {
  Expected<std::vector<std::string>> Paths = listTraces(Given);
  if (!Paths)
    return Paths.takeError();
  FoundTraces Found;
  for (const std::string &Path : *Paths) {
    TraceFile Of{Path, -1};
    if (std::optional<NoTrace> Other = findRank(Of, World))
      Found.Others.push_back(std::move(*Other));
    else
      Found.Traces.push_back(std::move(Of));
  }
  if (Found.Traces.empty())
    return createFileError(Found.Others.front().Path,
                           createStringError(Found.Others.front().Why));
  sort(Found.Traces, [](const TraceFile &A, const TraceFile &B) {
    return std::tie(A.Rank, A.Path) < std::tie(B.Rank, B.Path);
  });
  return Found;
}

} // namespace foretrace::runs
