// SPDX-License-Identifier: Apache-2.0
//
// The shipped models and clusters, which are part of the program.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace foretrace {

/// Name of the library's folder in messages.
constexpr char LibraryFolder[] = "<library>";

/// Literals, since they know their length: counting characters in a constant
/// expression is bounded, and a library has no bound.
struct LibraryFile {
  llvm::StringLiteral Path; ///< as a job imports it, `models/llama3-8b.fore`
  llvm::StringLiteral Text;
};

/// A model of a page of the library, which has those of a family. A job imports
/// the page for it by the name of the model, `models/llama3.1-8b.fore`.
struct LibraryModel {
  llvm::StringLiteral Title;  ///< `llama3.1-8b`
  llvm::StringLiteral Name;   ///< as the page declares it, `llama3_1_8b`
  llvm::StringLiteral Page;   ///< its path, `models/llama3.fore`
  llvm::StringLiteral Source; ///< where its numbers are from
};

/// All files, by path.
llvm::ArrayRef<LibraryFile> libraryFiles();
/// All models, by page.
llvm::ArrayRef<LibraryModel> libraryModels();
/// Returns the model that an import of \p Path means, null if there is none.
/// Its name can have any separators, and between letters and digits none.
const LibraryModel *findLibraryModel(llvm::StringRef Path);

/// Returns the repositories at Hugging Face whose `config.json` is the source
/// of \p M, and of all of it: `Qwen/Qwen3-8B`.
std::vector<std::string> idsOf(const LibraryModel &M);
/// Returns the model that has the name or the id \p Name, in any case, or that
/// an import of this path means. Null if there is none.
const LibraryModel *findNamedModel(llvm::StringRef Name);

} // namespace foretrace
