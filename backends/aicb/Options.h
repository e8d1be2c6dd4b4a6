// SPDX-License-Identifier: Apache-2.0
//
// The options of `emit aicb { ... }`.
#pragma once

#include "backends/EmitOptions.h"
#include "backends/aicb/AicbJob.h"
#include "backends/aicb/Writer.h"

namespace foretrace::aicb {

/// The program of the generator that is imitated, for DeepSpeed with the stage
/// of ZeRO. A set of bits.
struct Mode {
  static constexpr unsigned Zero1 = 1, Zero2 = 2, Zero3 = 4, Megatron = 8,
                            Collective = 16, Vidur = 32;
  static constexpr unsigned Zero = Zero1 | Zero2 | Zero3,
                            Model = Zero | Megatron,
                            Any = Model | Collective | Vidur;
};

enum class Kind : unsigned char {
#define KIND(ENUMERATOR, WORD, DOC) ENUMERATOR,
#include "backends/aicb/Options.def"
};
llvm::StringRef getWord(Kind K);

struct Options {
  std::string File; ///< empty: from the job's name
  aicb::Kind Kind = aicb::Kind::Megatron;
  aicb::Version Version = aicb::Version::V2025_12;
  std::vector<std::string> Allow; ///< slugs of diagnostics
  LoggedComm Tested = LoggedComm::AllReduce;
  // Options of the generator's command line, with its defaults.
  int64_t Epochs = 1, PpRank = -1;
  bool Computes = false, Amp = false, Contiguous = false, OverStages = false;
  int64_t ReduceBucket = 500000000, GatherBucket = 500000000;
  int64_t SmallWeight = 100000, SmallWeights = INT64_MAX;
  int64_t MaxLive = 1000000000, Prefetch = 1000000000;
  int64_t BeginSize = 1048576, EndSize = 1048576, Repeats = 500;
};

/// Returns the mode that \p O selects in a job with that ZeRO stage.
unsigned modeOf(const Options &O, int64_t Zero);

/// The modes that the option \p Name matters to.
unsigned modesOf(llvm::StringRef Name);

} // namespace foretrace::aicb
