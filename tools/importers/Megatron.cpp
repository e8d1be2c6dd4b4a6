// SPDX-License-Identifier: Apache-2.0
//
// Arguments of Megatron-LM: a command line, a file of arguments, a script, a
// YAML file or the log of a run. All become a map from names of flags, with `_`
// for `-`, to values.
#include "frontend/MegatronLayout.h"
#include "lang/diagnostics/Import.h"
#include "tools/importers/Importers.h"
#include "tools/importers/ReadMegatronFile.h"
#include "tools/importers/Translation.h"
#include "tools/importers/readers/ReadArguments.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::importers {

namespace {

class MegatronImporter {
public:
  MegatronImporter(ImportRequest &Request)
      : Request(Request), Diags(Request.Diags),
        Classes("import/megatron/", Request.Sources, Diags),
        Map(Classes, *Classes.findClass("megatron")) {}

  std::optional<ImportedJob> import();

private:
  std::optional<MegatronArguments> readInput();
  /// The flags by the names that the page has.
  ForeignValue rename(const ForeignValue &Raw) const;
  std::optional<ForeignValue::Member>
  renamed(const ForeignValue::Member &M) const;
  bool isKnown(StringRef Key) const {
    return Map.fateOf(Key).Is != Mapping::Fate::Unknown;
  }
  void addPattern(std::vector<ForeignValue::Member> &To,
                  const ForeignValue::Member &M);
  void addLayout(std::vector<ForeignValue::Member> &To,
                 const ForeignValue::Member &M);
  ForeignValue withDerived(const ForeignValue &Flags);
  bool isOfMegatron(const Mapping &Page, const ForeignValue &Flags);
  std::optional<ImportedJob> modelOf(const ForeignValue &Flags);

  ImportRequest &Request;
  DiagnosticEngine &Diags;
  Pages Classes;
  Mapping Map; ///< of flags with a model
};

} // namespace

/// The flag under a name that the page has: its own, or that of its positive
/// form. Megatron-LM refuses names that are cut short (allow_abbrev).
std::optional<ForeignValue::Member>
MegatronImporter::renamed(const ForeignValue::Member &M) const {
  const StringRef Key = M.Key.Text;
  if (isKnown(Key))
    return std::nullopt;
  for (StringRef Prefix : {"no_", "disable_"})
    if (StringRef Positive = Key; Positive.consume_front(Prefix) &&
                                  isKnown(Positive) &&
                                  M.Is.Is == ForeignValue::Kind::Boolean)
      return ForeignValue::Member{{Positive.str(), M.Key.Range},
                                  ForeignValue::of(!M.Is.Truth, M.Is.Range)};
  return std::nullopt;
}

ForeignValue MegatronImporter::rename(const ForeignValue &Raw) const {
  std::vector<ForeignValue::Member> Flags;
  for (const ForeignValue::Member &M : *Raw.Members) {
    const std::optional<ForeignValue::Member> Other = renamed(M);
    const ForeignValue::Member &By = Other ? *Other : M;
    setMember(Flags, By.Key, By.Is);
  }
  return ForeignValue::of(std::move(Flags), Raw.Range);
}

/// Adds what a hybrid pattern has: layers, and after `/` those that predict
/// further tokens, and cuts `|` between chunks of the pipeline.
void MegatronImporter::addPattern(std::vector<ForeignValue::Member> &To,
                                  const ForeignValue::Member &M) {
  const auto Set = [&](StringRef Key, ForeignValue V) {
    setMember(To, {Key.str(), M.Key.Range}, std::move(V));
  };
  SmallVector<StringRef, 4> Parts, Chunks;
  StringRef(M.Is.Text).split(Parts, '/');
  Parts.front().split(Chunks, '|');
  std::string Symbols, Layout;
  for (StringRef Chunk : Chunks) {
    Symbols += Chunk;
    Layout += (Layout.empty() ? "E" : "|") + std::string(Chunk.size(), 't');
  }
  Layout += "L";
  Set("hybrid_symbols", ForeignValue::of(Symbols, M.Is.Range));
  if (Parts.size() > 1) {
    Set("mtp_symbols", ForeignValue::of(Parts[1].str(), M.Is.Range));
    Set("mtp_depths", ForeignValue::of(int64_t(Parts.size() - 1), M.Is.Range));
  }
  if (Chunks.size() > 1) {
    Set("layout_text", ForeignValue::of(Layout, M.Is.Range));
    Set("layout_chunks", ForeignValue::of(int64_t(Chunks.size()), M.Is.Range));
  }
}

void MegatronImporter::addLayout(std::vector<ForeignValue::Member> &To,
                                 const ForeignValue::Member &M) {
  const std::optional<MegatronLayout> Layout = readMegatronLayout(M.Is.Text);
  if (!Layout) {
    Diags.report(M.Is.Range, diag::ImportValueKind, M.Is.print(),
                 "a pipeline layout such as `Ett|tt|ttL`");
    return;
  }
  setMember(To, {"layout_text", M.Key.Range}, M.Is);
  setMember(To, {"layout_chunks", M.Key.Range},
            ForeignValue::of(int64_t(Layout->Layers.size()), M.Is.Range));
}

/// The flags with those that follow from texts.
ForeignValue MegatronImporter::withDerived(const ForeignValue &Flags) {
  std::vector<ForeignValue::Member> All = *Flags.Members;
  for (const ForeignValue::Member &M : *Flags.Members) {
    if (M.Is.Is != ForeignValue::Kind::Text || M.Is.isOff())
      continue;
    if (M.Key.Text == "hybrid_layer_pattern" ||
        M.Key.Text == "hybrid_override_pattern")
      addPattern(All, M);
    else if (M.Key.Text == "pipeline_model_parallel_layout")
      addLayout(All, M);
  }
  if (Request.HasDeepSpeedFile)
    setMember(All, {"has_deepspeed_file", {}}, ForeignValue::of(true));
  return ForeignValue::of(std::move(All), Flags.Range);
}

/// The flags of the command line itself, or of the file that it names.
std::optional<MegatronArguments> MegatronImporter::readInput() {
  const ArrayRef<std::string> Words = Request.Words;
  if (!StringRef(Words.front()).starts_with("-"))
    return readMegatronFile(Request);
  std::string Text;
  std::vector<ArgumentWord> Read;
  std::vector<std::pair<size_t, size_t>> Places;
  for (const std::string &W : Words) {
    // A flag a line, for messages.
    Text += Text.empty() ? "" : StringRef(W).starts_with("--") ? "\n" : " ";
    Places.emplace_back(Text.size(), Text.size() + W.size());
    Text += W;
  }
  const SourceText All =
      Request.Sources.text(Request.Sources.add(Text, "<arguments>"));
  for (size_t I = 0; I != Words.size(); ++I)
    Read.push_back({Words[I], All.range(Places[I].first, Places[I].second)});
  for (const ArgumentWord &W : Read)
    if (W.isShortOption())
      Diags.report(W.Range, diag::ImportStrayOption, W.Text);
  return MegatronArguments{readFlags(Read, All.range())};
}

/// Returns whether at least as many keys are used as are unknown and not off.
/// If not, reports which format has the keys.
bool MegatronImporter::isOfMegatron(const Mapping &Page,
                                    const ForeignValue &Flags) {
  const auto Count = [&](Mapping::Fate Fate) {
    return count_if(*Flags.Members, [&](const ForeignValue::Member &M) {
      return Page.fateOf(M.Key.Text).Is == Fate &&
             (Fate == Mapping::Fate::Used || !M.Is.isOff());
    });
  };
  const auto Unknown = Count(Mapping::Fate::Unknown),
             Used = Count(Mapping::Fate::Used);
  if (Unknown <= Used)
    return true;
  constexpr int64_t FewestKeys = 2; // that tell a format
  Pages Formats("import/formats.fore", Request.Sources, Diags);
  std::string Found;
  int64_t Most = FewestKeys - 1;
  for (const ast::Section *Format : Formats.classes()) {
    SmallVector<StringRef, 16> Keys;
    SplitString(textOfKey(*Format, "keys"), Keys);
    const int64_t Has =
        count_if(Keys, [&](StringRef Key) { return Flags.find(Key); });
    if (Has > Most)
      Found = (", found " + textOfKey(*Format, "name")).str();
    Most = std::max(Most, Has);
  }
  Diags.report(Flags.Range.atStart(), diag::ImportOtherFormat, Unknown, Used,
               Found);
  return false;
}

std::optional<ImportedJob> MegatronImporter::import() {
  const std::optional<MegatronArguments> Raw = readInput();
  if (!Raw || Diags.hasErrors())
    return std::nullopt;
  const ForeignValue Flags = rename(Raw->Flags);
  const ForeignValue All = withDerived(Flags);
  const bool HasModel = any_of(
      ArrayRef<StringRef>{"hidden_size", "num_layers", "encoder_num_layers"},
      [&](StringRef Key) { return All.find(Key); });
  Mapping Page =
      HasModel
          ? Map
          : Mapping(Classes,
                    *Classes.findClass(Raw->AreOfRecipe ? "recipe_without_model"
                                                        : "without_model"));
  if (Raw->AreOfRecipe)
    Page.add(Classes, *Classes.findClass("recipe"));
  if (!isOfMegatron(Page, Flags))
    return std::nullopt;
  std::optional<ImportedJob> Job = HasModel ? ImportedJob() : modelOf(Flags);
  if (!Job)
    return std::nullopt;
  const Translation To{Page, All, nullptr, Diags, Raw->AreOfYaml};
  To.reportKeys(Flags, Request.Counts);
  To.translate(*Job);
  if (!Job->Branch.Kind.empty()) // which the model alone does not have
    erase_if(Job->ModelComments,
             [](StringRef C) { return C.starts_with("Without its"); });
  if (Diags.hasErrors())
    return std::nullopt;
  return Job;
}

/// Returns the model of a recipe: that of the config.json after it, if any.
std::optional<ImportedJob>
MegatronImporter::modelOf(const ForeignValue &Flags) {
  if (const std::string *Config = Request.findConfig())
    return Request.importConfig(*Config);
  Diags.report(Flags.Range.atStart(), diag::ImportNoModel);
  ImportedJob Job;
  Job.Comments = {
      "The model is not in the input: add an `import` of its file."};
  return Job;
}

std::optional<ImportedJob> importMegatron(ImportRequest &Request) {
  return MegatronImporter(Request).import();
}

} // namespace foretrace::importers
