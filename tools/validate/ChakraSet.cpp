// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/ChakraSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace::validate {

/// More ranks than any set has files.
static constexpr uint32_t RankLimit = 1 << 22;

/// `<prefix>.<rank>.et`; nothing if \p Path is called otherwise.
static std::optional<std::pair<StringRef, uint32_t>> splitName(StringRef Path) {
  uint32_t Rank = 0;
  if (!Path.consume_back(".et"))
    return std::nullopt;
  const auto [Prefix, Digits] = Path.rsplit('.');
  // ASTRA-sim does not look for `t.01.et`.
  if (Digits.empty() || !all_of(Digits, isDigit) ||
      Digits.getAsInteger(10, Rank) || Rank >= RankLimit ||
      (Digits.size() > 1 && Digits.starts_with("0")))
    return std::nullopt;
  return std::make_pair(Prefix, Rank);
}

static Expected<std::vector<std::string>> listFiles(StringRef Folder) {
  std::vector<std::string> Paths;
  std::error_code EC;
  for (sys::fs::directory_iterator I(Folder, EC), End; I != End && !EC;
       I.increment(EC))
    Paths.push_back(I->path());
  if (EC)
    return createFileError(Folder, EC);
  sort(Paths);
  return Paths;
}

/// The file of groups of the set \p Prefix among \p Paths: one of its name, or
/// the first that looks like one.
static std::string findGroupFile(StringRef Prefix,
                                 ArrayRef<std::string> Paths) {
  // What STAGE writes, and what we do.
  for (StringRef Ending : {".json", ".groups.json"})
    for (const std::string &Path : Paths)
      if (Path == (Prefix + Ending).str())
        return Path;
  std::string Found;
  for (const std::string &Path : Paths) {
    if (sys::path::extension(Path) != ".json")
      continue;
    auto Buffer = MemoryBuffer::getFile(Path);
    if (Buffer && Found.empty() &&
        ChakraGroups::looksLike((*Buffer)->getBuffer()))
      Found = Path;
  }
  return Found;
}

Expected<std::vector<ChakraSet>> findChakraSets(StringRef Path) {
  const bool IsFolder = sys::fs::is_directory(Path);
  const auto Given = splitName(Path);
  if (!IsFolder && !Given)
    return std::vector<ChakraSet>();
  const StringRef Folder = IsFolder ? Path : sys::path::parent_path(Path);
  Expected<std::vector<std::string>> Paths =
      listFiles(Folder.empty() ? "." : Folder);
  if (!Paths)
    return Paths.takeError();
  // What is listed in `.` has it in its path.
  if (Folder.empty())
    for (std::string &P : *Paths)
      P = sys::path::filename(P).str();
  std::map<StringRef, std::vector<uint32_t>> ByPrefix;
  for (const std::string &P : *Paths)
    if (const auto Name = splitName(P))
      if (IsFolder || Name->first == Given->first)
        ByPrefix[Name->first].push_back(Name->second);
  std::vector<ChakraSet> Sets;
  for (auto &[Prefix, Ranks] : ByPrefix) {
    sort(Ranks);
    Sets.push_back({Prefix.str(), Ranks, findGroupFile(Prefix, *Paths)});
  }
  return Sets;
}

void checkFiles(const ChakraSet &Set, Findings &Out) {
  uint32_t Expected = 0;
  for (uint32_t Rank : Set.Ranks) {
    if (Rank != Expected)
      Out.report({Set.pathOf(Expected), 0, {}}, diag::ChakraMissingRank,
                 sys::path::filename(Set.pathOf(Expected)), Set.Ranks.back());
    Expected = Rank + 1;
  }
}

Expected<ChakraGroups> readGroups(const ChakraSet &Set, Findings &Out) {
  // With a gap, members beyond the files are members all the same.
  ChakraGroups Groups(Set.Ranks.back() + 1);
  if (Set.GroupPath.empty())
    return Groups;
  auto Buffer = MemoryBuffer::getFile(Set.GroupPath);
  if (!Buffer)
    return createFileError(Set.GroupPath, Buffer.getError());
  Groups.read((*Buffer)->getBuffer(), Set.GroupPath, Out);
  return Groups;
}

} // namespace foretrace::validate
