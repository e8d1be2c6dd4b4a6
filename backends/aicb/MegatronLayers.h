// SPDX-License-Identifier: Apache-2.0
//
// Messages and computations of the layers of a stage, forward and backward, in
// the generator's Megatron-LM. Private to the backend.
#pragma once

#include "backends/aicb/Writer.h"

namespace foretrace::aicb {

/// How a linear layer is split over tp: not, by its outputs or by its inputs.
enum class LinearSplit : unsigned char { Replicated, Column, Row };

struct Linear {
  LinearSplit Split;
  llvm::StringLiteral Name;
  int64_t In, Out; ///< of all ranks
};

class MegatronLayers {
public:
  /// With \p Computes products are written, too.
  MegatronLayers(const GeneratorJob &J, bool Computes, LogItemWriter &Out);

  void forward();
  void backward();

private:
  void embedding(llvm::StringRef Phase);
  void forward(const Linear &L);
  void backward(const Linear &L);
  void columnBackward(const Linear &L);
  void rowBackward(const Linear &L);
  void experts();
  void expertsOfSeven();
  bool hasExperts(int64_t Layer) const;

  void multiply(llvm::ArrayRef<int64_t> Left, llvm::ArrayRef<int64_t> Right,
                const llvm::Twine &Stage);
  /// A message over tp, if there is anyone.
  void sendOverTp(LoggedComm C, int64_t Size, llvm::StringRef Stage);
  /// The same, of an activation of \p Width channels.
  void sendActivation(LoggedComm C, int64_t Width, llvm::StringRef Stage);

  const GeneratorJob &J;
  const bool Computes;
  LogItemWriter &Out;
  std::vector<Linear> Attention, Network;
};

} // namespace foretrace::aicb
