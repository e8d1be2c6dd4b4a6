// SPDX-License-Identifier: Apache-2.0
//
// The numbers behind a compatible table: parameters and message sizes as the
// public generator counts them, which is not as they are.
#ifndef FORETRACE_BACKENDS_SIMAI_AICBCOUNTS_H
#define FORETRACE_BACKENDS_SIMAI_AICBCOUNTS_H

#include "backends/simai/Options.h"
#include "lang/Quantity.h"

namespace foretrace::simai {

/// What the generator's command line says, taken from a spec. Quotients are
/// rounded down as the generator does.
struct AicbJob {
  simai::Version Version;
  bool Timed, SequenceParallel, Recompute, Bias;
  bool IsDeepSeek, HasExperts;
  int64_t Tp, Pp, Ep, Dp, Ga, World;
  int64_t Layers;      ///< in the table: those of one stage
  int64_t DenseLayers; ///< of these, before the first expert layer (DeepSeek)
  int64_t Hidden, Heads, HeadDim, Ffn, Vocab, PaddedVocab;
  int64_t Sequence, MicroBatch;
  int64_t Experts, TopK, Shared;
  int64_t QLora, KvLora, RopeDim, NopeDim, VDim;

  static AicbJob of(const ir::Spec &S, simai::Version V);
};

/// Parameters of one rank as the generator sums them, every stage alike.
struct AicbParams {
  Elements All;     ///< P, experts included
  Elements Experts; ///< M
};
AicbParams countParams(const AicbJob &J);

/// 2 b s h: what the generator sends for an activation.
Bytes activationBytes(const AicbJob &J);

} // namespace foretrace::simai

#endif
