// SPDX-License-Identifier: Apache-2.0
#include "tools/importers/ReadServingFiles.h"
#include "lang/diagnostics/Import.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"

using namespace llvm;
namespace path = llvm::sys::path;

namespace foretrace::importers {

using Members = std::vector<ForeignValue::Member>;

static bool isOption(const ArgumentWord &W) {
  return W.isFlag() || W.isShortOption();
}

/// Adds an option by its main name: of `no_` and a known one, its opposite.
static void addOption(Members &To, StringRef Written, SourceRange Range,
                      ForeignValue Is, const Mapping &Map) {
  std::string Key = Written.ltrim('-').str();
  std::replace(Key.begin(), Key.end(), '-', '_');
  const auto IsKnown = [&](StringRef K) {
    return Map.fateOf(K).Is != Mapping::Fate::Unknown;
  };
  StringRef Name = Key;
  if (StringRef Positive = Key;
      !IsKnown(Key) && Positive.consume_front("no_") && IsKnown(Positive) &&
      Is.Is == ForeignValue::Kind::Boolean) {
    Name = Positive;
    Is.Truth = !Is.Truth;
  }
  setMember(To, {Map.mainName(Name).str(), Range}, std::move(Is));
}

namespace {

/// Takes the options of a command line apart.
class OptionReader {
public:
  OptionReader(ArrayRef<ArgumentWord> Words, const Mapping &Map,
               DiagnosticEngine &Diags)
      : Words(Words), Map(Map), Diags(Diags), Flags(Map.wordsOf("flags")),
        Lists(Map.wordsOf("lists")) {}

  Members read();

private:
  void option(const ArgumentWord &W);
  void stray(const ArgumentWord &W);

  const ArrayRef<ArgumentWord> Words;
  const Mapping &Map;
  DiagnosticEngine &Diags;
  const std::vector<StringRef> Flags, Lists;
  Members Read;
  size_t Next = 0;
};

} // namespace

/// A word that belongs to no option: the model, or a variable that may hold
/// further options.
void OptionReader::stray(const ArgumentWord &W) {
  if (none_of(Read, [](const auto &M) { return M.Key.Text == "model"; }))
    setMember(Read, {"model", W.Range}, readArgument(W.Text, W.Range));
  else if (StringRef(W.Text).starts_with("${"))
    Diags.report(W.Range, diag::ImportUnresolved, "arguments", W.Text);
  else
    Diags.report(W.Range, diag::ImportUnknownKey, W.Text);
}

void OptionReader::option(const ArgumentWord &W) {
  const auto [Name, Joined] = StringRef(W.Text).split('=');
  std::string Key = Name.ltrim('-').str();
  std::replace(Key.begin(), Key.end(), '-', '_');
  if (Name.size() != W.Text.size())
    return addOption(Read, Name, W.Range, readArgument(Joined, W.Range), Map);
  StringRef Plain = Key;
  Plain.consume_front("no_");
  const size_t First = Next;
  const size_t Most = is_contained(Flags, Map.mainName(Plain)) ? 0
                      : is_contained(Lists, Key)               ? Words.size()
                                                               : First + 1;
  while (Next < std::min(Words.size(), Most) && !isOption(Words[Next]))
    ++Next;
  addOption(Read, Name, W.Range,
            readArguments(Words.slice(First, Next - First), W.Range), Map);
}

Members OptionReader::read() {
  while (Next != Words.size()) {
    const ArgumentWord &W = Words[Next++];
    if (isOption(W))
      option(W);
    else
      stray(W);
  }
  return std::move(Read);
}

Members readOptions(ArrayRef<ArgumentWord> Words, const Mapping &Map,
                    DiagnosticEngine &Diags) {
  return OptionReader(Words, Map, Diags).read();
}

/// A value of YAML in which variables of a shell are unknown.
static ForeignValue optionValue(const ForeignValue &V) {
  if (V.Is == ForeignValue::Kind::Text)
    return readArgument(V.Text, V.Range);
  if (V.Is != ForeignValue::Kind::Map)
    return V;
  Members All;
  for (const ForeignValue::Member &M : *V.Members)
    All.push_back({M.Key, optionValue(M.Is)});
  return ForeignValue::of(std::move(All), V.Range);
}

std::optional<Members> readOptionFile(SourceText Text, const Mapping &Map,
                                      DiagnosticEngine &Diags) {
  const std::optional<ForeignValue> Root =
      readYaml(Text, Diags, Repeated::LastCounts);
  if (!Root)
    return std::nullopt;
  Members All;
  for (const ForeignValue::Member &M : *Root->Members)
    addOption(All, M.Key.Text, M.Key.Range, optionValue(M.Is), Map);
  return All;
}

/// Returns the here-document that a script redirects to \p Name, or the only
/// one, as its name may be in a variable. The text keeps its places.
static std::optional<std::string> findDocument(StringRef Script,
                                               StringRef Name) {
  static const Regex Begin("<<-?[ ]*['\"]?([A-Za-z_]+)['\"]?");
  std::vector<std::pair<StringRef, StringRef>> All; // line and text
  for (StringRef Rest = Script; !Rest.empty();) {
    const auto [Line, After] = Rest.split('\n');
    Rest = After;
    SmallVector<StringRef, 2> Parts;
    if (!Line.contains('>') || !Begin.match(Line, &Parts))
      continue;
    const size_t End = After.find(("\n" + Parts[1]).str());
    All.push_back({Line, After.take_front(End)});
    Rest = After.substr(All.back().second.size());
  }
  const auto Found =
      find_if(All, [&](const auto &D) { return D.first.contains(Name); });
  if (Found == All.end() && All.size() != 1)
    return std::nullopt;
  const StringRef Text = Found == All.end() ? All[0].second : Found->second;
  std::string Kept = Script.take_front(Text.end() - Script.begin()).str();
  std::replace_if(
      Kept.begin(), Kept.end() - Text.size(), [](char C) { return C != '\n'; },
      ' ');
  return Kept;
}

std::optional<SourceText> openNamed(StringRef Name,
                                    std::optional<SourceText> Script,
                                    ImportRequest &Request) {
  SmallString<128> Beside(path::parent_path(Request.Words.front()));
  path::append(Beside, path::filename(Name));
  for (StringRef Path : {Name, StringRef(Beside)})
    if (sys::fs::is_regular_file(Path))
      return Request.read(Path);
  if (const auto Text =
          Script ? findDocument(Script->str(), Name) : std::nullopt)
    return Request.Sources.text(
        Request.Sources.add(*Text, Request.Sources.name(Script->range().File)));
  return std::nullopt;
}

} // namespace foretrace::importers
