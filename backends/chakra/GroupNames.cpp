// SPDX-License-Identifier: Apache-2.0
#include "backends/chakra/GroupNames.h"
#include "backends/chakra/ChakraCollectives.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/JSON.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::chakra;

chakra::GroupNames::GroupNames(const Program &P)
    : P(P), Map(P.Mesh, *P.Spec.Parallel.RankOrder) {
  int64_t Count = 0;
  for (const Block &B : P.Blocks)
    for (const Op &O : B.Ops) {
      const int64_t Size = O.Group.size(P.Mesh);
      if (!findChakraCollective(O.Kind) || Size == 1 || isWorld(O.Group) ||
          llvm::any_of(Kinds, [&](const Kind &K) { return K.Of == O.Group; }))
        continue;
      Kinds.push_back({O.Group, Count});
      Count += O.Group.count(P.Mesh);
    }
  // From the first number on that has as many digits as the last one.
  int64_t First = 1;
  for (; First + Count > 10 * First; ++Width)
    First *= 10;
  for (Kind &K : Kinds)
    K.First += First;
}

std::string chakra::GroupNames::name(const Group &G, int64_t Rank) const {
  for (const Kind &K : Kinds)
    if (K.Of == G)
      return std::to_string(number(K, Rank));
  return "0";
}

template <typename FnT>
void chakra::GroupNames::forEachGroup(const RankList &Of, FnT Visit) const {
  for (const Kind &K : Kinds) {
    if (Of.empty()) {
      for (int64_t Rank = 0; Rank < *P.Spec.Parallel.World; ++Rank)
        if (K.Of.isFirst(Map, Rank))
          Visit(K, Rank);
      continue;
    }
    llvm::DenseSet<int64_t> Seen;
    for (const RankRange &R : Of)
      for (int64_t Rank = R.First; Rank <= R.Last; ++Rank)
        if (Seen.insert(number(K, Rank)).second)
          Visit(K, Rank);
  }
}

void chakra::GroupNames::write(const RankList &Of,
                               llvm::raw_ostream &OS) const {
  llvm::json::OStream J(OS);
  J.object([&] {
    forEachGroup(Of, [&](const Kind &K, int64_t Rank) {
      J.attributeArray(std::to_string(number(K, Rank)), [&] {
        for (int64_t Member : K.Of.ranks(Map, Rank))
          J.value(Member);
      });
    });
  });
  J.flush();
  OS << '\n';
}
