// SPDX-License-Identifier: Apache-2.0
#include "backends/aicb/Weights.h"

using namespace foretrace;
using namespace foretrace::aicb;

Weights::Weights(const GeneratorJob &J)
    : Layers(J.Layers), Embedding{J.Vocab, J.Hidden}, Norm{J.Hidden, 1},
      Head{J.Hidden, J.Vocab} {
  const int64_t Width = J.Heads * J.HeadDim;
  const Weight Projection = {J.Hidden, Width};
  Layer = {Norm,
           Projection,
           Projection,
           Projection,
           {Width, J.Hidden},
           Norm,
           {J.Hidden, J.Ffn},
           {J.Ffn, J.Hidden},
           {J.Hidden, J.Ffn}};
}

Weight Weights::operator[](size_t I) const {
  if (I == 0)
    return Embedding;
  if (I <= Layers * Layer.size())
    return Layer[(I - 1) % Layer.size()];
  return I + 1 == size() ? Head : Norm;
}

Elements Weights::count() const {
  auto Count = [](const Weight &W) { return Elements(W.In) * W.Out; };
  Elements OfLayer;
  for (const Weight &W : Layer)
    OfLayer += Count(W);
  return Count(Embedding) + OfLayer * Layers + Count(Norm) + Count(Head);
}
