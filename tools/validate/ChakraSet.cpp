// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/ChakraSet.h"
#include "lang/ParseJson.h"
#include "lang/ReadFile.h"
#include "lang/diagnostics/Validate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <map>
#include <set>

using namespace llvm;

namespace foretrace::validate {

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

/// Returns \p Path if it is one of \p Paths, which are sorted.
static std::string findFile(const Twine &Path, ArrayRef<std::string> Paths) {
  const std::string Wanted = Path.str();
  return binary_search(Paths, Wanted) ? Wanted : "";
}

/// The first of \p Paths that looks like a file of groups.
static std::string findAnyGroups(ArrayRef<std::string> Paths) {
  for (const std::string &Path : Paths) {
    if (sys::path::extension(Path) != ".json")
      continue;
    auto Buffer = readLargeFile(Path);
    if (Buffer && ChakraGroups::looksLike((*Buffer)->getBuffer()))
      return Path;
  }
  return "";
}

/// The file of groups of the set \p Prefix among \p Paths: one of its name, or
/// \p Other.
static std::string findGroupFile(StringRef Prefix, ArrayRef<std::string> Paths,
                                 StringRef Other) {
  // Endings that STAGE and we write.
  for (StringRef Ending : {".json", ".groups.json"})
    if (std::string Path = findFile(Prefix + Ending, Paths); !Path.empty())
      return Path;
  return Other.str();
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
  // Paths of files that are listed in `.` begin with it.
  if (Folder.empty())
    for (std::string &P : *Paths)
      P = sys::path::filename(P).str();
  std::map<StringRef, std::vector<uint32_t>> ByPrefix;
  for (const std::string &P : *Paths)
    if (const auto Name = splitName(P))
      if (IsFolder || Name->first == Given->first)
        ByPrefix[Name->first].push_back(Name->second);
  const std::string AnyGroups = findAnyGroups(*Paths);
  std::vector<ChakraSet> Sets;
  for (auto &[Prefix, Ranks] : ByPrefix) {
    sort(Ranks);
    Sets.push_back({Prefix.str(), Ranks,
                    findGroupFile(Prefix, *Paths, AnyGroups),
                    findFile(Prefix + ".classes.json", *Paths),
                    findFile(Prefix + ".system.json", *Paths)});
  }
  return Sets;
}

namespace {

/// Reads the file of classes that `emit chakra { ranks = classes }` writes: the
/// ranks that each trace represents.
class ClassReader {
public:
  ClassReader(StringRef Path, ArrayRef<uint32_t> Traces, Findings &Out)
      : Traces(Traces), Out(Out), At{Path.str(), 0, {}} {}

  /// Reports ranks that are not in exactly one class, and traces without one.
  /// Returns the number of ranks.
  uint32_t run(StringRef Text);

private:
  void takeClass(const json::Value &V);
  void checkRanks();
  template <typename... Ts> void report(const char *Format, Ts &&...Args) {
    Out.report(At, diag::ChakraClasses,
               formatv(Format, std::forward<Ts>(Args)...).str());
  }

  const ArrayRef<uint32_t> Traces;
  Findings &Out;
  const Place At;
  std::set<int64_t> Ranks, Used; ///< that are in a class; that have its trace
};

void ClassReader::takeClass(const json::Value &V) {
  const json::Object *O = V.getAsObject();
  const json::Array *List = O ? O->getArray("ranks") : nullptr;
  const std::optional<int64_t> Trace =
      O ? O->getInteger("trace") : std::nullopt;
  if (!List || !Trace)
    return report("a class without a rank `trace` and a list `ranks`");
  bool HasTrace = false;
  for (const json::Value &Member : *List) {
    const std::optional<int64_t> Rank = Member.getAsInteger();
    if (!Rank || *Rank < 0 || *Rank >= int64_t(RankLimit))
      report("`{0}` is not a rank", Member);
    else if (!Ranks.insert(*Rank).second)
      report("rank {0} stands twice", *Rank);
    HasTrace |= Rank == Trace;
  }
  if (!HasTrace)
    report("the trace of rank {0} does not stand for that rank", *Trace);
  if (!is_contained(Traces, *Trace))
    report("there is no trace of rank {0}", *Trace);
  Used.insert(*Trace);
}

void ClassReader::checkRanks() {
  int64_t Next = 0;
  for (int64_t Rank : Ranks) {
    if (Rank != Next) {
      report("rank {0} is in no class, but there are ranks up to {1}", Next,
             *Ranks.rbegin());
      return;
    }
    ++Next;
  }
  for (uint32_t Trace : Traces)
    if (!Used.count(Trace))
      report("the trace of rank {0} stands for no ranks", Trace);
}

uint32_t ClassReader::run(StringRef Text) {
  Expected<json::Value> V = parseJson(Text);
  const json::Array *Classes = V ? V->getAsArray() : nullptr;
  if (!V)
    report("{0}", toString(V.takeError()));
  else if (!Classes)
    report("the classes are not a list");
  if (!Classes)
    return Traces.back() + 1;
  for (const json::Value &Class : *Classes)
    takeClass(Class);
  checkRanks();
  // With a gap, members beyond it are members all the same.
  const auto Last = Ranks.empty() ? -1 : *Ranks.rbegin();
  return std::max(static_cast<uint32_t>(Last + 1), Traces.back() + 1);
}

} // namespace

Expected<uint32_t> countRanks(const ChakraSet &Set, Findings &Out) {
  if (!Set.ClassPath.empty()) {
    auto Buffer = readLargeFile(Set.ClassPath);
    if (!Buffer)
      return createFileError(Set.ClassPath, Buffer.getError());
    return ClassReader(Set.ClassPath, Set.Ranks, Out)
        .run((*Buffer)->getBuffer());
  }
  uint32_t Expected = 0;
  for (uint32_t Rank : Set.Ranks) {
    if (Rank != Expected)
      Out.report({Set.pathOf(Expected), 0, {}}, diag::ChakraMissingRank,
                 sys::path::filename(Set.pathOf(Expected)), Set.Ranks.back());
    Expected = Rank + 1;
  }
  // With a gap, members beyond the files are members all the same.
  return Expected;
}

llvm::Expected<ChakraGroups> readGroups(const ChakraSet &Set, uint32_t Ranks,
                                        Findings &Out) {
  ChakraGroups Groups(Ranks);
  if (Set.GroupPath.empty())
    return Groups;
  auto Buffer = readLargeFile(Set.GroupPath);
  if (!Buffer)
    return createFileError(Set.GroupPath, Buffer.getError());
  Groups.read((*Buffer)->getBuffer(), Set.GroupPath, Out);
  return Groups;
}

uint64_t readSplits(const ChakraSet &Set) {
  auto Buffer = readLargeFile(Set.SystemPath);
  if (!Buffer)
    return 0;
  Expected<json::Value> V = parseJson((*Buffer)->getBuffer());
  if (!V) {
    consumeError(V.takeError());
    return 0;
  }
  const json::Object *O = V->getAsObject();
  const int64_t Splits =
      O ? O->getInteger("preferred-dataset-splits").value_or(0) : 0;
  return static_cast<uint64_t>(std::max<int64_t>(Splits, 0));
}

} // namespace foretrace::validate
