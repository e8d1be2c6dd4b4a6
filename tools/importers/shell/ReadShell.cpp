// SPDX-License-Identifier: Apache-2.0
#include "tools/importers/shell/ReadShell.h"
#include "lang/diagnostics/Import.h"
#include "tools/importers/shell/ShellRun.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"
#include <set>

using namespace llvm;
namespace path = llvm::sys::path;

namespace foretrace::importers {

namespace {

using shell::Traced;

/// Scripts that people write are far smaller, and others take long to read.
constexpr size_t MaxScript = size_t(256) << 10;
/// The largest known script takes a sixth of this.
constexpr size_t LeastEffort = size_t(1) << 20, EffortOfCharacter = 16;

class ScriptReader {
public:
  ScriptReader(SourceText Text, ImportRequest &Request)
      : Text(Text), Request(Request),
        Folder(path::parent_path(Request.Words.front())),
        S(LeastEffort + EffortOfCharacter * Text.str().size()),
        Follower(S, Request.Diags,
                 [this](StringRef Path) { return open(Path); }) {}

  std::optional<ForeignValue> read();
  /// Follows the script; false if that takes too long.
  bool follow();
  ArrayRef<std::vector<Traced>> commands() const { return Follower.commands(); }

private:
  void setArguments();
  void setScheduler();
  std::optional<Traced> open(StringRef Path);
  void reportGaps();
  void reportOthers(ArrayRef<std::vector<Traced>> Commands,
                    ArrayRef<Traced> Chosen);
  std::vector<Traced> findArguments(ArrayRef<std::vector<Traced>> Commands);
  ForeignValue flagsOf(const std::vector<Traced> &Words) const;

  const SourceText Text;
  ImportRequest &Request;
  const std::string Folder;
  shell::State S;
  shell::Follower Follower;
};

} // namespace

static Traced traced(SourceText Text) {
  Traced All;
  for (size_t I = 0; I != Text.str().size(); ++I)
    All.add(Text.str()[I], Text.range(I, I + 1));
  return All;
}

/// The words after the script: `NAME=value` is of the environment, the others
/// are its arguments.
void ScriptReader::setArguments() {
  static const Regex Variable("^([A-Za-z_][A-Za-z0-9_]*)=(.*)$");
  for (const std::string &Word : Request.Words.drop_front()) {
    SmallVector<StringRef, 3> Parts;
    const SourceText At =
        Request.Sources.text(Request.Sources.add(Word, "<arguments>"));
    if (Variable.match(Word, &Parts)) {
      Traced Given;
      Given.add(Parts[2], At.range());
      S.Variables[Parts[1]] = {{Given}, false};
    } else {
      S.Arguments.push_back(traced(At));
    }
  }
}

/// Variables that a batch system sets, as far as the script's header states
/// them.
void ScriptReader::setScheduler() {
  static const Regex Option(" --?([a-zA-Z-]+)[ =]+([^ ]+)(.*)$");
  StringMap<int64_t> Given;
  for (StringRef Line : split(Text.str(), '\n')) {
    SmallVector<StringRef, 4> Parts;
    int64_t Number;
    Line = Line.trim();
    if (!Line.consume_front("#SBATCH"))
      continue;
    for (; Option.match(Line, &Parts); Line = Parts[3])
      if (const StringRef Last = Parts[2].rsplit(':').second; // `gpu:8`
          !(Last.empty() ? Parts[2] : Last).getAsInteger(10, Number))
        Given[Parts[1]] = Number;
  }
  const auto Set = [&](StringRef From, ArrayRef<StringRef> Names) {
    if (Given.count(From))
      for (StringRef Name : Names)
        S.Variables.try_emplace(
            Name, shell::Variable{shell::countOf(Given[From], Text.range(0, 0)),
                                  false});
  };
  for (StringRef Nodes : {"nodes", "N"})
    Set(Nodes, {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"});
  for (StringRef Devices : {"gpus-per-node", "gres"})
    Set(Devices, {"SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE"});
  Set("ntasks-per-node", {"SLURM_NTASKS_PER_NODE"});
  if (Given.count("ntasks-per-node") && Given.count("nodes"))
    if (const auto Product =
            checkedMul(Given["ntasks-per-node"], Given["nodes"]))
      Given["ntasks"] = *Product;
  Set("ntasks", {"SLURM_NTASKS", "SLURM_NPROCS"});
}

/// Opens a script that another one reads: by its path from the folder of the
/// script, or beside it.
std::optional<Traced> ScriptReader::open(StringRef Path) {
  const size_t Unknown = Path.rfind(')') + 1;
  for (StringRef Tail :
       {Path.drop_front(Unknown).ltrim('/'), path::filename(Path)}) {
    SmallString<128> File(Folder);
    path::append(File, Tail);
    sys::fs::file_status Is;
    if (!sys::fs::status(File, Is) && sys::fs::is_regular_file(Is) &&
        Is.getSize() <= MaxScript)
      if (const std::optional<SourceText> Read = Request.read(File))
        return traced(*Read);
  }
  return std::nullopt;
}

/// The release of Megatron-LM that a path of Python names.
static std::optional<ForeignValue::Member> releaseOf(const shell::State &S) {
  static const Regex Branch("core_[rv]0[.]([0-9]+)"),
      Day("Megatron-LM-([0-9]{6})([^0-9]|$)");
  const auto Paths = S.Variables.find("PYTHONPATH");
  if (Paths == S.Variables.end() || Paths->second.Elements.empty())
    return std::nullopt;
  const Traced &Path = Paths->second.Elements.front();
  for (const auto &[Form, Key] :
       {std::pair(&Branch, "megatron_core"), std::pair(&Day, "megatron_day")}) {
    SmallVector<StringRef, 3> Parts;
    int64_t Number;
    if (Form->match(Path.Text, &Parts) && !Parts[1].getAsInteger(10, Number))
      return ForeignValue::Member{{Key, Path.range()},
                                  ForeignValue::of(Number, Path.range())};
  }
  return std::nullopt;
}

static bool isFlag(const Traced &W) {
  return ArgumentWord{W.Text, {}}.isFlag();
}

/// Returns the program of a command; null if it is not Python.
static const Traced *programOf(ArrayRef<Traced> Words) {
  const auto *Found = find_if(Words, [](const Traced &W) {
    return StringRef(W.Text).ends_with(".py");
  });
  return Found == Words.end() ? nullptr : Found;
}

/// Reports that the program of \p Chosen is started with other arguments, too.
void ScriptReader::reportOthers(ArrayRef<std::vector<Traced>> Commands,
                                ArrayRef<Traced> Chosen) {
  const Traced *Program = programOf(Chosen);
  if (!Program)
    return;
  const auto TextsOf = [](ArrayRef<Traced> Words) {
    std::vector<StringRef> Texts;
    for (const Traced &W : Words)
      Texts.push_back(W.Text);
    return join(Texts, " ");
  };
  std::set<std::string> Different;
  for (const std::vector<Traced> &C : Commands)
    if (const Traced *Other = programOf(C);
        Other && Other->Text == Program->Text && S.spend(shell::copyEffort(C)))
      Different.insert(TextsOf(C));
  if (Different.size() > 1)
    Request.Diags.report(Program->range(), diag::ImportSeveralCommands,
                         path::filename(Program->Text), Different.size());
}

/// Reports parts that the reader does not follow, and missing words.
void ScriptReader::reportGaps() {
  for (const auto &[Part, Where] : S.Unsupported)
    Request.Diags.report(Where, diag::ImportShell, Part);
  std::vector<std::string> Missing;
  for (const auto &[Number, M] : S.Missing) {
    std::string Text = "$" + std::to_string(Number);
    if (!M.Name.empty())
      Text += " " + M.Name;
    if (!M.Values.empty())
      Text += " (" + join(M.Values, ", ") + ")";
    Missing.push_back(std::move(Text));
  }
  if (!Missing.empty())
    Request.Diags.report(S.Missing.begin()->second.Where,
                         diag::ImportWordsMissing, S.Arguments.size(),
                         join(Missing, ", "));
}

/// The command with the most flags; else all variables that have some.
std::vector<Traced>
ScriptReader::findArguments(ArrayRef<std::vector<Traced>> Commands) {
  // A model has more.
  constexpr int64_t Fewest = 5;
  const std::vector<Traced> *Most = nullptr;
  int64_t Count = Fewest;
  for (const std::vector<Traced> &C : Commands)
    if (const int64_t Flags = count_if(C, isFlag); Flags > Count) {
      Most = &C;
      Count = Flags;
    }
  if (Most) {
    reportOthers(Commands, *Most);
    return *Most;
  }
  std::vector<std::pair<uint32_t, std::vector<Traced>>> All;
  for (const auto &V : S.Variables) {
    std::vector<Traced> Words;
    for (const Traced &E : V.second.Elements) {
      const bool IsWhole = V.second.IsArray && !StringRef(E.Text).contains(' ');
      for (size_t I = 0; I < E.Text.size();) {
        if (isSpace(E.Text[I])) {
          ++I;
          continue;
        }
        Traced &W = Words.emplace_back();
        for (; I < E.Text.size() && (IsWhole || !isSpace(E.Text[I])); ++I)
          W.add(E.Text[I], E.At[I]);
      }
    }
    if (!Words.empty() && isFlag(Words.front()))
      All.emplace_back(Words.front().At.front().Begin, std::move(Words));
  }
  llvm::sort(All,
             [](const auto &A, const auto &B) { return A.first < B.first; });
  std::vector<Traced> Joined;
  for (auto &Words : All)
    append_range(Joined, Words.second);
  return Joined;
}

/// The value of a launcher's flag, in one word or two.
static std::optional<int64_t> launcherNumber(ArrayRef<Traced> Words,
                                             ArrayRef<StringRef> Names) {
  for (size_t I = 0; I != Words.size(); ++I) {
    auto [Name, Joined] = StringRef(Words[I].Text).split('=');
    std::string Plain = Name.str();
    std::replace(Plain.begin(), Plain.end(), '_', '-');
    int64_t Number;
    if (is_contained(Names, Plain)) {
      if (Joined.empty() && I + 1 != Words.size())
        Joined = Words[I + 1].Text;
      if (!Joined.getAsInteger(10, Number))
        return Number;
    }
  }
  return std::nullopt;
}

/// Returns the flags after the program, and those of its launcher.
ForeignValue ScriptReader::flagsOf(const std::vector<Traced> &Words) const {
  const auto Program = find_if(Words, [](const Traced &W) {
    return StringRef(W.Text).ends_with(".py");
  });
  const size_t Begin = Program == Words.end() ? 0 : Program - Words.begin() + 1;
  std::vector<ArgumentWord> Flags;
  static const Regex Variable("^\\$\\{[A-Za-z0-9_]+\\}$");
  for (const Traced &W : ArrayRef(Words).drop_front(Begin))
    // An unknown variable after a value holds more flags, not a second value.
    if (!Variable.match(W.Text) || (!Flags.empty() && Flags.back().isFlag()))
      Flags.push_back({W.Text, W.range()});
  const ForeignValue Read = readFlags(Flags, Text.range().atStart());
  std::vector<ForeignValue::Member> All;
  for (const ForeignValue::Member &M : *Read.Members)
    All.push_back(M);
  const ArrayRef<Traced> Launcher =
      ArrayRef(Words).take_front(Begin ? Begin : Words.size());
  const auto PerNode = launcherNumber(
      Launcher, {"--nproc-per-node", "--num-gpus", "--ntasks-per-node"});
  const auto Nodes =
      launcherNumber(Launcher, {"--nnodes", "--num-nodes", "-N", "--nodes"});
  const auto Tasks = launcherNumber(Launcher, {"-n", "--ntasks"});
  const SourceRange Where =
      Words.empty() ? SourceRange() : Words.front().range();
  const std::optional<int64_t> World =
      PerNode && Nodes ? checkedMul(*PerNode, *Nodes) : Tasks;
  if (World)
    setMember(All, {"world_size", Where}, ForeignValue::of(*World, Where));
  if (const auto Release = releaseOf(S))
    setMember(All, Release->Key, Release->Is);
  if (Program != Words.end())
    setMember(
        All, {"script", Program->range()},
        ForeignValue::of(path::stem(Program->Text).str(), Program->range()));
  return ForeignValue::of(std::move(All), Text.range().atStart());
}

bool ScriptReader::follow() {
  setArguments();
  setScheduler();
  Follower.follow(traced(Text));
  if (S.isSpent()) {
    Request.Diags.report(Text.range(0, 0), diag::ImportSyntax,
                         "its loops or values take too long to follow");
    return false;
  }
  reportGaps();
  return true;
}

std::optional<ForeignValue> ScriptReader::read() {
  if (!follow())
    return std::nullopt;
  const std::vector<Traced> Words = findArguments(commands());
  if (count_if(Words, isFlag) == 0) {
    Request.Diags.report(Text.range(0, 0), diag::ImportNoCommand);
    return std::nullopt;
  }
  return flagsOf(Words);
}

/// Returns whether a script is as short as those that people write; reports
/// one that is not.
static bool checkSize(SourceText Text, DiagnosticEngine &Diags) {
  if (Text.str().size() <= MaxScript)
    return true;
  Diags.report(Text.range(0, 0), diag::ImportSyntax,
               "scripts have at most 256 KiB");
  return false;
}

std::optional<ForeignValue> readShell(SourceText Text, ImportRequest &Request) {
  if (!checkSize(Text, Request.Diags))
    return std::nullopt;
  return ScriptReader(Text, Request).read();
}

std::optional<std::vector<std::vector<ArgumentWord>>>
readCommands(SourceText Text, ImportRequest &Request) {
  if (!checkSize(Text, Request.Diags))
    return std::nullopt;
  ScriptReader Reader(Text, Request);
  if (!Reader.follow())
    return std::nullopt;
  std::vector<std::vector<ArgumentWord>> Commands;
  for (const std::vector<Traced> &Of : Reader.commands()) {
    std::vector<ArgumentWord> &Words = Commands.emplace_back();
    for (const Traced &W : Of)
      Words.push_back({W.Text, W.range()});
  }
  return Commands;
}

} // namespace foretrace::importers
