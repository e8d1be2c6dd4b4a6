// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/TraceFiles.h"
#include "tools/runs/LineReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <map>

using namespace llvm;

namespace foretrace::runs {

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
  return Paths;
}

Error forEachLine(StringRef Path, function_ref<bool(const TraceLine &)> Visit) {
  Expected<LineReader> Lines = LineReader::open(Path);
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

/// The rank that most of the first rows say.
static Expected<int64_t> rankOf(StringRef Path) {
  constexpr size_t MaxRows = 5;
  std::map<int64_t, size_t> Votes;
  size_t Rows = 0;
  Error E = forEachLine(Path, [&](const TraceLine &Line) {
    if (Line.Row.Rank < 0)
      return true;
    ++Votes[Line.Row.Rank];
    return ++Rows < MaxRows;
  });
  if (E)
    return Expected<int64_t>(std::move(E));
  if (Votes.empty())
    return createFileError(Path, createStringError("no row of a trace"));
  return max_element(Votes, [](const auto &A,
                               const auto &B) { return A.second < B.second; })
      ->first;
}

Expected<std::vector<TraceFile>>
findTraces(const std::vector<std::string> &Given, int64_t World) {
  Expected<std::vector<std::string>> Paths = listTraces(Given);
  if (!Paths)
    return Paths.takeError();
  std::vector<TraceFile> Found;
  for (const std::string &Path : *Paths) {
    Expected<int64_t> Rank = rankOf(Path);
    if (!Rank)
      return Rank.takeError();
    if (*Rank >= World)
      return createFileError(
          Path, createStringError("a trace of rank " + Twine(*Rank) +
                                  "; the job has " + Twine(World)));
    Found.push_back({Path, *Rank});
  }
  sort(Found, [](const TraceFile &A, const TraceFile &B) {
    return std::tie(A.Rank, A.Path) < std::tie(B.Rank, B.Path);
  });
  return Found;
}

} // namespace foretrace::runs
