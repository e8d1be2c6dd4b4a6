// SPDX-License-Identifier: Apache-2.0
//
// What is known of AICB, the public generator, by the backends that imitate
// it: its revisions, a job as its command line says it, what it refuses, and
// parameters as it counts them, which is not as they are.
#pragma once

#include "backends/OptionKinds.h"
#include "ir/model/Spec.h"
#include "lang/Diagnostic.h"
#include "lang/Quantity.h"

namespace foretrace::aicb {

/// Revisions whose output differs.
enum class Version : unsigned char {
#define VERSION(ENUMERATOR, SPELLING, DOC) ENUMERATOR,
#include "backends/aicb/AicbVersions.def"
};
/// Returns the spelling of an option: "2025-12".
llvm::StringRef getSpelling(Version V);

/// An option of a backend that says the revision.
struct VersionText : option::KindBase {
  static std::string expected();
  static std::string show(Version V);
  static bool read(const ir::Attribute &A, Version &Into, DiagnosticEngine &);
};

/// Command-line values of the generator, taken from a spec. Quotients are
/// rounded down as the generator does.
struct GeneratorJob {
  aicb::Version Version;
  bool Timed, SequenceParallel, Recompute, Bias;
  bool IsDeepSeek, HasExperts;
  int64_t Tp, Pp, Ep, Dp, Ga, World;
  int64_t Layers;      ///< layers of one stage
  int64_t DenseLayers; ///< of these, before the first expert layer (DeepSeek)
  int64_t Hidden, Heads, HeadDim, Ffn, Vocab, PaddedVocab;
  int64_t Sequence, MicroBatch;
  int64_t Experts, TopK, Shared;
  int64_t QLora, KvLora, RopeDim, NopeDim, VDim;

  static GeneratorJob of(const ir::Spec &S, aicb::Version V);

  /// Returns the layers with experts: without latent attention all of them.
  int64_t expertLayers() const {
    return !HasExperts ? 0 : IsDeepSeek ? Layers - DenseLayers : Layers;
  }
};

/// Reports `dp_shard`, for which the generator has no option.
void checkShares(const ir::ParallelSpec &P, DiagnosticEngine &Diags);

/// Reports jobs for Megatron-LM that the generator refuses and `derive` does
/// not.
bool checkJob(const ir::Spec &S, DiagnosticEngine &Diags);

/// Parameters of one rank as the generator sums them, equal for all stages.
struct Params {
  Elements All;     ///< of a table, experts included
  Elements Experts; ///< of a table
  Elements Objects; ///< all that its objects hold, as a workload sums them
};
Params countParams(const GeneratorJob &J);

/// Return the parameters of the embedding: of the word table, in several
/// copies, and of a row for each position.
Elements countWords(const GeneratorJob &J);
Elements countPositions(const GeneratorJob &J);

/// 2 b s h: bytes of an activation as counted by the generator.
Bytes activationBytes(const GeneratorJob &J);

} // namespace foretrace::aicb
