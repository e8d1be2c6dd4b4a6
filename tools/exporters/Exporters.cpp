// SPDX-License-Identifier: Apache-2.0
#include "tools/exporters/Exporters.h"
#include "lang/diagnostics/Import.h"
#include "lang/diagnostics/Lang.h"
#include "tools/exporters/JobValue.h"
#include "tools/importers/Translation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using foretrace::importers::ForeignValue;

namespace foretrace::exporters {

ArrayRef<Exporter> exporters() {
  static constexpr Exporter All[] = {
      {"megatron", "arguments of Megatron-LM", Exporter::Training},
      {"bridge", "recipe of Megatron-Bridge", Exporter::Training},
      {"hf", "`config.json` of Hugging Face", Exporter::Model},
      {"torchtitan", "TOML of torchtitan", Exporter::Training},
      {"deepspeed", "`ds_config.json` of DeepSpeed", Exporter::Training},
      {"aicb", "arguments of AICB", Exporter::Training},
      {"vllm", "commands of vLLM, of a job that serves", Exporter::Serving},
      {"sglang", "commands of SGLang", Exporter::Serving},
      {"trtllm", "commands and YAML of TensorRT-LLM", Exporter::Serving},
  };
  return All;
}

const Exporter *findExporter(StringRef Name) {
  const ArrayRef<Exporter> All = exporters();
  const auto *Found =
      find_if(All, [&](const Exporter &E) { return E.Name == Name; });
  return Found == All.end() ? nullptr : Found;
}

namespace {

/// Evaluates a page for a job.
class PageEvaluator {
public:
  PageEvaluator(const Mapping &Page, const ForeignValue &Job,
                DiagnosticEngine &Diags)
      : Page(Page), Job(Job), Formulas(Page, Job, nullptr, Diags),
        Diags(Diags) {
    Formulas.allowMissing();
  }

  void run();
  bool holds(const ast::Expr &E) { return Formulas.holds(E).value_or(false); }

  /// Sections `arguments`, and `dashed`, whose names have `-` for `_`.
  std::vector<ForeignValue::Member> Arguments;
  std::vector<ForeignValue::Member> File;   ///< section `file`
  std::vector<ForeignValue::Member> Client; ///< section `client`, dashed
  std::string Command;                      ///< that has the arguments
  std::string ClientCommand;                ///< that has those of `client`
  std::string Before, After;                ///< lines around the file
  std::string Syntax;                       ///< of the file, if not JSON
  std::string FileName; ///< by which the command reads the file

private:
  void top(const ast::Entry &E);
  void fill(std::vector<ForeignValue::Member> &To, ArrayRef<ast::Entry> All);

  const Mapping &Page;
  const ForeignValue &Job;
  importers::FormulaEvaluator Formulas;
  DiagnosticEngine &Diags;
};

} // namespace

void PageEvaluator::fill(std::vector<ForeignValue::Member> &To,
                         ArrayRef<ast::Entry> All) {
  for (const ast::Entry &E : All) {
    if (const auto *I = std::get_if<ast::If>(&E.Node)) {
      fill(To, Formulas.choose(*I));
    } else if (const ast::Section *S = foretrace::sectionOf(E)) {
      std::vector<ForeignValue::Member> Members;
      fill(Members, S->Entries);
      if (!Members.empty())
        To.push_back({S->Keyword, ForeignValue::of(std::move(Members))});
    } else if (const auto *A = std::get_if<ast::Assignment>(&E.Node)) {
      ForeignValue V = Formulas.evaluate(*A->Value);
      if (!V.isMissing())
        To.push_back({A->Key, std::move(V)});
    }
  }
}

void PageEvaluator::top(const ast::Entry &E) {
  if (const auto *R = std::get_if<ast::Require>(&E.Node)) {
    const std::optional<bool> Holds = Formulas.holds(*R->Condition);
    if (Holds && !*Holds)
      Diags.report(Formulas.origin().isValid() ? Formulas.origin() : Job.Range,
                   diag::ExportRefused,
                   Formulas.interpolate(textOf(*R->Message)));
  } else if (const auto *I = std::get_if<ast::If>(&E.Node)) {
    for (const ast::Entry &In : Formulas.choose(*I))
      top(In);
  } else if (const auto *A = std::get_if<ast::Assignment>(&E.Node)) {
    if (A->Key.Text == "warn")
      Diags.report(Job.Range, diag::ExportDiffers,
                   Formulas.interpolate(textOf(*A->Value)));
    std::string *To = StringSwitch<std::string *>(A->Key.Text)
                          .Case("command", &Command)
                          .Case("client_command", &ClientCommand)
                          .Case("before", &Before)
                          .Case("after", &After)
                          .Case("syntax", &Syntax)
                          .Case("file_name", &FileName)
                          .Default(nullptr);
    if (!To)
      return;
    *To += Formulas.interpolate(textOf(*A->Value));
    if (To == &Before || To == &After)
      *To += '\n';
  } else if (const ast::Section *S = foretrace::sectionOf(E)) {
    const StringRef Name = S->Keyword.Text;
    std::vector<ForeignValue::Member> &To = Name == "file"     ? File
                                            : Name == "client" ? Client
                                                               : Arguments;
    const size_t First = To.size();
    fill(To, S->Entries);
    if (Name == "dashed" || Name == "client")
      for (ForeignValue::Member &M : MutableArrayRef(To).drop_front(First))
        std::replace(M.Key.Text.begin(), M.Key.Text.end(), '_', '-');
  }
}

void PageEvaluator::run() {
  for (const ast::Entry *E : Page.entries())
    top(*E);
}

/// A word of a command line; in quotes if the shell would split it.
static std::string quoted(const std::string &Word) {
  constexpr StringLiteral Plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQR"
                                  "STUVWXYZ0123456789-_=+./:,@%";
  return StringRef(Word).find_first_not_of(Plain) == StringRef::npos
             ? Word
             : "'" + Word + "'";
}

/// A command with `--num-layers 32`, or the name alone of a flag; one option a
/// line.
static void writeCommand(StringRef Command,
                         ArrayRef<ForeignValue::Member> Arguments,
                         raw_ostream &OS) {
  OS << Command;
  for (const ForeignValue::Member &M : Arguments) {
    if (M.Is.Is == ForeignValue::Kind::Boolean && !M.Is.Truth)
      continue;
    OS << " \\\n  --" << M.Key.Text;
    if (M.Is.Is == ForeignValue::Kind::List)
      for (const ForeignValue &V : *M.Is.Elements)
        OS << ' ' << quoted(StringRef(V.print()).trim('"').str());
    else if (M.Is.Is != ForeignValue::Kind::Boolean)
      OS << ' ' << quoted(StringRef(M.Is.print()).trim('"').str());
  }
  OS << '\n';
}

static json::Value toJson(const ForeignValue &V) {
  switch (V.Is) {
  case ForeignValue::Kind::Missing:
  case ForeignValue::Kind::Null:
    return nullptr;
  case ForeignValue::Kind::Boolean:
    return V.Truth;
  case ForeignValue::Kind::Integer:
    return V.Integer;
  case ForeignValue::Kind::Real:
    return V.Real;
  case ForeignValue::Kind::Text:
    return V.Text;
  case ForeignValue::Kind::List: {
    json::Array All;
    for (const ForeignValue &E : *V.Elements)
      All.push_back(toJson(E));
    return All;
  }
  case ForeignValue::Kind::Map:
    break;
  }
  json::Object All;
  for (const ForeignValue::Member &M : *V.Members)
    All[M.Key.Text] = toJson(M.Is);
  return All;
}

/// Writes members in their own order, which json::Object does not keep.
static void writeMembers(ArrayRef<ForeignValue::Member> Members,
                         json::OStream &J) {
  J.object([&] {
    for (const ForeignValue::Member &M : Members)
      if (M.Is.Is == ForeignValue::Kind::Map)
        J.attributeBegin(M.Key.Text), writeMembers(*M.Is.Members, J),
            J.attributeEnd();
      else
        J.attribute(M.Key.Text, toJson(M.Is));
  });
}

/// Writes TOML: a table for each section.
static void writeToml(ArrayRef<ForeignValue::Member> Sections,
                      raw_ostream &OS) {
  for (const ForeignValue::Member &S : Sections) {
    OS << (&S == Sections.begin() ? "" : "\n") << '[' << S.Key.Text << "]\n";
    for (const ForeignValue::Member &M : *S.Is.Members) {
      OS << M.Key.Text << " = ";
      if (M.Is.Is == ForeignValue::Kind::Text)
        OS << '"' << M.Is.Text << "\"\n";
      else
        OS << M.Is.print() << '\n';
    }
  }
}

static std::string toPython(const ForeignValue &V) {
  switch (V.Is) {
  case ForeignValue::Kind::Boolean:
    return V.Truth ? "True" : "False";
  case ForeignValue::Kind::Text:
    return V.IsFormula ? V.Text : "\"" + V.Text + "\"";
  case ForeignValue::Kind::List:
    return "[" + join(map_range(*V.Elements, toPython), ", ") + "]";
  default:
    return V.print();
  }
}

/// Writes assignments to the attributes of \p Path.
static void writePython(ArrayRef<ForeignValue::Member> Members,
                        const Twine &Path, raw_ostream &OS) {
  for (const ForeignValue::Member &M : Members)
    if (M.Is.Is == ForeignValue::Kind::Map)
      writePython(*M.Is.Members, Path + M.Key.Text + ".", OS);
    else
      OS << Path << M.Key.Text << " = " << toPython(M.Is) << '\n';
}

/// Writes YAML, a line for each scalar.
static void writeYaml(ArrayRef<ForeignValue::Member> Members, unsigned Indent,
                      raw_ostream &OS) {
  for (const ForeignValue::Member &M : Members) {
    OS.indent(Indent) << M.Key.Text << ':';
    if (M.Is.Is == ForeignValue::Kind::Map) {
      OS << '\n';
      writeYaml(*M.Is.Members, Indent + 2, OS);
    } else {
      OS << ' ' << StringRef(M.Is.print()).trim('"') << '\n';
    }
  }
}

/// Writes what a page made of a job, in the syntax that it names.
static void writeFile(StringRef Syntax, ArrayRef<ForeignValue::Member> Members,
                      raw_ostream &OS) {
  if (Syntax == "toml") {
    writeToml(Members, OS);
  } else if (Syntax == "yaml") {
    writeYaml(Members, 0, OS);
  } else if (Syntax == "python") {
    writePython(Members, "    ", OS);
  } else if (!Members.empty()) {
    json::OStream J(OS, /*IndentSize=*/2);
    writeMembers(Members, J);
    OS << '\n';
  }
}

/// The class of the page \p Own for the job: the first whose conditions hold,
/// or the last.
static const ast::Section *chooseClass(Pages &Own, Pages &All,
                                       const ForeignValue &Job,
                                       DiagnosticEngine &Diags) {
  const ast::Section *Only = nullptr;
  for (const ast::Section *Class : Own.classes()) {
    const auto When = find_if(Class->Entries, [](const ast::Entry &E) {
      const auto *A = std::get_if<ast::Assignment>(&E.Node);
      return A && A->Key.Text == "selected_if";
    });
    Only = Class;
    if (When == Class->Entries.end())
      continue;
    const Mapping Page(All, *Class);
    if (PageEvaluator(Page, Job, Diags)
            .holds(*std::get<ast::Assignment>(When->Node).Value))
      return Class;
  }
  return Only;
}

/// The formulas of a page read a list with a value for each layer.
static constexpr int64_t MaxLayers = int64_t(1) << 13;

/// Reports a job of the other kind than the format describes.
static bool checkKind(const Exporter &To, const ir::Spec &S,
                      DiagnosticEngine &Diags) {
  const bool Serves = To.Of == Exporter::Serving;
  if (To.isOfModel() || Serves == S.Serve.has_value())
    return true;
  Diags.report(
      S.Serve ? S.Serve->Range : S.Parallel.World.Range, diag::ExportRefused,
      (To.Name + " describes jobs that " +
       (Serves ? "serve, and this one trains" : "train, and this one serves"))
          .str());
  return false;
}

std::optional<std::string> exportJob(const Exporter &To, const ir::Spec &S,
                                     SourceFiles &Sources,
                                     DiagnosticEngine &Diags) {
  if (const int64_t Layers = S.Model.layerCount(); Layers > MaxLayers) {
    Diags.report(S.Model.LayersRange, diag::LayerLimit, Layers, MaxLayers);
    return std::nullopt;
  }
  if (!checkKind(To, S, Diags))
    return std::nullopt;
  const ForeignValue Job = valueOf(S, Sources, Diags);
  const std::string Path = ("export/" + To.Name + ".fore").str();
  Pages Own(Path, Sources, Diags), All("export/", Sources, Diags);
  const ast::Section *Class = chooseClass(Own, All, Job, Diags);
  const Mapping Page(All, *Class);
  PageEvaluator Made(Page, Job, Diags);
  Made.run();
  if (Diags.hasErrors())
    return std::nullopt;
  std::string Text;
  raw_string_ostream OS(Text);
  OS << Made.Before;
  const bool IsRead = !Made.FileName.empty() && !Made.File.empty();
  if (IsRead)
    OS << "cat > " << Made.FileName << " << EOF\n";
  if (Made.Command.empty() || IsRead)
    writeFile(Made.Syntax, Made.File, OS);
  if (IsRead)
    OS << "EOF\n";
  if (!Made.Command.empty())
    writeCommand(Made.Command, Made.Arguments, OS);
  if (!Made.ClientCommand.empty())
    writeCommand(Made.ClientCommand, Made.Client,
                 OS << "\n# What arrives, from another shell:\n");
  OS << Made.After;
  return Text;
}

std::string exampleLines() {
  std::string Lines;
  for (const Exporter &E : exporters())
    Lines += "\n  foretrace export " + E.Name.str() + " job.fore  (" +
             E.Makes.str() + ")";
  return Lines;
}

} // namespace foretrace::exporters
