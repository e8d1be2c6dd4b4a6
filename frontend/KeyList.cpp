// SPDX-License-Identifier: Apache-2.0
#include "frontend/KeyList.h"
#include "frontend/Defaults.h"
#include "ir/model/SpecFields.h"
#include "ir/model/Spellings.h"
#include "ir/text/TextWriter.h"
#include "lang/ShippedLayers.h"
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

/// Returns the values of a key of type T, called \p Type in ir/model/Spec.def.
template <typename T> static std::string valuesOf(llvm::StringRef Type) {
  if constexpr (std::is_enum_v<T>) {
    llvm::SmallVector<std::string> Words;
    for (size_t I = 0; I != ir::getSpellings<T>().size(); ++I)
      Words.push_back(printValue(static_cast<T>(I)));
    return llvm::join(Words, ", ");
  } else {
    static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral>
        Types[] = {{"Int", "1, 2, ..."},
                   {"Natural", "0, 1, ..."},
                   {"Bool", "true, false"},
                   {"Fraction", "above 0 up to 1"},
                   {"PerSecond", "above 0"},
                   {"FlopRate", "FLOP/s"},
                   {"ByteSize", "bytes"},
                   {"DataRate", "B/s, bit/s"},
                   {"NetworkRate", "bit/s, B/s"},
                   {"Duration", "ns, us, ms"},
                   {"Text", "text"},
                   {"RoutingText", "balanced, zipf(s, seed), file(path)"},
                   {"TraceText", "file(path)"},
                   {"AcceptanceText", "above 0 up to 1, or a list"}};
    return llvm::find_if(Types, [&](auto &Row) { return Row.first == Type; })
        ->second.str();
  }
}

template <typename VisitT>
static void visitSpec(const ir::Spec &S, VisitT &&Visit) {
  ir::visitJob(S, Visit);
  for (const ir::BlockSpec &B : S.Model.Blocks)
    ir::visitFields(B, Visit);
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

/// Returns the values that a key of a layer can have.
static std::string valuesOf(const ir::LayerKey &K) {
  if (!K.words().empty())
    return llvm::join(K.words(), ", ");
  return K.Value.index() == 0   ? valuesOf<int64_t>(K.type())
         : K.Value.index() == 1 ? valuesOf<bool>(K.type())
                                : valuesOf<std::string>("Text");
}

std::string foretrace::defaultOf(const ir::LayerKey &K) {
  using Kind = layers::Expr::Kind;
  if (K.Declared->Values.empty())
    return "required";
  const layers::Expr &E = K.Declared->Values.front();
  const bool IsWord =
      E.Is == Kind::Name && !E.Text.contains('.') &&
      (K.Value.index() == 1 || llvm::is_contained(K.words(), E.Text));
  return E.Is == Kind::Number || IsWord ? E.Text.str() : "derived";
}

/// Returns the documentation of a key, with the kinds of layers that have it if
/// others of the section do not.
static std::string docOf(const ir::LayerKey &K, llvm::StringRef Section) {
  llvm::SmallVector<llvm::StringRef> Kinds;
  bool HasOthers = false;
  for (const layers::Layer &Other : shippedLayers()) {
    if (!llvm::is_contained(Other.Roles, Section))
      continue;
    const bool HasKey =
        llvm::any_of(Other.Body, [&](const layers::Statement &S) {
          return S.isKey() && S.Name == K.Name;
        });
    if (HasKey)
      Kinds.push_back(Other.Name);
    HasOthers |= !HasKey;
  }
  if (!HasOthers)
    return K.Declared->Doc.str();
  return K.Declared->Doc.rtrim('.').str() + " (" + llvm::join(Kinds, ", ") +
         ").";
}

/// Appends the keys of the library's layers, each once for all its kinds.
static void addLayers(std::vector<KeyEntry> &Keys) {
  for (const llvm::StringRef Section : {"attention", "ffn", "block", "branch"})
    for (const layers::Layer &L : shippedLayers()) {
      if (!llvm::is_contained(L.Roles, Section))
        continue;
      for (const ir::LayerKey &K : ir::LayerUse::of(L).Keys)
        if (K.IsOfBlock == (Section == "block") &&
            llvm::none_of(Keys, [&](const KeyEntry &E) {
              return E.Section == Section && E.Name == K.Declared->Name;
            }))
          Keys.push_back({Section.str(), K.Declared->Name, valuesOf(K),
                          defaultOf(K), docOf(K, Section)});
    }
}

std::vector<KeyEntry> foretrace::listKeys(const ir::Spec &Derived) {
  // The first section of a kind that does not set a key has its default.
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
    const ir::FieldRow &Row = ir::FieldRows[ir::indexOf(Id)];
    if (Id == ir::KeyId::TrainSequence)
      addLayers(Keys); // between the model and its training
    std::string Keyword = ir::keywordOf(Row.Section);
    std::string Default =
        isRequired(Keyword, Row.Name) ? "required" : Defaults.lookup(Id);
    Keys.push_back({std::move(Keyword), Row.Name, std::move(Values),
                    std::move(Default), Doc.str()});
  };
#define SPEC_FIELD(SECTION, TYPE, MEMBER, KEY, NEEDED, ALIASES, DOC)           \
  Add(ir::KeyId::SECTION##MEMBER, valuesOf<ir::TYPE>(#TYPE), DOC);
#include "ir/model/Spec.def"
  return Keys;
}
