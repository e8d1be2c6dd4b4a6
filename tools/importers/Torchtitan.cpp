// SPDX-License-Identifier: Apache-2.0
//
// Configurations of torchtitan: TOML, and since 2026 functions of a Python
// file, which are read but not run.
#include "lang/diagnostics/Import.h"
#include "tools/importers/Importers.h"
#include "tools/importers/Translation.h"
#include "tools/importers/readers/ReadPython.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"
#include <utility>

using namespace llvm;

namespace foretrace::importers {

namespace {

class TitanImporter {
public:
  TitanImporter(SourceText Text, ImportRequest &Request)
      : Text(Text),
        Classes("import/torchtitan", Request.Sources, Request.Diags),
        Request(Request), Diags(Request.Diags) {}

  std::optional<ImportedJob> import();

private:
  std::optional<ForeignValue> readFile();
  std::optional<ForeignValue> readFunctions();
  std::string familyOf(StringRef Function);
  const ast::Section *findModel(const ForeignValue &Job);
  ast::Word wordAt(const ForeignValue &Job, ArrayRef<StringRef> Path,
                   StringRef Otherwise);

  SourceText Text;
  Pages Classes;
  ImportRequest &Request;
  DiagnosticEngine &Diags;
};

} // namespace

/// Adds the ranks that a comment speaks of, as in "preset for 64 GPUs".
static ForeignValue withRanksOfComment(ForeignValue Root, SourceText Text) {
  const Regex Preset("^[ \t]*#.*[ (]([0-9]+) ([A-Z0-9]+ )?GPUs?");
  SmallVector<StringRef, 64> Lines;
  Text.str().split(Lines, '\n');
  for (StringRef Line : Lines) {
    SmallVector<StringRef, 3> Found;
    if (!Preset.match(Line, &Found))
      continue;
    std::vector<ForeignValue::Member> Members = *Root.Members;
    const SourceRange Range = Text.rangeOf(Found[1]);
    Members.push_back(
        {{"world_of_comment", Range}, readScalar(Found[1], Range)});
    return ForeignValue::of(std::move(Members), Root.Range);
  }
  return Root;
}

std::optional<ForeignValue> TitanImporter::readFile() {
  std::optional<ForeignValue> Root = readToml(Text, Diags);
  if (!Root)
    return std::nullopt;
  return withRanksOfComment(std::move(*Root), Text);
}

/// A job has these, whatever else a file computes.
static bool isConfiguration(const ForeignValue &V) {
  return V.find("training") && V.find("model_spec");
}

/// The family of models that the path or the name of a function names.
std::string TitanImporter::familyOf(StringRef Function) {
  const std::vector<std::string> Families = Classes.wordsOf("families");
  std::string Longest;
  const StringRef Path = Request.Words.front();
  for (StringRef Place : {Path, Function}) {
    for (StringRef Family : Families)
      if (Place.contains(Family) && Family.size() > Longest.size())
        Longest = Family.str();
    if (!Longest.empty())
      break;
  }
  return Longest;
}

/// The names of the calls in a list, instead of the calls.
static ForeignValue namesOfCalls(const ForeignValue &Converters) {
  if (Converters.Is != ForeignValue::Kind::List)
    return Converters;
  std::vector<ForeignValue> Names;
  for (const ForeignValue &Each : *Converters.Elements) {
    const ForeignValue *Called = Each.find("call");
    Names.push_back(Called ? ForeignValue::of(Called->Text, Each.Range) : Each);
  }
  return ForeignValue::of(std::move(Names), Converters.Range);
}

std::optional<ForeignValue> TitanImporter::readFunctions() {
  const std::vector<PythonFunction> All = readPython(Text);
  const PythonFunction *Chosen =
      chooseFunction(All, Request.Words.size() > 1 ? Request.Words[1] : "",
                     isConfiguration, "torchtitan", Text, Diags);
  if (!Chosen)
    return std::nullopt;
  const SourceRange Where = Chosen->Name.Range;
  std::vector<ForeignValue::Member> Members;
  ForeignValue Flavor = ForeignValue::of(std::string("debugmodel"), Where);
  for (const ForeignValue::Member &M : *Chosen->Returned.Members) {
    Members.push_back(M);
    if (M.Key.Text != "model_spec" || M.Is.Is != ForeignValue::Kind::Map)
      continue;
    std::vector<ForeignValue::Member> Spec;
    for (const ForeignValue::Member &Of : *M.Is.Members) {
      Spec.push_back({Of.Key, namesOfCalls(Of.Is)});
      if (Of.Key.Text == "arg0" || Of.Key.Text == "flavor")
        Flavor = Of.Is;
    }
    Members.back().Is = ForeignValue::of(std::move(Spec), M.Is.Range);
  }
  const std::string Family = familyOf(Chosen->Name.Text);
  Members.push_back({{"is_python", Where}, ForeignValue::of(true, Where)});
  Members.push_back(
      {{"model", Where},
       ForeignValue::of(
           {ForeignValue::Member{{"name", Where},
                                 ForeignValue::of(Family, Where)},
            ForeignValue::Member{{"flavor", Where}, std::move(Flavor)}},
           Where)});
  return ForeignValue::of(std::move(Members), Where);
}

ast::Word TitanImporter::wordAt(const ForeignValue &Job,
                                ArrayRef<StringRef> Path, StringRef Otherwise) {
  const ForeignValue *V = &Job;
  for (StringRef Key : Path)
    V = V ? V->find(Key) : nullptr;
  return V && V->Is == ForeignValue::Kind::Text
             ? ast::Word{V->Text, V->Range}
             : ast::Word{Otherwise.str(), Job.Range.atStart()};
}

/// The class of the model and its flavor.
const ast::Section *TitanImporter::findModel(const ForeignValue &Job) {
  const ast::Word Family = wordAt(Job, {"model", "name"}, "llama3");
  const ast::Word Flavor = wordAt(Job, {"model", "flavor"}, "debugmodel");
  if (const ast::Section *Class = Classes.findBy("families", Family.Text))
    if (const StringRef Why = textOfKey(*Class, "refused"); !Why.empty()) {
      Diags.report(Family.Range, diag::ImportRefused, Why);
      return nullptr;
    }
  if (const ast::Section *Class =
          Classes.findBy("flavors", Family.Text + "/" + Flavor.Text))
    return Class;
  std::vector<std::string> Known;
  const bool IsKnown = Classes.findBy("families", Family.Text) != nullptr;
  for (const std::string &Each : Classes.wordsOf("flavors")) {
    const auto [OfFamily, Name] = StringRef(Each).split('/');
    const StringRef Shown = IsKnown ? Name : OfFamily;
    if ((!IsKnown || OfFamily == Family.Text) && !is_contained(Known, Shown))
      Known.push_back(Shown.str());
  }
  Diags.report(IsKnown ? Flavor.Range : Family.Range, diag::ImportUnknownFlavor,
               IsKnown ? Flavor.Text : Family.Text, join(Known, ", "));
  return nullptr;
}

std::optional<ImportedJob> TitanImporter::import() {
  const StringRef Path = Request.Words.front();
  const std::optional<ForeignValue> Root =
      sys::path::extension(Path) == ".py" ? readFunctions() : readFile();
  const ast::Section *Class = Root ? findModel(*Root) : nullptr;
  if (!Class)
    return std::nullopt;
  std::optional<ImportedJob> Job = translate(Classes, *Class, *Root, Request);
  if (!Job)
    return std::nullopt;
  Job->Model = Class->Label.Text;
  Job->Comments = {"A job of torchtitan."};
  append_range(Job->Comments, std::exchange(Job->ModelComments, {}));
  return Job;
}

std::optional<ImportedJob> importTorchtitan(ImportRequest &Request) {
  const std::optional<SourceText> Text = Request.read(Request.Words.front());
  return Text ? TitanImporter(*Text, Request).import() : std::nullopt;
}

} // namespace foretrace::importers
