// SPDX-License-Identifier: Apache-2.0
//
// The words of the enums of ir/Spec.h, from the one table that has them.
#ifndef FORETRACE_IR_SPELLINGS_H
#define FORETRACE_IR_SPELLINGS_H

#include "ir/Spec.h"
#include "llvm/ADT/ArrayRef.h"
#include <type_traits>

namespace foretrace::ir {

/// The words of an enum of ir/Spec.h, in the order of its enumerators.
template <typename EnumT> llvm::ArrayRef<llvm::StringRef> getSpellings() {
  static const std::vector<llvm::StringRef> Spellings = [] {
    std::vector<llvm::StringRef> Words;
    auto Add = [&Words](auto Row, llvm::StringRef Word) {
      if constexpr (std::is_same_v<decltype(Row), EnumT>)
        Words.push_back(Word);
    };
#define SPEC_ENUM(TYPE, ENUMERATOR, SPELLING) Add(TYPE::ENUMERATOR, SPELLING);
#include "ir/Spec.def"
    return Words;
  }();
  return Spellings;
}

template <typename EnumT> llvm::StringRef getSpelling(EnumT E) {
  return getSpellings<EnumT>()[static_cast<size_t>(E)];
}

} // namespace foretrace::ir

#endif
