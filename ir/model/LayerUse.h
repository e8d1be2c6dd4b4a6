// SPDX-License-Identifier: Apache-2.0
//
// Layers as the blocks of a job use them: a kind, whose text declares keys, and
// the values of these keys.
#pragma once

#include "lang/Layers.h"
#include "lang/Source.h"
#include <string>
#include <variant>
#include <vector>

namespace foretrace::ir {

/// A key that a kind of layer declares, with its value.
struct LayerKey {
  std::string Name;
  std::variant<Located<int64_t>, Located<bool>, Located<std::string>> Value;
  /// Null if the text of the layer is not known.
  const layers::Statement *Declared = nullptr;
  /// Whether jobs set it in the block rather than in the section of the layer.
  bool IsOfBlock = false;

  /// Returns the name that ir/model/Spec.def has for its type, or `Word`.
  llvm::StringRef type() const;
  /// Returns whether it has no default.
  bool isRequired() const { return Declared && Declared->Values.empty(); }
  bool isPresent() const {
    return std::visit([](const auto &F) { return F.isPresent(); }, Value);
  }
  /// Returns the words that it can be; none if it is a number or any word.
  llvm::ArrayRef<llvm::StringRef> words() const {
    return Declared ? Declared->Can.Words : llvm::ArrayRef<llvm::StringRef>();
  }
};

/// A sublayer of a block: attention, or a network.
struct LayerUse {
  std::string Kind;
  /// Its text, of the library or of a file of the session; null in a program
  /// that was read from text and has a kind of a job.
  const layers::Layer *Is = nullptr;
  std::vector<LayerKey> Keys; ///< in the order in which they are declared
  SourceRange Range;          ///< of the section

  /// Returns a use of \p L without values.
  static LayerUse of(const layers::Layer &L);

  /// Returns the names of values that it reads besides the hidden state, and of
  /// those that it makes for later layers.
  llvm::ArrayRef<llvm::StringRef> reads() const {
    return Is ? Is->Inputs.slice(!Is->Inputs.empty())
              : llvm::ArrayRef<llvm::StringRef>();
  }
  llvm::ArrayRef<llvm::StringRef> writes() const {
    return Is ? Is->Outputs.slice(!Is->Outputs.empty())
              : llvm::ArrayRef<llvm::StringRef>();
  }

  /// Returns the key called \p Name, or null.
  LayerKey *findKey(llvm::StringRef Name);
  const LayerKey *findKey(llvm::StringRef Name) const {
    return const_cast<LayerUse *>(this)->findKey(Name);
  }
  /// Returns the key called \p Name, or null if there is none of that type.
  template <typename T> Located<T> *find(llvm::StringRef Name) {
    LayerKey *Key = findKey(Name);
    return Key ? std::get_if<Located<T>>(&Key->Value) : nullptr;
  }
  template <typename T> const Located<T> *find(llvm::StringRef Name) const {
    return const_cast<LayerUse *>(this)->find<T>(Name);
  }
  /// Each returns a key of a layer that is known to have it.
  const Located<int64_t> &number(llvm::StringRef Name) const {
    return *find<int64_t>(Name);
  }
  const Located<bool> &flag(llvm::StringRef Name) const {
    return *find<bool>(Name);
  }
  const Located<std::string> &word(llvm::StringRef Name) const {
    return *find<std::string>(Name);
  }
};

} // namespace foretrace::ir
