// SPDX-License-Identifier: Apache-2.0
//
// Arguments of serving engines: a command in quotes, a script that starts one,
// or the YAML that holds them. All become a map from the main names of
// arguments, with `_` for `-`, to values.
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Import.h"
#include "lang/diagnostics/Lang.h"
#include "tools/importers/ReadServingFiles.h"
#include "tools/importers/ServedModels.h"
#include "tools/importers/Translation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"
#include <set>

using namespace llvm;
namespace path = llvm::sys::path;

namespace foretrace::importers {

using Members = std::vector<ForeignValue::Member>;

namespace {

class ServingImporter {
public:
  ServingImporter(StringRef Engine, ImportRequest &Request)
      : Request(Request), Diags(Request.Diags),
        Classes("import/serving/", Request.Sources, Diags),
        Class(*Classes.findClass(Engine)), Map(Classes, Class),
        Known(Request.Sources, Diags) {}

  std::optional<ImportedJob> import();

private:
  bool readInput();
  bool readScript(SourceText Text);
  std::optional<size_t> argumentsAt(ArrayRef<ArgumentWord> Words) const;
  void readClient(ArrayRef<std::vector<ArgumentWord>> Commands);
  bool mergeFile();
  void readRelease(SourceText Text);
  const ForeignValue *find(StringRef Key) const;
  std::optional<ImportedJob> modelOf(Members &Outer);
  void reportModel(const ForeignValue &Id);

  ImportRequest &Request;
  DiagnosticEngine &Diags;
  Pages Classes;
  const ast::Section &Class;
  const Mapping Map;
  const Checkpoints Known;
  std::optional<SourceText> Script;
  SourceRange Start; ///< of the command, or of the file
  Members Arguments; ///< of the engine
  Members Outer;     ///< what else the script says
};

} // namespace

const ForeignValue *ServingImporter::find(StringRef Key) const {
  const auto Found =
      find_if(Arguments, [&](const auto &M) { return M.Key.Text == Key; });
  return Found == Arguments.end() ? nullptr : &Found->Is;
}

/// Returns where the arguments of a command begin that starts the engine, as
/// `vllm serve` does; nothing if it starts another program. The last word of a
/// start may end in `*`, as names of images do.
std::optional<size_t>
ServingImporter::argumentsAt(ArrayRef<ArgumentWord> Words) const {
  for (StringRef Way : split(textOfKey(Class, "starts"), ',')) {
    SmallVector<StringRef, 3> Parts;
    SplitString(Way, Parts);
    for (size_t I = 0; I + Parts.size() <= Words.size(); ++I) {
      const auto Matches = [](StringRef Part, const ArgumentWord &W) {
        return Part.consume_back("*") ? StringRef(W.Text).starts_with(Part)
                                      : path::filename(W.Text) == Part;
      };
      const auto At = Words.slice(I, Parts.size());
      if (std::equal(Parts.begin(), Parts.end(), At.begin(), Matches))
        return I + Parts.size();
    }
  }
  return std::nullopt;
}

/// Reads the command that sends requests, if the script has one.
void ServingImporter::readClient(ArrayRef<std::vector<ArgumentWord>> Commands) {
  const Mapping Client(Classes, *Classes.findClass("client"));
  for (const std::vector<ArgumentWord> &C : Commands) {
    DiagnosticEngine Unheard;
    Members Of = readOptions(C, Client, Unheard);
    if (argumentsAt(C) ||
        none_of(Of, [](const auto &M) { return M.Key.Text == "input_len"; }))
      continue;
    Outer.push_back({{"client", C.front().Range},
                     ForeignValue::of(std::move(Of), C.front().Range)});
    return;
  }
}

/// Reads the commands of a script. Of several that start the engine, the one
/// with the most arguments counts.
bool ServingImporter::readScript(SourceText Text) {
  const auto Commands = readCommands(Text, Request);
  if (!Commands)
    return false;
  const std::vector<ArgumentWord> *Most = nullptr;
  std::set<std::string> Different;
  for (const std::vector<ArgumentWord> &C : *Commands) {
    if (!argumentsAt(C))
      continue;
    std::string Whole;
    for (const ArgumentWord &W : C)
      Whole += W.Text + " ";
    Different.insert(std::move(Whole));
    if (!Most || C.size() > Most->size())
      Most = &C;
  }
  if (!Most) {
    Diags.report(Text.range(0, 0), diag::ImportSyntax,
                 ("it has no command with `" +
                  StringRef(textOfKey(Class, "starts")).split(',').first + "`")
                     .str());
    return false;
  }
  const size_t At = *argumentsAt(*Most);
  Start = (*Most)[At - 1].Range;
  if (Different.size() > 1)
    Diags.report(Start, diag::ImportSeveralCommands, (*Most)[At - 1].Text,
                 Different.size());
  Arguments = readOptions(ArrayRef(*Most).drop_front(At), Map, Diags);
  readClient(*Commands);
  return true;
}

/// Notes the release that a comment names, as exports write it.
void ServingImporter::readRelease(SourceText Text) {
  static const Regex Release("^# (vLLM|SGLang|TensorRT-LLM) ([0-9][0-9.]*)$",
                             Regex::Newline);
  SmallVector<StringRef, 3> Parts;
  if (Release.match(Text.str(), &Parts))
    Outer.push_back({{"release", Text.rangeOf(Parts[2])},
                     ForeignValue::of(Parts[2].str(), Text.rangeOf(Parts[2]))});
}

/// Adds the arguments of the YAML file that one of them names. Which of the two
/// wins depends on the engine.
bool ServingImporter::mergeFile() {
  const ForeignValue *Name = find("config");
  if (!Name)
    return true;
  const std::string Wanted = Name->Text;
  const std::optional<SourceText> File = openNamed(Wanted, Script, Request);
  if (!File) {
    Diags.report(Name->Range, diag::ImportFileMissing, Wanted);
    return true;
  }
  const std::optional<Members> Of = readOptionFile(*File, Map, Diags);
  if (!Of)
    return false;
  const bool FileWins = textOfKey(Class, "wins") == "file";
  for (const ForeignValue::Member &M : *Of)
    if (FileWins || !find(M.Key.Text))
      setMember(Arguments, M.Key, M.Is);
  return true;
}

bool ServingImporter::readInput() {
  const std::string &First = Request.Words.front();
  if (StringRef(First).contains(' ') && !sys::fs::exists(First))
    return readScript(Request.Sources.text(
               Request.Sources.add(First, "<arguments>"))) &&
           mergeFile();
  Script = Request.read(First);
  if (!Script)
    return false;
  readRelease(*Script);
  const StringRef Extension = path::extension(First);
  if (Extension != ".yaml" && Extension != ".yml")
    return readScript(*Script) && mergeFile();
  Start = Script->range(0, 0);
  std::optional<Members> Of = readOptionFile(*Script, Map, Diags);
  if (Of)
    Arguments = std::move(*Of);
  return Of.has_value();
}

/// Says that the job has no model, with the nearest ids of the library.
void ServingImporter::reportModel(const ForeignValue &Id) {
  std::vector<std::string> Ids;
  for (const LibraryModel &M : libraryModels())
    append_range(Ids, idsOf(M));
  DiagnosticBuilder D = Diags.report(
      Id.Range, diag::ImportDiffers,
      "`" + Id.Text +
          "` is not in the library, so the job has no model; give its "
          "config.json after the file, or import a model in the job");
  constexpr unsigned MostNames = 3;
  if (const auto Near = nearestWords(
          Id.Text, std::vector<StringRef>(Ids.begin(), Ids.end()), MostNames);
      !Near.empty())
    D.note(Id.Range, diag::DidYouMean, join(Near, "`, `"));
}

/// Returns the job with the model alone: that of the config.json after the
/// file, of the folder that the arguments name, or of the library.
std::optional<ImportedJob> ServingImporter::modelOf(Members &Facts) {
  ImportedJob None;
  None.Comments = {
      "The model is not in the library: add an `import` of its file."};
  const ForeignValue *Id = find("model");
  const bool IsFolder = Id && sys::fs::exists(Id->Text + "/config.json");
  if (const std::string *Config = IsFolder ? &Id->Text : Request.findConfig()) {
    std::optional<ImportedJob> Job = Request.importConfig(*Config);
    if (!Job)
      return std::nullopt;
    if (Job->Model.empty())
      Job->Model = modelNameOf(*Config);
    Facts = factsOf(*Job);
    return Job;
  }
  if (!Id) {
    Diags.report(Start, diag::ImportNoModel);
    return None;
  }
  if (Id->Is != ForeignValue::Kind::Text) {
    Diags.report(Id->Range, diag::ImportUnresolved, "model", Id->Text);
    return None;
  }
  const LibraryModel *M = Known.find(Id->Text);
  if (!M) {
    reportModel(*Id);
    return None;
  }
  ImportedJob Job;
  Job.Library = M->Title.str();
  Facts = factsOf(*M);
  Facts.push_back({{"type", Id->Range}, ForeignValue::of(Known.typeOf(*M))});
  if (!findNamedModel(Id->Text))
    Diags.report(Id->Range, diag::ImportDiffers,
                 "`" + Id->Text + "` is taken to have the layers of `" +
                     M->Title.str() +
                     "`, of which it is a variant by its name");
  return Job;
}

std::optional<ImportedJob> ServingImporter::import() {
  if (!readInput() || Diags.hasErrors())
    return std::nullopt;
  Members Facts;
  std::optional<ImportedJob> Job = modelOf(Facts);
  if (!Job)
    return std::nullopt;
  Outer.push_back(
      {{"served", Start}, ForeignValue::of(std::move(Facts), Start)});
  Outer.push_back({{"command", Start}, ForeignValue::of(true, Start)});
  const ForeignValue Around = ForeignValue::of(std::move(Outer), Start);
  const std::optional<ImportedJob> Serves =
      translate(Classes, Class, ForeignValue::of(std::move(Arguments), Start),
                Request, &Around);
  if (!Serves)
    return std::nullopt;
  Job->Requests = Serves->Requests;
  Job->Serve = Serves->Serve;
  Job->Parallel = Serves->Parallel;
  append_range(Job->Params, Serves->Params);
  append_range(Job->Comments, Serves->ModelComments);
  return Job;
}

std::optional<ImportedJob> importVllm(ImportRequest &Request) {
  return ServingImporter("vllm", Request).import();
}

std::optional<ImportedJob> importSglang(ImportRequest &Request) {
  return ServingImporter("sglang", Request).import();
}

std::optional<ImportedJob> importTensorRtLlm(ImportRequest &Request) {
  return ServingImporter("trtllm", Request).import();
}

} // namespace foretrace::importers
