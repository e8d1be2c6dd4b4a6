// SPDX-License-Identifier: Apache-2.0
#include "passes/vary/Numbers.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::vary;

/// Divisors of \p Total that are small or that a small number leads to:
/// all, up to 2^24.
static Numbers divisorsOf(int64_t Total) {
  constexpr int64_t MaxSmall = 1 << 12;
  Numbers Found;
  for (int64_t D = 1; D <= MaxSmall && D <= Total / D; ++D)
    if (Total % D == 0)
      Found.append({D, Total / D});
  return Found;
}

/// The multiples of \p Unit around \p Value.
static Numbers multiplesOf(int64_t Unit, int64_t Value) {
  constexpr int64_t MaxSteps = 16;
  Numbers Found;
  for (int64_t Step = -MaxSteps; Step <= MaxSteps; ++Step) {
    int64_t Count, Multiple;
    if (!llvm::AddOverflow(Value / Unit, Step, Count) && Count > 0 &&
        !llvm::MulOverflow(Count, Unit, Multiple))
      Found.push_back(Multiple);
  }
  return Found;
}

static int64_t product(std::initializer_list<int64_t> Factors) {
  int64_t Product = 1;
  for (int64_t F : Factors)
    if (llvm::MulOverflow(Product, F, Product))
      return 1; // nothing near is legal, as its derivation will say
  return Product;
}

std::vector<KeyNumber *> vary::findNodes(Spec &S, SourceRange) {
  if (!S.Cluster)
    return {};
  return {&S.Cluster->Nodes};
}

Numbers vary::divisorsOfWorld(const Spec &S, const KeyNumber &) {
  return divisorsOf(*S.Parallel.World);
}

Numbers vary::divisorsOfReplicas(const Spec &S, const KeyNumber &) {
  return divisorsOf(*S.Parallel.Dp);
}

Numbers vary::divisorsOfLayers(const Spec &S, const KeyNumber &) {
  return divisorsOf(S.Model.splitLayers() + *S.Parallel.EmbeddingAsLayer +
                    *S.Parallel.LossAsLayer);
}

/// The layer whose key called \p Name is set where \p Now is, or null.
static const LayerUse *findLayer(const Spec &S, llvm::StringRef Name,
                                 const KeyNumber &Now) {
  for (const BlockSpec &B : S.Model.Blocks)
    for (const LayerUse *Use : {&B.Mixer, &B.Network})
      if (const auto *Key = Use->find<int64_t>(Name);
          Key && Key->Range.start() == Now.Range.start())
        return Use;
  return nullptr;
}

Numbers vary::divisorsOfHeads(const Spec &S, const KeyNumber &Now) {
  const LayerUse *Use = findLayer(S, KvHeads, Now);
  const auto *All = Use ? Use->find<int64_t>(Heads) : nullptr;
  return All ? divisorsOf(**All) : Numbers();
}

Numbers vary::divisorsOfDouble(const Spec &, const KeyNumber &Now) {
  return *Now > INT64_MAX / 2 ? Numbers() : divisorsOf(2 * *Now);
}

Numbers vary::multiplesOfRanks(const Spec &S, const KeyNumber &Now) {
  const ParallelSpec &P = S.Parallel;
  const int64_t Etp = P.Etp.isPresent() ? *P.Etp : *P.Tp;
  const int64_t Dense = product({*P.Tp, *P.Cp, *P.Pp});
  const int64_t Expert = product({Etp, *P.Ep, *P.Pp});
  return multiplesOf(product({Dense / std::gcd(Dense, Expert), Expert}), *Now);
}

Numbers vary::multiplesOfBatch(const Spec &S, const KeyNumber &Now) {
  return multiplesOf(product({*S.Train.MicroBatch, *S.Parallel.Dp}), *Now);
}

Numbers vary::multiplesOfSplit(const Spec &S, const KeyNumber &Now) {
  const ParallelSpec &P = S.Parallel;
  const int64_t Tp = *P.SequenceParallel ? *P.Tp : 1;
  const int64_t Each = *P.Cp > 1 && Tp % 2 == 1 ? 2 : 1;
  return multiplesOf(product({*P.Cp, Tp, Each}), *Now);
}

Numbers vary::multiplesOfChunks(const Spec &S, const KeyNumber &Now) {
  return multiplesOf(*S.Parallel.Vpp, *Now);
}

/// Multiples of the key heads and of the ranks that heads are split over.
Numbers vary::multiplesOfHeads(const Spec &S, const KeyNumber &Now) {
  int64_t Shared = 1;
  if (const LayerUse *Use = findLayer(S, Heads, Now))
    if (const auto *Key = Use->find<int64_t>(KvHeads);
        Key && Key->Range.start() != Now.Range.start() && **Key > 0)
      Shared = **Key;
  const int64_t Tp = *S.Parallel.Tp;
  return multiplesOf(product({Shared / std::gcd(Shared, Tp), Tp}), *Now);
}

/// Up to the layers that there are.
Numbers vary::multiplesByTwo(const Spec &S, const KeyNumber &Now) {
  Numbers Found;
  for (int64_t N = *Now; N < S.Model.layerCount();)
    Found.push_back(N *= 2);
  return Found;
}

Numbers vary::nodesOfWorld(const Spec &S, const KeyNumber &) {
  return {static_cast<int64_t>(
      llvm::divideCeil(*S.Parallel.World, *S.Cluster->DevicesPerNode))};
}

Numbers vary::stagesOfZero(const Spec &, const KeyNumber &) {
  return {0, 1, 2, 3};
}

Numbers vary::numbersAround(const Spec &, const KeyNumber &Now) {
  return multiplesOf(1, *Now);
}

Numbers vary::sequenceLength(const Spec &S, const KeyNumber &) {
  return {*S.Train.Sequence};
}

Numbers vary::evenNumbers(const Spec &, const KeyNumber &Now) {
  return multiplesOf(2, *Now);
}
