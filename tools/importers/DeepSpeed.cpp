// SPDX-License-Identifier: Apache-2.0
//
// `ds_config.json` of DeepSpeed, alone or with the arguments of a program of
// Megatron-LM.
#include "lang/diagnostics/Import.h"
#include "tools/importers/Importers.h"
#include "tools/importers/Translation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::importers {

namespace {

/// Replaces values that the file leaves open by null: those that another
/// program fills in, and words of a template.
class OpenValues {
public:
  explicit OpenValues(const SourceFiles &Sources) : Sources(Sources) {}

  ForeignValue close(const ForeignValue &V, const std::string &Path);
  void report(DiagnosticEngine &Diags) const;

private:
  struct Open {
    std::string Name; ///< its key, or the word itself
    SourceRange Range;
  };
  const SourceFiles &Sources;
  std::vector<Open> Automatic, Placeholders;
};

} // namespace

ForeignValue OpenValues::close(const ForeignValue &V, const std::string &Path) {
  if (V.Is == ForeignValue::Kind::Map) {
    std::vector<ForeignValue::Member> Members;
    for (const ForeignValue::Member &M : *V.Members)
      Members.push_back(
          {M.Key,
           close(M.Is, Path.empty() ? M.Key.Text : Path + "." + M.Key.Text)});
    return ForeignValue::of(std::move(Members), V.Range);
  }
  const bool IsPlaceholder = V.Is == ForeignValue::Kind::Text &&
                             (V.IsBare || StringRef(V.Text).starts_with("${"));
  if (!IsPlaceholder && (V.Is != ForeignValue::Kind::Text || V.Text != "auto"))
    return V;
  if (IsPlaceholder)
    Placeholders.push_back(
        {Sources.slice(V.Range).trim(" \t\r\n\"").str(), V.Range});
  else
    Automatic.push_back({Path, V.Range});
  return ForeignValue::null(V.Range);
}

void OpenValues::report(DiagnosticEngine &Diags) const {
  const auto Names = [](ArrayRef<Open> All) {
    std::vector<std::string> Each;
    for (const Open &O : All)
      if (!is_contained(Each, O.Name))
        Each.push_back(O.Name);
    return join(Each, ", ");
  };
  if (!Automatic.empty())
    Diags.report(Automatic.front().Range, diag::ImportAutomatic,
                 Names(Automatic));
  if (!Placeholders.empty())
    Diags.report(Placeholders.front().Range, diag::ImportPlaceholder,
                 Names(Placeholders));
}

/// The text with a word of the same length for each variable of a shell.
static std::string withoutVariables(StringRef Text) {
  std::string Json = Text.str();
  for (size_t At = 0; (At = Json.find("${", At)) != std::string::npos; ++At) {
    const size_t End = Json.find_first_of("}\"\n", At);
    if (End == std::string::npos || Json[End] != '}' ||
        (At > 0 && Json[At - 1] == '"'))
      continue;
    Json[At] = Json[At + 1] = Json[End] = '_';
  }
  return Json;
}

/// Sets the keys of \p From in \p To. What must be asked for, or follows from
/// what is, counts only where \p To has nothing.
static void overlay(SectionText &To, const SectionText &From,
                    ImportedJob &Whole) {
  for (const WrittenKey &K : From.Keys) {
    const bool IsKnown =
        all_of(K.Text, [](char C) { return isAlnum(C) || C == '_'; }) &&
        K.Text != K.Key;
    if (!IsKnown && To.find(K.Key))
      continue;
    To.set(K.Key, K.Text);
    if (K.Text == K.Key && !is_contained(Whole.Params, K.Key))
      Whole.Params.push_back(K.Key);
    else if (IsKnown)
      llvm::erase(Whole.Params, K.Key);
  }
}

/// The job of a program of Megatron-LM that runs with DeepSpeed, whose file
/// decides what both do.
static std::optional<ImportedJob> joinProgram(const ImportedJob &Settings,
                                              ImportRequest &Request) {
  ImportRequest Program{Request.Words.drop_front(), Request.Sources,
                        Request.Diags};
  Program.HasDeepSpeedFile = true;
  std::optional<ImportedJob> Job = importMegatron(Program);
  if (!Job)
    return std::nullopt;
  overlay(Job->Train, Settings.Train, *Job);
  overlay(Job->Parallel, Settings.Parallel, *Job);
  Request.Counts += Program.Counts;
  return Job;
}

std::optional<ImportedJob> importDeepSpeed(ImportRequest &Request) {
  const std::optional<SourceText> Text = Request.read(Request.Words.front());
  if (!Text)
    return std::nullopt;
  const std::string Json = withoutVariables(Text->str());
  const std::optional<ForeignValue> Read =
      readYaml(SourceText(Text->range().File, Json), Request.Diags);
  if (!Read)
    return std::nullopt;
  OpenValues Open(Request.Sources);
  const ForeignValue Root = Open.close(*Read, "");
  Open.report(Request.Diags);
  Pages Classes("import/deepspeed.fore", Request.Sources, Request.Diags);
  std::optional<ImportedJob> Job =
      translate(Classes, *Classes.findClass("deepspeed"), Root, Request);
  if (Job && Request.Words.size() > 1)
    return joinProgram(*Job, Request);
  if (Job)
    Job->Comments = std::move(Job->ModelComments);
  return Job;
}

} // namespace foretrace::importers
