// SPDX-License-Identifier: Apache-2.0
#include "tools/importers/ReadMegatronFile.h"
#include "lang/diagnostics/Import.h"
#include "tools/importers/readers/ReadArguments.h"
#include "tools/importers/readers/ReadPython.h"
#include "tools/importers/shell/ReadShell.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"

using namespace llvm;
namespace path = llvm::sys::path;

namespace foretrace::importers {

using Members = std::vector<ForeignValue::Member>;

/// Reads YAML, whose maps only group keys, and the files that it extends.
namespace {
class YamlArguments {
public:
  explicit YamlArguments(ImportRequest &Request) : Request(Request) {}

  std::optional<ForeignValue> read(SourceText Text, StringRef Path);

private:
  bool readFile(SourceText Text);
  bool addAll(const ForeignValue &Map);
  bool add(const ForeignValue::Member &M);
  bool extend(const ForeignValue &Names);
  std::optional<std::string> pathOf(StringRef Name) const;

  ImportRequest &Request;
  Members Flags;
  std::string Folder;
  unsigned Depth = 0;
};
} // namespace

/// The text with the default in place of each `${NAME:default}`.
static std::string withDefaults(StringRef Text) {
  static const Regex Variable("[$][{][A-Za-z0-9_]+:-?([^{}]*)[}]");
  std::string Made;
  SmallVector<StringRef, 2> Parts;
  while (Variable.match(Text, &Parts)) {
    Made += Text.take_front(Parts[0].data() - Text.data());
    Made += Parts[1];
    Text = Text.drop_front(Parts[0].end() - Text.begin());
  }
  return Made + Text.str();
}

/// The value of a key, with texts read as arguments.
static ForeignValue argumentOf(const ForeignValue &V) {
  if (V.Is == ForeignValue::Kind::List) {
    std::vector<ForeignValue> Elements;
    for (const ForeignValue &E : *V.Elements)
      Elements.push_back(argumentOf(E));
    return ForeignValue::of(std::move(Elements), V.Range);
  }
  if (V.Is != ForeignValue::Kind::Text)
    return V;
  const std::string Whole = withDefaults(V.Text);
  const StringRef Text = Whole;
  const ForeignValue Read = readArgument(Text, V.Range);
  if (Read.Is != ForeignValue::Kind::Text || !Text.starts_with("[") ||
      !Text.ends_with("]"))
    return Read;
  std::vector<ForeignValue> Elements; // `[a b]` is a list of words
  for (StringRef W : split(Text.drop_front().drop_back(), ' '))
    if (W = W.trim(" ,'\""); !W.empty())
      Elements.push_back(readArgument(W, V.Range));
  return ForeignValue::of(std::move(Elements), V.Range);
}

/// Returns where a file that another one names is: relative to that, or beside
/// it; nothing if it is not there.
std::optional<std::string> YamlArguments::pathOf(StringRef Name) const {
  for (StringRef Relative : {Name, path::filename(Name)}) {
    SmallString<128> Path(Folder);
    path::append(Path, Relative);
    if (sys::fs::is_regular_file(Path))
      return Path.str().str();
  }
  return std::nullopt;
}

/// Reads the files of a list, or of one name.
bool YamlArguments::extend(const ForeignValue &Names) {
  const std::vector<ForeignValue> All = Names.Is == ForeignValue::Kind::List
                                            ? *Names.Elements
                                            : std::vector{Names};
  for (const ForeignValue &Name : All) {
    if (Name.Is != ForeignValue::Kind::Text)
      continue;
    const std::optional<std::string> Path = pathOf(withDefaults(Name.Text));
    if (!Path) {
      Request.Diags.report(Name.Range, diag::ImportFileMissing, Name.Text);
      continue;
    }
    const std::optional<SourceText> Text = Request.read(*Path);
    if (!Text || !readFile(*Text))
      return false;
  }
  return true;
}

static bool isYamlName(const ForeignValue &V) {
  if (V.Is == ForeignValue::Kind::List)
    return !V.Elements->empty() && isYamlName(V.Elements->front());
  return V.Is == ForeignValue::Kind::Text &&
         StringRef(V.Text).ends_with(".yaml");
}

bool YamlArguments::add(const ForeignValue::Member &M) {
  if (M.Is.Is == ForeignValue::Kind::Map)
    return addAll(M.Is);
  if (isYamlName(M.Is))
    return extend(M.Is);
  if (M.Is.Is == ForeignValue::Kind::Null)
    return true;
  std::string Key = StringRef(M.Key.Text).ltrim('-').str();
  std::replace(Key.begin(), Key.end(), '-', '_');
  setMember(Flags, {Key, M.Key.Range}, argumentOf(M.Is));
  return true;
}

bool YamlArguments::addAll(const ForeignValue &Map) {
  // In a functional test only the arguments count.
  if (const ForeignValue *Arguments = Map.find("MODEL_ARGS");
      Arguments && Arguments->Is == ForeignValue::Kind::Map)
    return addAll(*Arguments);
  return all_of(*Map.Members,
                [&](const ForeignValue::Member &M) { return add(M); });
}

bool YamlArguments::readFile(SourceText Text) {
  constexpr unsigned MaxDepth = 16;
  ++Depth;
  const auto Leave = make_scope_exit([&] { --Depth; });
  if (Depth > MaxDepth) {
    Request.Diags.report(Text.range(0, 0), diag::ImportSyntax,
                         "files extend each other in a circle");
    return false;
  }
  const std::optional<ForeignValue> Root =
      readYaml(Text, Request.Diags, Repeated::LastCounts);
  if (!Root)
    return false;
  return addAll(*Root);
}

std::optional<ForeignValue> YamlArguments::read(SourceText Text,
                                                StringRef Path) {
  Folder = path::parent_path(Path).str();
  if (!readFile(Text))
    return std::nullopt;
  return ForeignValue::of(std::move(Flags), Text.range().atStart());
}

/// A literal of Python; missing, with its text, if it is computed.
static ForeignValue literalOf(StringRef Text, SourceRange Range) {
  StringRef Inside = Text.trim();
  const bool IsQuoted = Inside.size() > 1 && Inside.front() == Inside.back() &&
                        StringRef("'\"").contains(Inside.front());
  if (IsQuoted)
    Inside = Inside.drop_front().drop_back();
  if (StringRef Type = Inside.trim('`'); Type.consume_front("torch."))
    return ForeignValue::of(StringSwitch<std::string>(Type)
                                .Case("bfloat16", "bf16")
                                .Case("float16", "fp16")
                                .Case("float32", "fp32")
                                .Default(Type.str()),
                            Range);
  if (Inside.starts_with("`")) {
    ForeignValue Computed;
    Computed.Text = Inside.str();
    Computed.Range = Range;
    return Computed;
  }
  if (IsQuoted)
    return ForeignValue::of(Inside.str(), Range);
  if (!Inside.starts_with("[") || !Inside.ends_with("]"))
    return readArgument(
        Inside.starts_with("torch.") ? Inside.drop_front(6) : Inside, Range);
  std::vector<ForeignValue> Elements;
  for (StringRef E : split(Inside.drop_front().drop_back(), ','))
    if (!E.trim().empty())
      Elements.push_back(literalOf(E, Range));
  return ForeignValue::of(std::move(Elements), Range);
}

/// Reads the lines that \p Form matches, whose last groups are a name and a
/// value, except those with None, like a flag that is not given. A dotted name
/// is known by its last part.
static ForeignValue readLines(SourceText Text, const Regex &Form) {
  Members Flags;
  for (StringRef Line : split(Text.str(), '\n')) {
    SmallVector<StringRef, 4> Parts;
    if (!Form.match(Line, &Parts))
      continue;
    const StringRef Name = Parts[Parts.size() - 2], Is = Parts.back();
    const StringRef Last = Name.rsplit('.').second;
    ForeignValue Value = literalOf(Is, Text.rangeOf(Is));
    if (Value.Is != ForeignValue::Kind::Null)
      setMember(Flags,
                {Last.empty() ? Name.str() : Last.str(), Text.rangeOf(Name)},
                std::move(Value));
  }
  return ForeignValue::of(std::move(Flags), Text.range());
}

/// The first line that is neither empty nor a comment.
static StringRef firstLine(StringRef Text) {
  for (StringRef Line : split(Text, '\n'))
    if (Line = Line.trim(); !Line.empty() && !Line.starts_with("#"))
      return Line;
  return "";
}

static std::optional<MegatronArguments>
asFlags(std::optional<ForeignValue> Flags) {
  if (!Flags)
    return std::nullopt;
  return MegatronArguments{*Flags};
}

/// The value of an attribute in Python; missing, with its text, if it is
/// computed. Functions of torch are known by their own names.
static ForeignValue attributeOf(const ForeignValue &V) {
  if (V.Is != ForeignValue::Kind::Text || !V.IsBare)
    return V;
  StringRef Text = V.Text;
  if (Text.consume_front("F.") || Text.consume_front("torch.nn.functional."))
    return ForeignValue::of(Text.str(), V.Range);
  ForeignValue Read = literalOf(Text, V.Range);
  if (Read.Is == ForeignValue::Kind::Text && !Text.starts_with("torch."))
    Read.Is = ForeignValue::Kind::Missing;
  return Read;
}

/// Adds the attributes of an object and of those in it, by their own
/// names.
static void flatten(const ForeignValue &Object, Members &To) {
  for (const ForeignValue::Member &M : *Object.Members) {
    // The callee, and arguments without a name.
    if (M.Key.Text == "call" || StringRef(M.Key.Text).starts_with("arg"))
      continue;
    // Bridge has a function for each kind of precision.
    if (const ForeignValue *Called = M.Is.find("call");
        Called && M.Key.Text == "mixed_precision") {
      setMember(To, M.Key, *Called);
      if (const ForeignValue *Argument = M.Is.find("arg0"))
        setMember(To, {"mixed_precision_argument", M.Key.Range}, *Argument);
    }
    // `fp8 = None` takes back what such a function has set.
    const bool IsScaledType = M.Key.Text == "fp8" || M.Key.Text == "fp4";
    if (M.Is.Is == ForeignValue::Kind::Map)
      flatten(M.Is, To);
    else if (M.Is.Is == ForeignValue::Kind::Null && IsScaledType)
      setMember(To, M.Key, ForeignValue::of(false, M.Is.Range));
    else if (M.Is.Is != ForeignValue::Kind::Null)
      setMember(To, M.Key, attributeOf(M.Is));
  }
}

/// Adds the ranks of a comment with the command that runs a recipe.
static void addRanks(SourceText Text, Members &To) {
  static const Regex Command("^# torchrun --nproc-per-node ([0-9]+) --nnodes "
                             "([0-9]+)( |$)");
  for (StringRef Line : split(Text.str(), '\n')) {
    SmallVector<StringRef, 4> Found;
    int64_t Devices, Nodes;
    if (Command.match(Line, &Found) && !Found[1].getAsInteger(10, Devices) &&
        !Found[2].getAsInteger(10, Nodes))
      if (const std::optional<int64_t> Ranks = checkedMul(Devices, Nodes))
        return setMember(To, {"world_size", Text.rangeOf(Found[1])},
                         ForeignValue::of(*Ranks, Text.rangeOf(Line)));
  }
}

/// A recipe as a function of Python, whose name may follow that of the file.
static std::optional<MegatronArguments> readRecipe(SourceText Text,
                                                   ImportRequest &Request) {
  const auto *Wanted = find_if(drop_begin(Request.Words), [](StringRef W) {
    return all_of(W, [](char C) { return isAlnum(C) || C == '_'; });
  });
  const std::vector<PythonFunction> All = readPython(Text);
  const PythonFunction *Chosen = chooseFunction(
      All, Wanted == Request.Words.end() ? "" : *Wanted,
      [](const ForeignValue &V) { return V.find("model") && V.find("train"); },
      "Megatron-Bridge", Text, Request.Diags);
  if (!Chosen)
    return std::nullopt;
  for (const SourceRange Skipped : Chosen->Skipped)
    Request.Diags.report(Skipped, diag::ImportStatement);
  Members Flags;
  flatten(Chosen->Returned, Flags);
  addRanks(Text, Flags);
  if (const ForeignValue *Base = Chosen->Returned.find("call"))
    setMember(Flags, {"base_recipe", Base->Range}, *Base);
  return MegatronArguments{ForeignValue::of(std::move(Flags), Text.range()),
                           true};
}

static std::optional<MegatronArguments> readText(SourceText Text,
                                                 ImportRequest &Request) {
  const std::string &Path = Request.Words.front();
  static const Regex LogLine("^(.*[^A-Za-z0-9_])?([A-Za-z_][A-Za-z0-9_]*) "
                             "\\.\\.\\.+ +([^ ].*)$"),
      Assignment("^([A-Za-z_][A-Za-z0-9_.]*) = (.*)$"),
      YamlLine("^(---|[A-Za-z_][A-Za-z0-9_. -]*:( .*)?)$");
  if (path::extension(Path) == ".py")
    return readRecipe(Text, Request);
  ForeignValue Logged = readLines(Text, LogLine);
  constexpr size_t FewestLogged = 10;
  if (Logged.Members->size() >= FewestLogged)
    return MegatronArguments{Logged};
  const StringRef First = firstLine(Text.str());
  if (First.starts_with("--") && First != "---")
    return MegatronArguments{readFlags(readWords(Text), Text.range())};
  if (YamlLine.match(First)) {
    std::optional<ForeignValue> Flags = YamlArguments(Request).read(Text, Path);
    // A run of Megatron-Bridge writes such a file to its checkpoint.
    const bool AreOfRecipe = Flags && Flags->find("_target_");
    return Flags ? std::optional(MegatronArguments{*Flags, AreOfRecipe, true})
                 : std::nullopt;
  }
  if (Assignment.match(First))
    return MegatronArguments{readLines(Text, Assignment), true};
  return asFlags(readShell(Text, Request));
}

std::optional<MegatronArguments> readMegatronFile(ImportRequest &Request) {
  const std::optional<SourceText> Text = Request.read(Request.Words.front());
  if (!Text)
    return std::nullopt;
  std::optional<MegatronArguments> Read = readText(*Text, Request);
  // The line in which exports write the release.
  static const Regex Release("^# Megatron-LM core_v0[.]([0-9]+)",
                             Regex::Newline);
  SmallVector<StringRef, 2> Parts;
  int64_t Number;
  if (Read && Release.match(Text->str(), &Parts) &&
      !Parts[1].getAsInteger(10, Number)) {
    Members Flags = *Read->Flags.Members;
    const SourceRange Where = Text->rangeOf(Parts[1]);
    setMember(Flags, {"megatron_core", Where}, ForeignValue::of(Number, Where));
    Read->Flags = ForeignValue::of(std::move(Flags), Read->Flags.Range);
  }
  return Read;
}

} // namespace foretrace::importers
