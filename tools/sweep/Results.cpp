// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Results.h"
#include "backends/CommandLine.h"
#include "lang/ReadFile.h"
#include "tools/sweep/SharedFiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace::sweep {

/// What a script of a point prints, and says when it ends, lies beside it.
static constexpr StringLiteral OutputEnd = ".out", CodeEnd = ".code";

/// Points that ran to a good end are not run again. What a point prints is
/// there before its exit code.
static constexpr StringLiteral Body = R"sh(
failed=0
for script in "$points"/[0-9]*/*.sh; do
  [ -f "$script" ] || continue
  [ "$(cat "$script.code" 2>/dev/null)" = 0 ] && continue
  echo "$script"
  sh "$script" "$@" >"$script.out" 2>"$script.err"
  code=$?
  echo "$code" >"$script.code"
  [ "$code" -eq 0 ] || { failed=1; tail -n 3 "$script.err" >&2; }
done
"${FORETRACE:-foretrace}" sweep -o "$database" --collect="$points" || exit 2
exit "$failed"
)sh";

Error writeRunScript(StringRef Script, const OutputOptions &Writing,
                     StringRef Folder, StringRef Path) {
  // The script stands in the folder of points, mostly beside the database.
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
          "# the times that they print. What is interrupted goes on.\n"
       << "points=$(dirname \"$0\")\n"
       << "database=" << (IsBeside ? "$points/../" : "")
       << shellQuoted(Database) << Body;
  });
}

/// The time in the last line of \p Output, `12.5 us`, in nanoseconds.
static std::optional<double> timeIn(StringRef Output) {
  static constexpr std::pair<StringLiteral, double> Units[] = {
      {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  const StringRef Last = Output.rtrim().rsplit('\n').second;
  const auto [Number, Unit] =
      (Last.empty() ? Output.trim() : Last.trim()).split(' ');
  double Value;
  const auto *It =
      find_if(Units, [&, U = Unit](const auto &Of) { return Of.first == U; });
  if (It == std::end(Units) || Number.getAsDouble(Value))
    return std::nullopt;
  return Value * It->second;
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
  for (const StringRef F : *Files) {
    if (!F.ends_with(CodeEnd))
      continue;
    const StringRef Script = F.drop_back(CodeEnd.size());
    int64_t Id;
    if (sys::path::filename(sys::path::parent_path(Script))
            .getAsInteger(10, Id))
      continue;
    std::optional<double> Time;
    if (StringRef(textOf(F)).trim() == "0")
      Time = timeIn(textOf(Script + OutputEnd));
    if (!Time) {
      ++Out.Failed;
      continue;
    }
    if (Error E = DB->addResult(Id, sys::path::filename(Script), *Time))
      return E;
    ++Out.Count;
  }
  return Out;
}

} // namespace foretrace::sweep
