// SPDX-License-Identifier: Apache-2.0
//
// `config.json` of Hugging Face's transformers.
#include "lang/diagnostics/Import.h"
#include "tools/importers/Importers.h"
#include "tools/importers/Translation.h"
#include "tools/importers/readers/ReadArguments.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace::importers {

namespace {

class ConfigImporter {
public:
  ConfigImporter(const ForeignValue &Root, ImportRequest &Request)
      : Root(Root),
        Classes("import/huggingface/", Request.Sources, Request.Diags),
        Request(Request), Counts(Request.Counts), Diags(Request.Diags) {}

  std::optional<ImportedJob> import();

private:
  const ast::Section *findClass();
  const ast::Section *guessClass(SourceRange Where, StringRef Name);
  /// The text model of a model of several parts.
  const ForeignValue &textPart() const;
  /// Adds the layers of the vision tower; false after an error.
  bool addTower(ImportedJob &Job);

  const ForeignValue &Root;
  Pages Classes;
  ImportRequest &Request;
  KeyCounts &Counts;
  DiagnosticEngine &Diags;
};

} // namespace

const ForeignValue &ConfigImporter::textPart() const {
  for (StringRef Key : {"text_config", "llm_config", "language_config"})
    if (const ForeignValue *Part = Root.find(Key);
        Part && Part->Is == ForeignValue::Kind::Map)
      return *Part;
  return Root;
}

/// Returns whether \p V or all its elements are words of \p Words.
static bool isAnyOf(const ForeignValue &V, ArrayRef<StringRef> Words) {
  if (V.Is == ForeignValue::Kind::List)
    return all_of(*V.Elements,
                  [&](const ForeignValue &E) { return isAnyOf(E, Words); });
  return V.isOff() || is_contained(Words, V.Is == ForeignValue::Kind::Text
                                              ? StringRef(V.Text)
                                              : StringRef(V.print()));
}

/// Returns whether all classes read a key with this value alike.
static bool isAlike(const Mapping &Map, const ForeignValue::Member &M) {
  return all_of(Map.alike(), [&](const auto &Known) {
    return (Known.getKey() != M.Key.Text &&
            !is_contained(Map.spellings(Known.getKey()), M.Key.Text)) ||
           isAnyOf(M.Is, Known.getValue());
  });
}

/// The base of all classes for an unknown architecture, if all classes read its
/// keys alike.
const ast::Section *ConfigImporter::guessClass(SourceRange Where,
                                               StringRef Name) {
  const ast::Section *Common = Classes.findClass("transformer");
  const Mapping Map(Classes, *Common);
  std::vector<std::string> Unknown;
  for (const ForeignValue::Member &M : *textPart().Members)
    if (Map.fateOf(M.Key.Text).Is == Mapping::Fate::Unknown || !isAlike(Map, M))
      Unknown.push_back("`" + M.Key.Text + "`");
  if (Unknown.empty()) {
    Diags.report(Where, diag::ImportGuessedClass, Name);
    return Common;
  }
  constexpr size_t Shown = 8;
  const size_t Hidden = Unknown.size() - std::min(Shown, Unknown.size());
  Unknown.resize(Unknown.size() - Hidden);
  Diags.report(Where, diag::ImportUnknownClass, Name,
               join(Unknown, ", ") +
                   (Hidden ? " and " + std::to_string(Hidden) + " more" : ""));
  return nullptr;
}

/// The first of the architectures of a configuration, or null.
static const ForeignValue *architectureOf(const ForeignValue &Of) {
  const ForeignValue *List = Of.find("architectures");
  return List && List->Is == ForeignValue::Kind::List &&
                 !List->Elements->empty()
             ? &List->Elements->front()
             : nullptr;
}

const ast::Section *ConfigImporter::findClass() {
  const auto Find = [&](const char *List, const ForeignValue *Word) {
    return Word && Word->Is == ForeignValue::Kind::Text
               ? Classes.findBy(List, Word->Text)
               : nullptr;
  };
  // A model of several parts may have the text model of another class.
  const ForeignValue &Text = textPart();
  const ForeignValue *Type = Text.find("model_type");
  const ForeignValue *Class = architectureOf(Text);
  if (&Text != &Root)
    if (const ast::Section *OfType = Find("types", Type))
      return OfType;
  if (!Type)
    Type = Root.find("model_type");
  if (!Class)
    Class = architectureOf(Root);
  const ast::Section *OfClass = Find("architectures", Class);
  const ast::Section *OfType = Find("types", Type);
  if (OfClass && OfType && OfClass != OfType)
    Diags.report(Type->Range, diag::ImportOtherType, Type->Text, Class->Text);
  if (OfClass || OfType)
    return OfClass ? OfClass : OfType;
  const ForeignValue *Whole = architectureOf(Root);
  const ForeignValue *Named = Whole ? Whole : Class ? Class : Type;
  if (Named && Named->Is == ForeignValue::Kind::Text)
    return guessClass(Named->Range, Named->Text);
  Diags.report(Root.Range.atStart(), diag::ImportKeyMissing, "model_type");
  return nullptr;
}

/// \p Of but for the member \p Key.
static ForeignValue without(const ForeignValue &Of, StringRef Key) {
  std::vector<ForeignValue::Member> Members = *Of.Members;
  erase_if(Members,
           [&](const ForeignValue::Member &M) { return M.Key.Text == Key; });
  return ForeignValue::of(std::move(Members), Of.Range);
}

bool ConfigImporter::addTower(ImportedJob &Job) {
  const ForeignValue *Vision = Root.find("vision_config");
  if (!Vision || Vision->Is != ForeignValue::Kind::Map) {
    Diags.report(Root.Range.atStart(), diag::ImportKeyMissing, "vision_config");
    return false;
  }
  const ForeignValue *Type = Vision->find("model_type");
  if (!Type)
    Type = Root.find("model_type");
  const ast::Section *Class = Type && Type->Is == ForeignValue::Kind::Text
                                  ? Classes.findBy("towers", Type->Text)
                                  : nullptr;
  if (!Class) {
    Diags.report(Type ? Type->Range : Vision->Range, diag::ImportUnknownTower,
                 Type ? Type->print() : "unknown",
                 join(Classes.wordsOf("towers"), ", "));
    return false;
  }
  const Mapping Map(Classes, *Class);
  Translation{Map, *Vision, nullptr, Diags}.reportKeys(*Vision, Counts);
  // Both parts have keys of the same names.
  std::vector<ForeignValue::Member> Keys = *Vision->Members;
  for (const ForeignValue::Member &M : *Root.Members)
    setMember(Keys, {"model_" + M.Key.Text, M.Key.Range}, M.Is);
  for (const ForeignValue::Member &M : *textPart().Members)
    setMember(Keys, {"text_" + M.Key.Text, M.Key.Range}, M.Is);
  setMember(Keys, {"patches", Vision->Range},
            ForeignValue::of(*Request.Patches, Vision->Range));
  const ForeignValue Input = ForeignValue::of(std::move(Keys), Vision->Range);
  ImportedJob Tower;
  Translation{Map, Input, nullptr, Diags}.translate(Tower);
  Job.Layers.insert(Job.Layers.begin(), Tower.Layers.begin(),
                    Tower.Layers.end());
  Job.Defaults.insert(Job.Defaults.end(), Tower.Defaults.begin(),
                      Tower.Defaults.end());
  return !Diags.hasErrors();
}

std::optional<ImportedJob> ConfigImporter::import() {
  const ast::Section *Class = findClass();
  if (!Class)
    return std::nullopt;
  const Mapping Map(Classes, *Class);
  const ForeignValue Whole =
      Request.Patches ? without(Root, "vision_config") : Root;
  const ForeignValue &Text = textPart();
  const bool IsPart = &Text != &Root;
  const Translation All{Map, Text, IsPart ? &Root : nullptr, Diags};
  ImportedJob Job;
  All.reportKeys(Whole, Counts);
  if (IsPart)
    All.reportKeys(Text, Counts);
  All.translate(Job);
  if (Diags.hasErrors() || (Request.Patches && !addTower(Job)))
    return std::nullopt;
  if (!Job.Defaults.empty())
    Diags.report(Text.Range.atStart(), diag::ImportDefaults,
                 join(map_range(Job.Defaults,
                                [](const WrittenKey &K) {
                                  return K.Key + " = " + K.Text;
                                }),
                      ", "));
  return Job;
}

static std::optional<ImportedJob> importConfig(SourceText Text,
                                               ImportRequest &Request) {
  const std::optional<ForeignValue> Root = readYaml(Text, Request.Diags);
  if (!Root)
    return std::nullopt;
  return ConfigImporter(*Root, Request).import();
}

std::optional<ImportedJob> importHuggingFace(ImportRequest &Request) {
  std::string Path = Request.Words.front();
  if (sys::fs::is_directory(Path))
    Path += "/config.json";
  const std::optional<SourceText> Text = Request.read(Path);
  return Text ? importConfig(*Text, Request) : std::nullopt;
}

std::optional<std::string> importModel(FileId File, StringRef Name,
                                       SourceFiles &Sources,
                                       DiagnosticEngine &Diags) {
  ImportRequest Request{{}, Sources, Diags};
  std::optional<ImportedJob> Job = importConfig(Sources.text(File), Request);
  if (!Job)
    return std::nullopt;
  Job->Model = Name.str();
  std::string Text;
  raw_string_ostream OS(Text);
  Job->write(OS);
  return Text;
}

} // namespace foretrace::importers
