// SPDX-License-Identifier: Apache-2.0
#include "frontend/KeyList.h"
#include "frontend/Defaults.h"
#include "ir/model/SpecFields.h"
#include "ir/model/Spellings.h"
#include "ir/text/TextWriter.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;

/// A value as a job states it.
template <typename T> static std::string printValue(const T &Value) {
  if constexpr (std::is_enum_v<T>) {
    std::string Text;
    llvm::raw_string_ostream OS(Text);
    ir::printName(ir::getSpelling(Value), OS);
    return Text;
  } else {
    return ir::spell(Value);
  }
}

/// What a key of type T, which ir/model/Spec.def calls \p Type, can be.
template <typename T> static std::string valuesOf(llvm::StringRef Type) {
  if constexpr (std::is_enum_v<T>) {
    llvm::SmallVector<std::string> Words;
    for (size_t I = 0; I != ir::getSpellings<T>().size(); ++I)
      Words.push_back(printValue(static_cast<T>(I)));
    return llvm::join(Words, ", ");
  } else {
    static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral>
        Types[] = {{"Int", "1, 2, ..."},       {"Natural", "0, 1, ..."},
                   {"Bool", "true, false"},    {"FlopRate", "FLOP/s"},
                   {"ByteSize", "bytes"},      {"DataRate", "B/s, bit/s"},
                   {"Duration", "ns, us, ms"}, {"Text", "text"}};
    return llvm::find_if(Types, [&](auto &Row) { return Row.first == Type; })
        ->second.str();
  }
}

static bool isRequired(llvm::StringRef Section, llvm::StringRef Name) {
  return llvm::any_of(getRequiredKeys(), [&](const RequiredKey &R) {
    return R.Section == Section && R.Name == Name;
  });
}

template <typename VisitT>
static void visitSpec(const ir::Spec &S, VisitT &&Visit) {
  ir::visitJob(S, Visit);
  for (const ir::BlockSpec &B : S.Model.Blocks)
    ir::visitBlock(B, Visit);
  ir::visitFields(S.Cost, Visit);
  ir::visitFields(S.Cost.Device, Visit);
  for (const ir::LinkSpec &L : S.Cost.Links)
    ir::visitFields(L, Visit);
  if (!S.Cluster)
    return;
  ir::visitFields(*S.Cluster, Visit);
  ir::visitFields(S.Cluster->Device, Visit);
  for (const ir::TierSpec &T : S.Cluster->Tiers)
    ir::visitFields(T, Visit);
}

std::vector<KeyEntry> foretrace::listKeys(const ir::Spec &Derived) {
  // Of several sections of a kind the first that doesn't state a key counts.
  llvm::DenseMap<ir::KeyId, std::string> Defaults;
  visitSpec(Derived, [&](const ir::FieldRow &Row, const auto &L) {
    using Status = typename std::decay_t<decltype(L)>::Status;
    if (L.From == Status::Derived)
      Defaults.try_emplace(Row.Id, "derived");
    else if (L.From == Status::Default)
      Defaults.try_emplace(Row.Id, printValue(*L));
  });
  std::vector<KeyEntry> Keys;
  auto Add = [&](ir::KeyId Id, std::string Values, llvm::StringRef Doc) {
    const ir::FieldRow &Row = ir::FieldRows[static_cast<size_t>(Id)];
    std::string Keyword = ir::keywordOf(Row.Section);
    std::string Default =
        isRequired(Keyword, Row.Name) ? "required" : Defaults.lookup(Id);
    Keys.push_back({std::move(Keyword), Row.Name, std::move(Values),
                    std::move(Default), Doc});
  };
#define SPEC_FIELD(SECTION, TYPE, MEMBER, KEY, NEEDED, ALIASES, DOC)           \
  Add(ir::KeyId::SECTION##MEMBER, valuesOf<ir::TYPE>(#TYPE), DOC);
#include "ir/model/Spec.def"
  return Keys;
}
