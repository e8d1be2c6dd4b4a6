// SPDX-License-Identifier: Apache-2.0
//
// The fields of the structs of ir/model/Spec.h: the rows of ir/model/Spec.def
// as data, and the one way to visit the members that they name.
#pragma once

#include "ir/model/Expr.h"
#include "ir/model/Spec.h"
#include <type_traits>

namespace foretrace::ir {

/// The programs that must have a field; see ir/model/Spec.def.
enum class Needed : unsigned char {
  Always,
  Complete,
  IfRecomputed,
  IfOffloaded,
  IfNetworked,
  IfRoofline,
  Optional
};

/// A row of ir/model/Spec.def.
struct FieldRow {
  KeyId Id;
  /// `Model`: what the name of the struct begins with.
  llvm::StringRef Section;
  llvm::StringRef Type;
  llvm::StringRef Name;
  Needed By;
  llvm::StringRef Aliases;
  llvm::ArrayRef<llvm::StringRef> Words = {}; ///< of a key of a layer
};

/// The rows, by indexOf.
inline constexpr FieldRow FieldRows[] = {
#define SPEC_FIELD(SECTION, TYPE, MEMBER, KEY, NEEDED, ALIASES, DOC)           \
  {KeyId::SECTION##MEMBER, #SECTION, #TYPE, KEY, Needed::NEEDED, ALIASES},
#include "ir/model/Spec.def"
};

/// Returns whether \p Id is of a key that the layers of a block declare: those
/// of the mixer from KeyId::OfLayer on, then those of the network.
constexpr bool isOfLayer(KeyId Id) {
  return Id >= KeyId::OfLayer && Id <= KeyId::LastOfLayer;
}

/// Returns the number of a row, for any key that is not of a layer.
constexpr size_t indexOf(KeyId Id) {
  constexpr auto OfLayers = static_cast<size_t>(KeyId::LastOfLayer) -
                            static_cast<size_t>(KeyId::OfLayer) + 1;
  static_assert(OfLayers == BlockSpec::MaxLayerKeys);
  const auto I = static_cast<size_t>(Id);
  return Id > KeyId::LastOfLayer ? I - OfLayers : I;
}

/// Returns the keyword of a section of the language: `model` for `Model`.
std::string keywordOf(llvm::StringRef Section);
/// Returns a field with the keyword of its section: `train.sequence`,
/// `ffn.bias`.
std::string pathOf(const FieldRow &Row);
/// Returns whether that is \p Path.
bool isAt(const FieldRow &Row, llvm::StringRef Path);

/// Calls \p Visit with the row and the member of every field of one struct, in
/// the order of ir/model/Spec.def.
template <typename SpecT, typename VisitT>
void visitFields(SpecT &S, VisitT &&Visit) {
#define SPEC_FIELD(SECTION, TYPE, MEMBER, ...)                                 \
  if constexpr (std::is_same_v<std::remove_const_t<SpecT>, SECTION##Spec>)     \
    Visit(FieldRows[indexOf(KeyId::SECTION##MEMBER)], S.MEMBER);
#include "ir/model/Spec.def"
}

/// Visits the keys of a layer, with rows of \p Section or of `Block`; the first
/// one has the id \p First. Returns the id behind the last.
template <typename UseT, typename VisitT>
unsigned visitKeys(UseT &Use, llvm::StringRef Section, unsigned First,
                   VisitT &&Visit) {
  for (auto &Key : Use.Keys)
    std::visit(
        [&](auto &F) {
          Visit(FieldRow{KeyId(First++),
                         Key.IsOfBlock ? llvm::StringRef("Block") : Section,
                         Key.type(), Key.Name,
                         Key.isRequired() ? Needed::Always : Needed::Complete,
                         "", Key.words()},
                F);
        },
        Key.Value);
  return First;
}

template <typename BlockT, typename VisitT>
void visitLayerKeys(BlockT &B, VisitT &&Visit) {
  const unsigned First = visitKeys(
      B.Mixer, "Attention", static_cast<unsigned>(KeyId::OfLayer), Visit);
  visitKeys(B.Network, "Ffn", First, Visit);
}

/// Visits the fields of a block and of its layers.
template <typename BlockT, typename VisitT>
void visitBlock(BlockT &B, VisitT &&Visit) {
  visitLayerKeys(B, Visit);
  visitFields(B, Visit);
}

/// Visits the fields of `model`, `train`, `parallel`, `requests`, `serve` and
/// the sections within it, except those of blocks.
template <typename SpecT, typename VisitT>
void visitJob(SpecT &S, VisitT &&Visit) {
  visitFields(S.Model, Visit);
  visitFields(S.Train, Visit);
  visitFields(S.Parallel, Visit);
  if (S.Requests)
    visitFields(*S.Requests, Visit);
  if (S.Serve)
    visitFields(*S.Serve, Visit);
  if (S.Draft)
    visitFields(*S.Draft, Visit);
  if (S.Lora)
    visitFields(*S.Lora, Visit);
}

} // namespace foretrace::ir
