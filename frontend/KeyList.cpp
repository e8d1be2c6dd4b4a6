// SPDX-License-Identifier: Apache-2.0
#include "frontend/KeyList.h"
#include "frontend/Defaults.h"
#include "ir/model/Spellings.h"
#include "ir/text/TextWriter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;

namespace {

/// All structs of one kind that a spec has.
template <typename SpecT> using Some = std::vector<const SpecT *>;

/// What each section of ir/model/Spec.def is in a spec.
struct Sections {
  explicit Sections(const ir::Spec &S)
      : Model{&S.Model}, Train{&S.Train}, Parallel{&S.Parallel}, Cost{&S.Cost},
        Device{&S.Cost.Device} {
    for (const ir::BlockSpec &B : S.Model.Blocks) {
      Block.push_back(&B);
      Attention.push_back(&B.Attention);
      Ffn.push_back(&B.Ffn);
      if (B.Moe)
        Moe.push_back(&*B.Moe);
    }
    for (const ir::LinkSpec &L : S.Cost.Links)
      Link.push_back(&L);
    if (!S.Cluster)
      return;
    Cluster = {&*S.Cluster};
    Device.push_back(&S.Cluster->Device);
    for (const ir::TierSpec &T : S.Cluster->Tiers)
      Tier.push_back(&T);
  }

  Some<ir::ModelSpec> Model;
  Some<ir::AttentionSpec> Attention;
  Some<ir::FfnSpec> Ffn;
  Some<ir::MoeSpec> Moe;
  Some<ir::BlockSpec> Block;
  Some<ir::TrainSpec> Train;
  Some<ir::ParallelSpec> Parallel;
  Some<ir::CostSpec> Cost;
  Some<ir::DeviceSpec> Device;
  Some<ir::LinkSpec> Link;
  Some<ir::ClusterSpec> Cluster;
  Some<ir::TierSpec> Tier;
};

} // namespace

static std::string spell(int64_t I) { return llvm::itostr(I); }
static std::string spell(bool B) { return B ? "true" : "false"; }
static std::string spell(const std::string &Text) { return Text; }
template <typename EnumT> static std::string spell(EnumT E) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  ir::printName(ir::getSpelling(E), OS);
  return Text;
}

/// What a key of type T, which ir/model/Spec.def calls \p Type, can be.
template <typename T> static std::string valuesOf(llvm::StringRef Type) {
  if constexpr (std::is_enum_v<T>) {
    llvm::SmallVector<std::string> Words;
    for (size_t I = 0; I != ir::getSpellings<T>().size(); ++I)
      Words.push_back(spell(static_cast<T>(I)));
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

/// What \p Key holds in the first section that doesn't state it.
template <typename SpecT, typename T>
static std::string defaultOf(const Some<SpecT> &All, Located<T> SpecT::*Key) {
  for (const SpecT *S : All) {
    const Located<T> &L = S->*Key;
    if (L.From == Located<T>::Status::Derived)
      return "derived";
    if (L.From == Located<T>::Status::Default)
      return spell(*L);
  }
  return "";
}

static bool isRequired(llvm::StringRef Section, llvm::StringRef Name) {
  return llvm::any_of(getRequiredKeys(), [&](const RequiredKey &R) {
    return R.Section == Section && R.Name == Name;
  });
}

std::vector<KeyEntry> foretrace::listKeys(const ir::Spec &Derived) {
  const Sections S(Derived);
  std::vector<KeyEntry> Keys;
  auto Add = [&](llvm::StringRef Section, llvm::StringRef Name,
                 std::string Values, std::string Default, llvm::StringRef Doc) {
    const std::string Keyword = Section == "Moe" ? "block" : Section.lower();
    if (isRequired(Keyword, Name))
      Default = "required";
    Keys.push_back({Keyword, Name, std::move(Values), std::move(Default), Doc});
  };
#define SPEC_FIELD(SECTION, TYPE, MEMBER, KEY, ALIASES, DOC)                   \
  Add(#SECTION, KEY, valuesOf<ir::TYPE>(#TYPE),                                \
      defaultOf(S.SECTION, &ir::SECTION##Spec::MEMBER), DOC);
#include "ir/model/Spec.def"
  return Keys;
}
