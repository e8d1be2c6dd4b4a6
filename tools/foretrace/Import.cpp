// SPDX-License-Identifier: Apache-2.0
//
// `foretrace import`: a model or a job from the files of another tool.
#include "lang/diagnostics/Import.h"
#include "tools/compiler/CompareCheckpoint.h"
#include "tools/foretrace/Emit.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Messages.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace {

static cl::opt<std::string> From(cl::Positional, cl::desc("<format>"),
                                 jobOption(importCommand()));
static cl::list<std::string> ForeignWords(cl::Positional,
                                          cl::desc("<file or arguments>..."),
                                          jobOption(importCommand()));
static cl::opt<std::string> ModelName(
    "name", cl::value_desc("name"),
    cl::desc("Name of the model (default: that of the file, or of its "
             "folder if the file is config.json)"),
    jobOption(importCommand()));
static cl::opt<int64_t>
    Patches("patches", cl::value_desc("n"), cl::init(0),
            cl::desc("Include the vision tower of a configuration of Hugging "
                     "Face, for n patches in a sample"),
            jobOption(importCommand()));
static cl::opt<bool>
    IsStrict("strict",
             cl::desc("Treat keys that are unknown or not modelled as errors"),
             jobOption(importCommand()));
static cl::opt<std::string>
    ImportOutput("o", cl::value_desc("file.fore"), cl::init("-"),
                 cl::desc("Output file (default: standard output)"),
                 outputOption(importCommand()));

static std::string nameOf(StringRef Path) {
  return ModelName.empty() ? importers::modelNameOf(Path) : ModelName;
}

ExitCode runImport() {
  const importers::Importer *Format = importers::findImporter(From);
  if (!Format || ForeignWords.empty())
    return usageError((From.empty() || Format
                           ? "import: expected a format and what to import:"
                           : "import: `" + From +
                                 "` is not a format; expected "
                                 "one of these and what to import:") +
                      importers::exampleLines());
  if (Patches.getNumOccurrences() > 0 && (Patches <= 0 || Format->Name != "hf"))
    return usageError("import: --patches takes a positive number, with the "
                      "format `hf`");
  SourceFiles Sources;
  DiagnosticEngine Diags = makeEngine();
  if (IsStrict)
    for (const diag::Id Id : {diag::ImportNotModelled, diag::ImportUnknownKey,
                              diag::ImportUnknownOff})
      Diags.refuse(Id);
  if (!hasFolder(ImportOutput, Diags))
    return showMessages(Diags, Sources);
  const std::vector<std::string> Words(ForeignWords.begin(),
                                       ForeignWords.end());
  importers::ImportRequest Request{Words, Sources, Diags};
  if (Patches.getNumOccurrences() > 0)
    Request.Patches = Patches;
  std::optional<importers::ImportedJob> Job = Format->Import(Request);
  if (Job && Job->Model.empty())
    Job->Model = nameOf(Words.front());
  if (Job && Format->Name == "hf" && !Diags.hasErrors())
    compareCheckpoint(*Job, Request);
  if (const ExitCode Code = showMessages(Diags, Sources))
    return Code;
  if (!ModelName.empty())
    Job->Model = nameOf(Words.front());
  InputFiles Inputs;
  Inputs.add(Sources);
  if (Error E = writeFile(ImportOutput, outputOptions(), std::move(Inputs),
                          [&](raw_ostream &OS) { Job->write(OS); }))
    return failure(std::move(E));
  if (!isQuiet())
    errs() << Request.Counts.text() << '\n'
           << join(Job->Notes, "\n") << (Job->Notes.empty() ? "" : "\n");
  return ExitSuccess;
}

} // namespace foretrace
