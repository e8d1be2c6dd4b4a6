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
