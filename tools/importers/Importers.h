// SPDX-License-Identifier: Apache-2.0
//
// The formats of other tools that can be imported, a row each.
#pragma once

#include "lang/Diagnostic.h"
#include "lang/SourceFiles.h"
#include "tools/importers/ImportedJob.h"

namespace foretrace::importers {

/// The input of an import, with its diagnostics and the counts of its keys.
struct ImportRequest {
  /// The words after the name of the format: files, or arguments.
  llvm::ArrayRef<std::string> Words;
  SourceFiles &Sources;
  DiagnosticEngine &Diags;
  KeyCounts Counts = {};
  /// Patches of images in a sample; without them a vision tower is left out.
  std::optional<int64_t> Patches = {};
  /// A file of DeepSpeed is imported, too, and decides.
  bool HasDeepSpeedFile = false;

  /// Reads the file \p Path; reports one that can't be read.
  std::optional<SourceText> read(llvm::StringRef Path);
  /// Imports the `config.json`, or the folder that has one, at \p Path as the
  /// model of the job. Nothing after an error.
  std::optional<ImportedJob> importConfig(const std::string &Path);
  /// Returns the word after the first that is such a path; null if none is.
  const std::string *findConfig() const;
};

struct Importer {
  llvm::StringLiteral Name;    ///< "hf"
  llvm::StringLiteral Takes;   ///< "config.json, or the folder that has one"
  llvm::StringLiteral Example; ///< what follows the name, "config.json"
  /// Makes the job. Nothing after an error.
  std::optional<ImportedJob> (*Import)(ImportRequest &);
};

/// All of them, in the order of the documentation.
llvm::ArrayRef<Importer> importers();
/// Returns a line for each, with an example.
std::string exampleLines();
/// Returns null if there is none of this name.
const Importer *findImporter(llvm::StringRef Name);

/// Imports the file \p Path, of which the model has its name. Nothing after an
/// error.
std::optional<ImportedJob> importFile(llvm::StringRef Format,
                                      llvm::StringRef Path,
                                      SourceFiles &Sources,
                                      DiagnosticEngine &Diags);

/// Makes `.fore` text with the model \p Name of a configuration of Hugging
/// Face. Nothing after an error.
std::optional<std::string> importModel(FileId File, llvm::StringRef Name,
                                       SourceFiles &Sources,
                                       DiagnosticEngine &Diags);

// The functions of the rows.
std::optional<ImportedJob> importHuggingFace(ImportRequest &Request);
std::optional<ImportedJob> importAicb(ImportRequest &Request);
std::optional<ImportedJob> importDeepSpeed(ImportRequest &Request);
std::optional<ImportedJob> importTorchtitan(ImportRequest &Request);
std::optional<ImportedJob> importSimuMax(ImportRequest &Request);
std::optional<ImportedJob> importCalculon(ImportRequest &Request);
std::optional<ImportedJob> importVllm(ImportRequest &Request);
std::optional<ImportedJob> importSglang(ImportRequest &Request);
std::optional<ImportedJob> importTensorRtLlm(ImportRequest &Request);

std::optional<ImportedJob> importMegatron(ImportRequest &Request);

/// The index of a checkpoint of Hugging Face, model.safetensors.index.json: the
/// size of all weights, and their names.
struct CheckpointIndex {
  SourceRange At;     ///< its start
  int64_t Parameters; ///< of all weights
  /// Starts of names, up to a layer's number, of weights that are not in the
  /// layers of the text model: `vision_tower.`, `model.layers.61.`.
  std::vector<std::string> Others;
};

/// Reads the index beside the configuration \p Config, whose text model has
/// \p Layers layers. Nothing if there is none, or if it does not say how many
/// parameters the weights have, as with weights of several types.
std::optional<CheckpointIndex> readCheckpointIndex(llvm::StringRef Config,
                                                   size_t Layers,
                                                   ImportRequest &Request);

} // namespace foretrace::importers
