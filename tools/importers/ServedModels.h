// SPDX-License-Identifier: Apache-2.0
//
// Models as serving engines name them, by their ids at Hugging Face.
#pragma once

#include "lang/Library.h"
#include "tools/importers/Importers.h"

namespace foretrace::importers {

/// The page of checkpoints, lang/import/serving/checkpoints.fore.
class Checkpoints {
public:
  Checkpoints(SourceFiles &Sources, DiagnosticEngine &Diags);

  /// Returns the model whose layers the checkpoint \p Id has: that of the id,
  /// or of one that differs from it by words such as `Instruct`, and by the
  /// organization. Null if there is none.
  const LibraryModel *find(llvm::StringRef Id) const;
  /// Returns the type in which the weights of \p M are published, if that is
  /// not the one of its activations; else an empty text.
  std::string typeOf(const LibraryModel &M) const;

private:
  std::string plainName(llvm::StringRef Id) const;

  Pages Classes;
  const ast::Section &Page;
};

/// Returns what of the layers of a model decides how an engine serves it:
/// `layers`, their number; `has_experts`; `mixers`, a list of their kinds; and
/// `positions`, if the model has a longest sequence.
std::vector<ForeignValue::Member> factsOf(const LibraryModel &M);
std::vector<ForeignValue::Member> factsOf(const ImportedJob &Job);

} // namespace foretrace::importers
