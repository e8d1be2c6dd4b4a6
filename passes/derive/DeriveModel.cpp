// SPDX-License-Identifier: Apache-2.0
//
// The part of `derive` that concerns the model as a whole: vocabulary, types,
// and the size of tensors that no layer has.

#include "ir/model/Spellings.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Passes.h"
#include "passes/derive/Deriver.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::ir;

void Deriver::deriveVocab() {
  ModelSpec &M = S.Model;
  exceeds(M.Vocab, 0); // an encoder without tokens is another structure
  const Expr Multiple = of(M.VocabMultiple) * of(S.Parallel.Tp);
  const Expr Padded = ceilDiv(of(M.Vocab), Multiple) * Multiple;
  if (M.PaddedVocab.isStated() && Padded.hasValue() &&
      !isStated(M.PaddedVocab, Padded, diag::PaddedVocabMismatch, M.Vocab))
    error(M.PaddedVocab.Range, diag::PaddedVocabMismatch, *M.PaddedVocab,
          *M.Vocab, Multiple.value(), Padded.value())
        .noteValue("vocab", M.Vocab);
  if (!define(M.PaddedVocab, Padded, M.Vocab.Range, "padded_vocab"))
    return;
  const Located<int64_t> &Longest =
      S.Serve ? S.Serve->MaxLength : S.Train.Sequence;
  if (!M.MaxPositions.isPresent())
    define(M.MaxPositions, of(Longest), Longest.Range, "max_positions");
  else if (!holds(isAtMost(of(Longest), of(M.MaxPositions)),
                  diag::SequenceExceedsPositions, Longest))
    error(Longest.Range, diag::SequenceExceedsPositions,
          S.Serve ? "max_length" : "sequence", *Longest, *M.MaxPositions)
        .noteValue("max_positions", M.MaxPositions)
        .note({}, diag::RefusedBy, "Megatron-LM",
              "training/arguments.py, validate_args");
}

void Deriver::checkSize(llvm::StringRef What, llvm::ArrayRef<Extent> Extents,
                        int64_t Factor) {
  Expr Product = number(Factor);
  for (const Extent E : Extents)
    Product *= of(*E);
  const Extent Largest = *std::max_element(
      Extents.begin(), Extents.end(),
      [](const Extent A, const Extent B) { return **A < **B; });
  // Which extent is to blame depends on the numbers: jobs like this one differ.
  if (ask({Check::Kind::Existence, Product, 0, diag::SizeOverflow}))
    return;
  if (Blamed.insert(Largest->Range.start()).second)
    error(Largest->Range, diag::SizeOverflow, What);
}

/// No tensor outside of layers has 2^63 bytes or more, over all ranks of a
/// stage. The passes after this multiply extents without looking.
void Deriver::checkSizes() {
  constexpr int64_t MaxElementBytes = 8;
  const ModelSpec &M = S.Model;
  const TrainSpec &T = S.Train;
  auto CheckWidth = [&](llvm::StringRef What,
                        llvm::SmallVector<Extent, 5> Width,
                        int64_t Factor = 1) {
    Factor *= MaxElementBytes;
    Width.push_back(&M.Hidden);
    checkSize(("a weight of `" + What + "`").str(), Width, Factor);
    Width.back() = &T.Sequence;
    Width.append({&T.MicroBatch, &S.Parallel.Dp});
    checkSize(("an activation of `" + What + "`").str(), Width, Factor);
  };
  CheckWidth("hidden", {&M.Hidden}, /*Factor=*/4);
  CheckWidth("vocab", {&M.PaddedVocab});
  if (*T.AttentionMask)
    checkSize("the attention mask",
              {&T.Sequence, &T.Sequence, &T.MicroBatch, &S.Parallel.Dp}, 1);
  checkSize("the position table", {&M.MaxPositions, &M.Hidden},
            MaxElementBytes);
}
