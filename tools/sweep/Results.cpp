// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Results.h"
#include "backends/CommandLine.h"
#include "lang/ReadFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace llvm;

namespace foretrace::sweep {

Error fileError(StringRef Path, std::error_code Code) {
  return createStringError("`" + Path + "`: " + Code.message());
}

Expected<std::vector<std::string>> filesIn(StringRef Folder) {
  std::vector<std::string> Files;
  std::error_code Code;
  for (sys::fs::recursive_directory_iterator I(Folder, Code), End;
       !Code && I != End; I.increment(Code))
    if (sys::fs::is_regular_file(I->path()))
      Files.push_back(I->path());
  if (Code)
    return fileError(Folder, Code);
  llvm::sort(Files);
  return Files;
}

/// The output and the exit code of a script are in files beside it.
static constexpr StringLiteral OutputEnd = ".out", CodeEnd = ".code";

/// Scripts that succeeded are not run again. The output of a script is complete
/// before its exit code is there.
static constexpr StringLiteral Body = R"sh(
scripts=$(cd "$points" && find . -path './[0-9]*/*' -name '*.sh' -type f |
  LC_ALL=C sort)
[ -n "$scripts" ] || { echo "$0: no point has a script" >&2; exit 1; }
failed=0
IFS='
'
set -f # a name is no pattern
for script in $scripts; do
  script=$points/${script#./}
  [ "$(cat "$script.code" 2>/dev/null)" = 0 ] && continue
  echo "$script"
  sh "$script" "$@" >"$script.out" 2>"$script.err" </dev/null
  code=$?
  echo "$code" >"$script.code"
  [ "$code" -eq 0 ] || { failed=1; tail -n 3 "$script.err" >&2; }
done
"${FORETRACE:-foretrace}" sweep -o "$database" --collect="$points" || exit 2
exit "$failed"
)sh";

Error writeRunScript(StringRef Script, const OutputOptions &Writing,
                     StringRef Folder, StringRef Path) {
  // The script is in the folder of points, mostly beside the database.
  SmallString<128> Place(Folder), Database(Path);
  for (SmallString<128> *P : {&Place, &Database}) {
    if (std::error_code Code = sys::fs::make_absolute(*P))
      return createStringError("`" + *P + "`: " + Code.message());
    sys::path::remove_dots(*P, /*remove_dot_dot=*/true);
  }
  const bool IsBeside =
      sys::path::parent_path(Place) == sys::path::parent_path(Database);
  if (IsBeside)
    Database = sys::path::filename(Path);
  return writeFile(Script, Writing, {}, [&](raw_ostream &OS) {
    OS << "#!/bin/sh\n"
          "# Runs the scripts of all points, with the arguments of this one, "
          "and collects\n"
          "# the figures that they print. An interrupted run is resumed.\n"
       << "points=$(dirname \"$0\")\n"
       << "database=" << (IsBeside ? "$points/../" : "")
       << shellQuoted(Database) << Body;
  });
}

/// Reads `exposed_comm 12.5 us`, or `12.5 us` of the simulated time. Times
/// become nanoseconds.
static std::optional<std::pair<std::string, double>> figureIn(StringRef Line) {
  struct Unit {
    StringLiteral Name, Suffix;
    double Scale;
  };
  static constexpr Unit Units[] = {{"ns", "ns", 1},
                                   {"us", "ns", 1e3},
                                   {"ms", "ns", 1e6},
                                   {"s", "ns", 1e9},
                                   {"%", "percent", 1}};
  SmallVector<StringRef, 4> Words;
  Line.split(Words, ' ', -1, /*KeepEmpty=*/false);
  double Value;
  std::string Name;
  if (!Words.empty() && Words.front().getAsDouble(Value)) {
    Name = Words.front().str();
    Words.erase(Words.begin());
  }
  if (Words.empty() || Words.size() > 2 || Words.front().getAsDouble(Value) ||
      !std::isfinite(Value))
    return std::nullopt;
  if (Words.size() == 1)
    return Name.empty() ? std::nullopt : std::optional(std::pair(Name, Value));
  const auto *It =
      find_if(Units, [&](const Unit &U) { return U.Name == Words.back(); });
  if (It == std::end(Units))
    return std::nullopt;
  if (It->Suffix == "ns")
    Value = std::round(Value * It->Scale);
  return std::pair((Name.empty() ? "" : Name + "_") + It->Suffix.str(), Value);
}

/// The figures in \p Output, which ends with the simulated time; none if it
/// does not.
static std::vector<std::pair<std::string, double>> figuresIn(StringRef Output) {
  SmallVector<StringRef, 16> Lines;
  Output.rtrim().split(Lines, '\n');
  const auto Time = figureIn(Lines.back().trim());
  if (!Time || Time->first != "ns")
    return {};
  std::vector<std::pair<std::string, double>> Figures = {*Time};
  for (const StringRef Line : ArrayRef(Lines).drop_back())
    if (auto F = figureIn(Line.trim()); F && F->first != "ns")
      Figures.push_back(std::move(*F));
  return Figures;
}

static std::string textOf(const Twine &Path) {
  const ErrorOr<std::unique_ptr<MemoryBuffer>> Text = readLargeFile(Path.str());
  return Text ? (*Text)->getBuffer().str() : "";
}

Expected<CollectedResults> collectResults(StringRef Path, StringRef Folder) {
  Expected<std::vector<std::string>> Files = filesIn(Folder);
  if (!Files)
    return Files.takeError();
  Expected<Database> DB = Database::openToCollect(Path);
  if (!DB)
    return DB.takeError();
  CollectedResults Out;
  std::vector<ScriptResult> Results;
  for (const StringRef F : *Files) {
    if (!F.ends_with(CodeEnd))
      continue;
    const StringRef Script = F.drop_back(CodeEnd.size());
    const auto [Point, Name] =
        Script.drop_front(Folder.size()).ltrim('/').split('/');
    int64_t Id;
    if (Point.getAsInteger(10, Id))
      continue;
    ScriptResult R = {Id, Name.str(), {}};
    if (StringRef(textOf(F)).trim() == "0")
      R.Figures = figuresIn(textOf(Script + OutputEnd));
    if (R.Figures.empty())
      ++Out.Failed;
    else
      Results.push_back(std::move(R));
  }
  Out.Count = static_cast<int64_t>(Results.size());
  if (Out.Count + Out.Failed == 0)
    return createStringError("`" + Folder +
                             "`: no script of a point has been run");
  if (Error E = DB->addResults(Results))
    return E;
  return Out;
}

} // namespace foretrace::sweep
