// SPDX-License-Identifier: Apache-2.0
//
// The words of the enums of the IR, from their tables.
#pragma once

#include "ir/model/OpKinds.h"
#include "ir/model/Program.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <type_traits>

namespace foretrace::ir {

/// Returns the words of an enum, in the order of its enumerators.
template <typename EnumT> llvm::ArrayRef<llvm::StringRef> getSpellings() {
  static const std::vector<llvm::StringRef> Spellings = [] {
    std::vector<llvm::StringRef> Words;
    auto Add = [&Words](auto Row, llvm::StringRef Word) {
      if constexpr (std::is_same_v<decltype(Row), EnumT>)
        Words.push_back(Word);
    };
#define SPEC_ENUM(TYPE, ENUMERATOR, SPELLING) Add(TYPE::ENUMERATOR, SPELLING);
#include "ir/model/Spec.def"
#define AXIS(ENUMERATOR, SPELLING, DOC) Add(Axis::ENUMERATOR, SPELLING);
#include "ir/model/Axes.def"
#define GROUP_MEMBERS(ENUMERATOR, SPELLING, DOC)                               \
  Add(GroupMembers::ENUMERATOR, SPELLING);
#include "ir/model/Groups.def"
#define FACT(ENUMERATOR, SPELLING, MAKES, LEVEL, DOC)                          \
  Add(Fact::ENUMERATOR, SPELLING);
#include "ir/model/Facts.def"
#define COMPUTE_OP(ENUMERATOR, MNEMONIC, ...) Add(OpKind::ENUMERATOR, MNEMONIC);
#define COLLECTIVE_OP(ENUMERATOR, MNEMONIC, DOC)                               \
  Add(OpKind::ENUMERATOR, MNEMONIC);
#include "ir/model/Ops.def"
#define SCHEDULE_PHASE(ENUMERATOR, SPELLING, DOC)                              \
  Add(SchedulePhase::ENUMERATOR, SPELLING);
#define ACTION(ENUMERATOR, SPELLING, DOC) Add(ActionKind::ENUMERATOR, SPELLING);
#include "ir/model/Actions.def"
#define PLACEMENT(ENUMERATOR, SPELLING, DOC)                                   \
  Add(PlacementKind::ENUMERATOR, SPELLING);
#include "ir/model/Placements.def"
#define INDEX_VARIABLE(ENUMERATOR, SPELLING, DOC)                              \
  Add(IndexVariable::ENUMERATOR, SPELLING);
#include "ir/model/Indices.def"
    Add(Transport::Combined, "combined");
    Add(Transport::Eager, "eager");
    Add(SlotStart::After, "after");
    Add(SlotStart::With, "with");
    Add(SlotStart::Overlapped, "overlapped");
#define ELEMENT_TYPE(ENUMERATOR, NAME, ...) Add(ElementType::ENUMERATOR, NAME);
#include "ir/model/ElementTypes.def"
    for (Level L : {Level::Spec, Level::Model, Level::SPMD, Level::Schedule})
      Add(L, getName(L));
    return Words;
  }();
  return Spellings;
}

template <typename EnumT> llvm::StringRef getSpelling(EnumT E) {
  return getSpellings<EnumT>()[static_cast<size_t>(E)];
}

/// Returns the value of a key as text: a number, `true`, a word, or text.
template <typename T> std::string spell(const T &Value) {
  if constexpr (std::is_enum_v<T>)
    return getSpelling(Value).str();
  else if constexpr (std::is_same_v<T, bool>)
    return Value ? "true" : "false";
  else if constexpr (std::is_same_v<T, std::string>)
    return Value;
  else
    return std::to_string(Value);
}

/// Returns the enumerator with that word, if there is one.
template <typename EnumT>
std::optional<EnumT> findSpelling(llvm::StringRef Word) {
  llvm::ArrayRef<llvm::StringRef> Words = getSpellings<EnumT>();
  auto It = llvm::find(Words, Word);
  if (It == Words.end())
    return std::nullopt;
  return static_cast<EnumT>(It - Words.begin());
}

/// Returns whether \p Word is in a list of \p Aliases, separated by blanks as
/// in the tables.
inline bool isAlias(llvm::StringRef Word, llvm::StringRef Aliases) {
  llvm::SmallVector<llvm::StringRef> Words;
  Aliases.split(Words, ' ', -1, /*KeepEmpty=*/false);
  return llvm::is_contained(Words, Word);
}

/// Returns the word for the enumerator of EnumT that another tool calls \p
/// Word; empty if there is none.
template <typename EnumT> llvm::StringRef findForeign(llvm::StringRef Word) {
  llvm::StringRef Found;
  auto Look = [&](auto Row, llvm::StringRef Aliases) {
    if constexpr (std::is_same_v<decltype(Row), EnumT>)
      if (isAlias(Word, Aliases))
        Found = getSpelling(Row);
  };
#define SPEC_ENUM_ALIASES(TYPE, ENUMERATOR, ALIASES)                           \
  Look(TYPE::ENUMERATOR, ALIASES);
#include "ir/model/Spec.def"
  return Found;
}

} // namespace foretrace::ir
