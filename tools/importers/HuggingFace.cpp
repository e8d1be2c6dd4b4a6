// SPDX-License-Identifier: Apache-2.0
//
// `config.json` of Hugging Face's transformers.
#include "lang/diagnostics/Import.h"
#include "tools/importers/Importers.h"
#include "tools/importers/Translation.h"
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
        Counts(Request.Counts), Diags(Request.Diags) {}

  std::optional<ImportedJob> import();

private:
  const ast::Section *findClass();
  const ast::Section *guessClass(SourceRange Where, StringRef Name);
  /// The text model of a model of several parts.
  const ForeignValue &textPart() const;

  const ForeignValue &Root;
  Pages Classes;
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

/// The base of all classes for an unknown architecture, if all classes read its
/// keys alike.
const ast::Section *ConfigImporter::guessClass(SourceRange Where,
                                               StringRef Name) {
  const ast::Section *Common = Classes.findClass("transformer");
  const Mapping Map(Classes, *Common);
  std::vector<std::string> Unknown;
  for (const ForeignValue::Member &M : *textPart().Members)
    if (Map.fateOf(M.Key.Text).Is == Mapping::Fate::Unknown || !Map.isAlike(M))
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

std::optional<ImportedJob> ConfigImporter::import() {
  const ast::Section *Class = findClass();
  if (!Class)
    return std::nullopt;
  const Mapping Map(Classes, *Class);
  const ForeignValue &Text = textPart();
  const bool IsPart = &Text != &Root;
  const Translation All{Map, Text, IsPart ? &Root : nullptr, Diags};
  ImportedJob Job;
  All.reportKeys(Text, Counts);
  if (IsPart)
    All.reportKeys(Root, Counts);
  All.translate(Job);
  if (Diags.hasErrors())
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
