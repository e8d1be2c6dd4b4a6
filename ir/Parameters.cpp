// SPDX-License-Identifier: Apache-2.0
#include "ir/Parameters.h"

using namespace foretrace;
using namespace foretrace::ir;

TiedHead foretrace::ir::tiedHeadOf(const ParallelSpec &P) {
  return *P.Pp > 1 && getInfo(*P.Schedule).Placement == PlacementKind::Loop
             ? TiedHead::Apart
             : TiedHead::BesideEmbedding;
}

bool foretrace::ir::isStored(const Value &V, TiedHead At) {
  return V.Kind == ValueKind::Param &&
         !(V.Tied && At == TiedHead::BesideEmbedding);
}

Elements foretrace::ir::countParameters(const Block &B, TiedHead At,
                                        const Mesh &M) {
  Elements Count;
  for (const Value &V : B.Values)
    if (isStored(V, At))
      Count += elementsPerRank(V, M);
  return Count;
}

Bytes foretrace::ir::parameterBytes(const Block &B, TiedHead At,
                                    const Mesh &M) {
  Bytes Size;
  for (const Value &V : B.Values)
    if (isStored(V, At))
      Size += bytesPerRank(V, M);
  return Size;
}
