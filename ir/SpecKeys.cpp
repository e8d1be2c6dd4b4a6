// SPDX-License-Identifier: Apache-2.0
#include "ir/SpecKeys.h"
#include "ir/Program.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FormatVariadic.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// A number of a spec.
struct NumberField {
  ir::Key Key;
  llvm::StringRef Name;
  const Located<int64_t> *Field;
};

template <typename VisitT>
void visit(Key K, llvm::StringRef Name, const Located<int64_t> &F,
           VisitT Visit) {
  Visit(NumberField{K, Name, &F});
}
template <typename T, typename VisitT>
void visit(Key, llvm::StringRef, const Located<T> &, VisitT) {}

/// Calls \p Visit with every number of the model, of `train` and of `parallel`.
template <typename VisitT> void forEachNumber(const Spec &S, VisitT Visit) {
#define VISIT_FIELD(OBJECT, SECTION, MEMBER, KEY, BLOCK)                       \
  visit({KeyId::SECTION##MEMBER, BLOCK}, KEY, (OBJECT).MEMBER, Visit);
#define MODEL_FIELD(TYPE, MEMBER, KEY, ...)                                    \
  VISIT_FIELD(S.Model, Model, MEMBER, KEY, Key::NoBlock)
#define TRAIN_FIELD(TYPE, MEMBER, KEY, ...)                                    \
  VISIT_FIELD(S.Train, Train, MEMBER, KEY, Key::NoBlock)
#define PARALLEL_FIELD(TYPE, MEMBER, KEY, ...)                                 \
  VISIT_FIELD(S.Parallel, Parallel, MEMBER, KEY, Key::NoBlock)
#include "ir/Spec.def"
  for (size_t I = 0; I < S.Model.Blocks.size(); ++I) {
    const BlockSpec &B = S.Model.Blocks[I];
    const auto Block = static_cast<unsigned>(I);
#define ATTENTION_FIELD(TYPE, MEMBER, KEY, ...)                                \
  VISIT_FIELD(B.Attention, Attention, MEMBER, KEY, Block)
#define FFN_FIELD(TYPE, MEMBER, KEY, ...)                                      \
  VISIT_FIELD(B.Ffn, Ffn, MEMBER, KEY, Block)
#include "ir/Spec.def"
    if (!B.Moe)
      continue;
#define MOE_FIELD(TYPE, MEMBER, KEY, ...)                                      \
  VISIT_FIELD(*B.Moe, Moe, MEMBER, KEY, Block)
#include "ir/Spec.def"
  }
#undef VISIT_FIELD
}

} // namespace

Key foretrace::ir::keyOf(const Spec &S, const Located<int64_t> &Field) {
  std::optional<Key> Found;
  forEachNumber(S, [&](const NumberField &N) {
    if (N.Field == &Field)
      Found = N.Key;
  });
  assert(Found && "a number of this spec");
  return *Found;
}

const Located<int64_t> *foretrace::ir::findField(const Spec &S, Key K) {
  const Located<int64_t> *Found = nullptr;
  forEachNumber(S, [&](const NumberField &N) {
    if (N.Key == K)
      Found = N.Field;
  });
  return Found;
}

static llvm::StringRef wordOf(KeyId Id) {
  static constexpr llvm::StringLiteral Words[] = {
#define SPEC_FIELD(SECTION, TYPE, MEMBER, KEY, ALIASES, DOC) KEY,
#include "ir/Spec.def"
#define EXPR_SYMBOL(ENUMERATOR, NAME, DOC) NAME,
#include "ir/Exprs.def"
  };
  return Words[static_cast<size_t>(Id)];
}

bool foretrace::ir::isOfStage(KeyId Id) {
  return Id >= KeyId::StageLayers && Id <= KeyId::StageMessages;
}

/// Embedding and head stand around the blocks of layers.
static llvm::StringRef blockOf(const Spec &S, Key K) {
  if (K.Block == Key::NoBlock)
    return "stage";
  if (K.Block == 0)
    return "embedding";
  if (K.Block > S.Model.Blocks.size())
    return "head";
  return S.Model.Blocks[K.Block - 1].Name;
}

bool foretrace::ir::isModelBlock(const Program &P, unsigned Block) {
  const Key K = {KeyId::StageLayers, Block};
  return P.Blocks[BlockId(Block)].Name == blockOf(P.Spec, K);
}

std::string foretrace::ir::nameOf(const Spec &S, Key K) {
  const llvm::StringRef Word = wordOf(K.Id);
  if (isOfStage(K.Id))
    return llvm::formatv("{0}.{1}.{2}", blockOf(S, K), Word, K.Stage);
  return K.Block == Key::NoBlock
             ? Word.str()
             : (llvm::Twine(S.Model.Blocks[K.Block].Name) + "." + Word).str();
}

std::optional<Key> foretrace::ir::findKey(const Spec &S, llvm::StringRef Name) {
  if (Name == wordOf(KeyId::Edp))
    return Key{KeyId::Edp};
  const auto [Rest, Index] = Name.rsplit('.');
  Key OfStage = {KeyId::StageLayers};
  if (!Index.getAsInteger(10, OfStage.Stage))
    for (const KeyId Id :
         {KeyId::StageLayers, KeyId::StageKept, KeyId::StageMessages})
      for (unsigned Block = 0; Block <= S.Model.Blocks.size() + 2; ++Block) {
        OfStage.Id = Id;
        OfStage.Block =
            Block == S.Model.Blocks.size() + 2 ? Key::NoBlock : Block;
        if (nameOf(S, OfStage) == Name)
          return OfStage;
      }
  std::optional<Key> Found;
  forEachNumber(S, [&](const NumberField &N) {
    if (nameOf(S, N.Key) == Name)
      Found = N.Key;
  });
  return Found;
}
