// SPDX-License-Identifier: Apache-2.0
//
// A job that was made of another tool's description, on its way to text.
#pragma once

#include "tools/importers/formulas/FormulaEvaluator.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <string>
#include <vector>

namespace foretrace::importers {

/// The keys of a section, in the order in which they were first set.
struct SectionText {
  std::string Kind; ///< as in `attention gqa`; empty if it has none
  std::vector<WrittenKey> Keys;

  void set(llvm::StringRef Key, llvm::StringRef Text);
  void erase(llvm::StringRef Key);
  const std::string *find(llvm::StringRef Key) const;
  friend bool operator==(const SectionText &A, const SectionText &B) {
    return A.Kind == B.Kind && A.Keys == B.Keys;
  }
};

/// A layer of the model.
struct LayerText {
  std::string Name; ///< of its block
  SectionText Block, Attention, Ffn;
  bool isSameAs(const LayerText &L) const {
    return Block == L.Block && Attention == L.Attention && Ffn == L.Ffn;
  }
};

/// How many keys of the input have which fate.
struct KeyCounts {
  unsigned Used = 0, NoEffect = 0, NotModelled = 0, Unknown = 0;

  /// Returns a sentence.
  std::string text() const;
  KeyCounts &operator+=(const KeyCounts &Others) {
    Used += Others.Used;
    NoEffect += Others.NoEffect;
    NotModelled += Others.NotModelled;
    Unknown += Others.Unknown;
    return *this;
  }
};

struct ImportedJob {
  std::string Model; ///< its name
  std::string
      Library; ///< that it imports, `llama3-8b`; empty if it has its own
  std::vector<std::string> Comments; ///< lines at the top
  std::vector<std::string> Params;   ///< keys that the user must give
  SectionText Keys;                  ///< of the model
  SectionText Train, Parallel;
  SectionText Requests, Serve; ///< of a job that serves
  SectionText Emit;            ///< without a kind there is none
  std::vector<LayerText> Layers;
  /// The `branch` of the model; without a kind there is none. If its `layers`
  /// are the word `last_layer`, they are the block of the model's last layer.
  SectionText Branch;
  std::vector<std::string> Notes; ///< for who imports, not in the job
  std::vector<std::string> ModelComments;
  /// Keys that the input lacks, and the defaults that they have there.
  std::vector<WrittenKey> Defaults;

  /// Gives keys of the model that the input lacks the values of \p Given,
  /// `name=value` each. An error if one has none, or for another key.
  llvm::Error complete(llvm::ArrayRef<std::string> Given);
  /// Writes the job as a person would, in the style of `fmt`: layers folded,
  /// keys that all blocks share once.
  void write(llvm::raw_ostream &To);
};

/// A word that can name a model: letters, digits and `_`.
std::string wordOf(llvm::StringRef Name);
/// Returns the name of the model of the file or folder \p Path: its own, or
/// that of its folder if it is called config.json like those of all models.
/// `imported` for arguments.
std::string modelNameOf(llvm::StringRef Path);

} // namespace foretrace::importers
