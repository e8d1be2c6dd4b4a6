// SPDX-License-Identifier: Apache-2.0
#include "ir/model/SpecKeys.h"
#include "ir/model/Program.h"
#include "ir/model/SpecFields.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FormatVariadic.h"
#include <functional>

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// Passes the numbers among fields to \p VisitT, as keys of a block or of none.
template <typename VisitT> struct NumbersOf {
  VisitT Visit; ///< of the row, the key and the member
  unsigned Block = Key::NoBlock;

  void operator()(const FieldRow &Row, const Located<int64_t> &F) const {
    Visit(Row, Key{Row.Id, Block}, F);
  }
  template <typename T>
  void operator()(const FieldRow &, const Located<T> &) const {}
};

} // namespace

/// Calls \p Visit with every number of the model, of `train` and of `parallel`.
template <typename VisitT>
static void visitNumbers(const Spec &S, VisitT Visit) {
  visitJob(S, NumbersOf<VisitT>{Visit});
}

/// Calls \p Visit with every number of one block. There may be many blocks.
template <typename VisitT>
static void visitNumbers(const Spec &S, unsigned Block, VisitT Visit) {
  visitBlock(S.Model.Blocks[Block], NumbersOf<VisitT>{Visit, Block});
}

std::string foretrace::ir::keywordOf(llvm::StringRef Section) {
  return Section.lower();
}

std::string foretrace::ir::pathOf(const FieldRow &Row) {
  return (keywordOf(Row.Section) + "." + Row.Name).str();
}

bool foretrace::ir::isAt(const FieldRow &Row, llvm::StringRef Path) {
  const auto [Keyword, Name] = Path.split('.');
  return Row.Name == Name && pathOf(Row) == Path;
}

/// Returns the block that \p Field is part of, if any.
static std::optional<unsigned> blockAround(const Spec &S, const void *Field) {
  const BlockSpec *const First = S.Model.Blocks.data();
  const std::less<const void *> Before;
  if (Before(Field, First) || !Before(Field, First + S.Model.Blocks.size()))
    return std::nullopt;
  return static_cast<unsigned>(
      static_cast<size_t>(static_cast<const char *>(Field) -
                          reinterpret_cast<const char *>(First)) /
      sizeof(BlockSpec));
}

Key foretrace::ir::keyOf(const Spec &S, const Located<int64_t> &Field) {
  std::optional<Key> Found;
  auto Look = [&](const FieldRow &, Key K, const Located<int64_t> &F) {
    if (&F == &Field)
      Found = K;
  };
  if (const auto Block = blockAround(S, &Field))
    visitNumbers(S, *Block, Look);
  else
    visitNumbers(S, Look);
  for (unsigned I = 0; I < S.Model.Blocks.size() && !Found; ++I)
    visitLayerKeys(S.Model.Blocks[I], NumbersOf<decltype(Look)>{Look, I});
  assert(Found && "a number of this spec");
  return *Found;
}

void foretrace::ir::forEachNumber(
    const Spec &S,
    llvm::function_ref<void(Key, const Located<int64_t> &)> Visit) {
  auto Pass = [&](const FieldRow &, Key K, const Located<int64_t> &F) {
    Visit(K, F);
  };
  visitNumbers(S, Pass);
  for (unsigned I = 0; I < S.Model.Blocks.size(); ++I)
    visitNumbers(S, I, Pass);
}

const Located<int64_t> *foretrace::ir::findField(const Spec &S, Key K) {
  const Located<int64_t> *Found = nullptr;
  auto Look = [&](const FieldRow &, Key Other, const Located<int64_t> &F) {
    if (Other == K)
      Found = &F;
  };
  if (K.Block < S.Model.Blocks.size())
    visitNumbers(S, K.Block, Look);
  else
    visitNumbers(S, Look);
  return Found;
}

Located<int64_t> *foretrace::ir::findField(Spec &S, Key K) {
  return const_cast<Located<int64_t> *>(
      findField(static_cast<const Spec &>(S), K));
}

std::optional<Key> foretrace::ir::findNumber(llvm::StringRef Path) {
  Spec Any;
  Any.Requests.emplace();
  Any.Serve.emplace();
  Any.Draft.emplace();
  Any.Lora.emplace();
  std::optional<Key> Found;
  visitNumbers(Any, [&](const FieldRow &Row, Key K, const Located<int64_t> &) {
    if (pathOf(Row) == Path)
      Found = K;
  });
  return Found;
}

/// The word for a key of \p S that is of no layer.
static llvm::StringRef wordOf(KeyId Id) {
  static constexpr llvm::StringLiteral Symbols[] = {
#define EXPR_SYMBOL(ENUMERATOR, NAME, DOC) NAME,
#include "ir/model/Exprs.def"
  };
  const size_t I = indexOf(Id);
  return I < std::size(FieldRows) ? FieldRows[I].Name
                                  : Symbols[I - std::size(FieldRows)];
}

bool foretrace::ir::isOfStage(KeyId Id) {
  return Id >= KeyId::StageLayers && Id <= KeyId::StageInFlight;
}

bool foretrace::ir::isOfPlace(KeyId Id) {
  return Id >= KeyId::PlaceLinks && Id <= KeyId::PlaceToDomains;
}

/// The axes of a group are in canonical order, so each is a bit.
Key foretrace::ir::keyOfPlace(KeyId Id, const Group &G, unsigned Block) {
  unsigned Code = static_cast<unsigned>(G.Members) << NumAxes;
  for (const Axis A : G.Axes)
    Code |= 1u << static_cast<unsigned>(A);
  return {Id, Code, Block};
}

Group foretrace::ir::groupOfPlace(Key K) {
  Group G;
  G.Members = static_cast<GroupMembers>(K.Block >> NumAxes);
  for (const Axis A : allAxes())
    if (K.Block >> static_cast<unsigned>(A) & 1)
      G.Axes.push_back(A);
  return G;
}

/// Returns the block with the embedding and head, which surround the layers.
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

/// Returns whether both layers of a block have a key of that name.
static bool isOfBoth(const BlockSpec &B, llvm::StringRef Name) {
  return B.Mixer.findKey(Name) && B.Network.findKey(Name);
}

/// The word for a key of a layer, with its section where the name alone could
/// be that of another one.
static std::string wordOf(const BlockSpec &B, const FieldRow &Row) {
  return isOfBoth(B, Row.Name) ? pathOf(Row) : Row.Name.str();
}

/// The word for any key.
static std::string wordOf(const Spec &S, Key K) {
  if (!isOfLayer(K.Id))
    return wordOf(K.Id).str();
  std::string Word;
  visitNumbers(S, K.Block,
               [&](const FieldRow &Row, Key Other, const Located<int64_t> &) {
                 if (Other == K)
                   Word = wordOf(S.Model.Blocks[K.Block], Row);
               });
  return Word;
}

std::string foretrace::ir::nameOf(const Spec &S, Key K) {
  if (K.Id == KeyId::LawParameter)
    return getInfo(static_cast<KernelParameterId>(K.Block)).Name.str();
  const std::string Word = wordOf(S, K);
  if (isOfPlace(K.Id)) {
    std::string Group;
    llvm::raw_string_ostream(Group) << groupOfPlace(K);
    return Word + "." + Group;
  }
  if (isOfStage(K.Id))
    return llvm::formatv("{0}.{1}{2}.{3}", blockOf(S, K), Word,
                         K.Slot ? "_" + std::to_string(K.Slot) : "", K.Stage);
  return K.Block == Key::NoBlock ? Word
                                 : S.Model.Blocks[K.Block].Name + "." + Word;
}

/// A count of a stage, of block \p Block: `moe.layers.0`, `moe.kept_1.0`.
static std::optional<Key> findCount(const Spec &S, llvm::StringRef Block,
                                    llvm::StringRef Word, unsigned Stage) {
  for (const KeyId Id :
       {KeyId::StageLayers, KeyId::StageKept, KeyId::StageChunk,
        KeyId::StageMessages, KeyId::StageInFlight}) {
    llvm::StringRef Rest = Word;
    unsigned Slot = 0;
    if (!Rest.consume_front(wordOf(Id)) ||
        (!Rest.empty() &&
         (!Rest.consume_front("_") || Rest.getAsInteger(10, Slot))))
      continue;
    Key K = {Id, Key::NoBlock, Stage, Slot};
    if (blockOf(S, K) == Block)
      return K;
    const auto Last = static_cast<unsigned>(S.Model.Blocks.size()) + 1;
    for (K.Block = 0; K.Block <= Last; ++K.Block)
      if (blockOf(S, K) == Block)
        return K;
  }
  return std::nullopt;
}

/// A key that a layer of a block declares: `moe.heads`, `moe.attention.width`.
static std::optional<Key> findLayerKey(const Spec &S, llvm::StringRef Name) {
  std::optional<Key> Found;
  for (unsigned I = 0; I < S.Model.Blocks.size() && !Found; ++I) {
    llvm::StringRef Path = Name;
    auto Look = [&](const FieldRow &Row, Key K, const Located<int64_t> &) {
      if (wordOf(S.Model.Blocks[I], Row) == Path)
        Found = K;
    };
    if (Path.consume_front(S.Model.Blocks[I].Name) && Path.consume_front("."))
      visitLayerKeys(S.Model.Blocks[I], NumbersOf<decltype(Look)>{Look, I});
  }
  return Found;
}

std::optional<Key> foretrace::ir::findKey(const Spec &S, llvm::StringRef Name) {
  if (const std::optional<Key> OfLayer = findLayerKey(S, Name))
    return OfLayer;
  for (const KeyId Symbol : {KeyId::Edp, KeyId::DpReplicate})
    if (Name == wordOf(Symbol))
      return Key{Symbol};
  const auto [Front, Last] = Name.rsplit('.');
  if (unsigned Stage; !Last.getAsInteger(10, Stage)) {
    const auto [Block, Word] = Front.rsplit('.');
    return findCount(S, Block, Word, Stage);
  }
  std::optional<Key> Found;
  auto Look = [&, Word = Last.empty() ? Front : Last](
                  const FieldRow &Row, Key K, const Located<int64_t> &) {
    if (Row.Name == Word && !isOfLayer(K.Id))
      Found = K;
  };
  if (Last.empty())
    visitNumbers(S, Look);
  else
    for (unsigned I = 0; I < S.Model.Blocks.size() && !Found; ++I)
      if (S.Model.Blocks[I].Name == Front)
        visitNumbers(S, I, Look);
  return Found;
}
