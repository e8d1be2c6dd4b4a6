// SPDX-License-Identifier: Apache-2.0
#include "tools/importers/Importers.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace foretrace::importers {

std::optional<SourceText> ImportRequest::read(StringRef Path) {
  const ErrorOr<FileId> File = Sources.openOrStdin(Path);
  if (File)
    return Sources.text(*File);
  Diags.report({}, diag::FileUnreadable, Path, File.getError().message());
  return std::nullopt;
}

const std::string *ImportRequest::findConfig() const {
  const auto *Found = find_if(drop_begin(Words), [](StringRef W) {
    return W.ends_with(".json") || sys::fs::is_directory(W);
  });
  return Found == Words.end() ? nullptr : Found;
}

std::optional<ImportedJob>
ImportRequest::importConfig(const std::string &Path) {
  ImportRequest Model{ArrayRef(Path), Sources, Diags};
  std::optional<ImportedJob> Job = importHuggingFace(Model);
  Counts += Model.Counts;
  return Job;
}

ArrayRef<Importer> importers() {
  static constexpr Importer All[] = {
      {"hf", "`config.json` of Hugging Face, or the folder that has one",
       "config.json", importHuggingFace},
      {"megatron",
       "arguments of Megatron-LM after `--`, or a file with them: a list, a "
       "script, YAML, a recipe, a log",
       "-- --num-layers 32 ...", importMegatron},
      {"aicb", "a command of AICB in quotes, or a file with it",
       "'sh scripts/megatron_gpt.sh -m 7 ...'", importAicb},
      {"deepspeed",
       "`ds_config.json` of DeepSpeed; then what `import megatron` takes",
       "ds_config.json", importDeepSpeed},
      {"torchtitan",
       "a TOML file of torchtitan, or a Python file and a function",
       "llama3_8b.toml", importTorchtitan},
      {"simumax", "JSON files of SimuMax, of a model and of a strategy",
       "model.json strategy.json", importSimuMax},
      {"calculon",
       "JSON files of Calculon, of an application and of an execution",
       "application.json execution.json", importCalculon},
      {"vllm",
       "a command of vLLM in quotes, or a script or YAML with its "
       "arguments",
       "'vllm serve Qwen/Qwen3-8B'", importVllm},
      {"sglang", "the same of SGLang", "serve.sh", importSglang},
      {"trtllm", "the same of TensorRT-LLM", "serve.sh", importTensorRtLlm},
  };
  return All;
}

const Importer *findImporter(StringRef Name) {
  const ArrayRef<Importer> All = importers();
  const auto *Found =
      find_if(All, [&](const Importer &I) { return I.Name == Name; });
  return Found == All.end() ? nullptr : Found;
}

std::string exampleLines() {
  std::string Lines;
  for (const Importer &I : importers())
    Lines += "\n  foretrace import " + I.Name.str() + " " + I.Example.str() +
             "  (" + I.Takes.str() + ")";
  return Lines;
}

std::optional<ImportedJob> importFile(StringRef Format, StringRef Path,
                                      SourceFiles &Sources,
                                      DiagnosticEngine &Diags) {
  const std::vector<std::string> Words = {Path.str()};
  ImportRequest Request{Words, Sources, Diags};
  std::optional<ImportedJob> Job = findImporter(Format)->Import(Request);
  if (Job && Job->Model.empty())
    Job->Model = modelNameOf(Path);
  return Job;
}

} // namespace foretrace::importers
