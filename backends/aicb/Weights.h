// SPDX-License-Identifier: Apache-2.0
//
// The parameters of a model as the generator's DeepSpeed programs see it: a
// Llama with as many key heads as query heads, whole on every rank. Folded: a
// layer's are stored once. Private to the backend.
#pragma once

#include "backends/aicb/AicbJob.h"
#include <array>

namespace foretrace::aicb {

struct Weight {
  int64_t In, Out;

  int64_t count() const { return In * Out; }
  int64_t bytes() const { return 2 * count(); }
  /// Returns whether no product uses it.
  bool isVector() const { return Out == 1; }
};

/// From the embedding to the head, in the order of their use.
class Weights {
public:
  explicit Weights(const GeneratorJob &J);

  size_t size() const { return Layers * Layer.size() + 3; }
  Weight operator[](size_t I) const;
  /// Elements of them all.
  Elements count() const;

private:
  size_t Layers;
  Weight Embedding, Norm, Head;
  std::array<Weight, 9> Layer;
};

} // namespace foretrace::aicb
