// SPDX-License-Identifier: Apache-2.0
#include "passes/HomeLayout.h"
#include "analysis/Parameters.h"
#include "ir/model/Shares.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace foretrace;
using namespace foretrace::ir;

static Layout splitBy(const Program &P, const TensorType &T,
                      AxisList DimInfo::*Axes) {
  Layout L;
  for (const auto &[Index, D] : llvm::enumerate(T.Dims))
    for (Axis A : infoOf(P.Spec, D.Kind).*Axes)
      if (P.Mesh[A] > 1)
        L.setSplit(A, static_cast<unsigned>(Index));
  return L;
}

bool foretrace::isOfStream(const Spec &S, const TensorType &T) {
  return llvm::any_of(T.Dims, [&](const Dim &D) {
    return infoOf(S, D.Kind).Role == DimRole::Stream;
  });
}

/// The root unit of FSDP has the table that the head reads again, gathered.
Layout foretrace::paramLayout(const Program &P, const Value &V) {
  Layout L = splitBy(P, V.Type, &DimInfo::ParamAxes);
  if (sharesWeights(P) && !(hasTorchUnits(P) && isTableAgain(P, V)))
    for (Axis A : shareAxes(P, V.Type))
      L.setFlat(A);
  return L;
}

Layout foretrace::homeLayout(const Program &P, const TensorType &T) {
  Layout L = splitBy(P, T, &DimInfo::ActivationAxes);
  int Seq = T.indexOf(DimKind::Seq);
  if (*P.Spec.Parallel.SequenceParallel && P.Mesh[Axis::Tp] > 1 && Seq >= 0 &&
      isOfStream(P.Spec, T))
    L.setSplit(Axis::Tp, static_cast<unsigned>(Seq));
  return L;
}

/// Returns whether the embedding, on the same stage, has read \p Input of \p B.
static bool isReadBefore(const Program &P, const Block &B, const Value &Input) {
  const Block &First = P.Blocks[BlockId(0)];
  return *P.Spec.Parallel.Pp == 1 && &B != &First &&
         llvm::any_of(First.Values, [&](const Value &V) {
           return V.Kind == ValueKind::Input && V.Name == Input.Name;
         });
}

Layout foretrace::dataLayout(const Program &P, const Block &B, const Value &V) {
  Layout L = homeLayout(P, V.Type);
  if (isReadBefore(P, B, V))
    return L;
  L.setWhole(Axis::Cp);
  if (P.Mesh[Axis::Tp] > 1 && !P.Spec.Serve) // each has the requests
    L.setSingle(Axis::Tp);
  return L;
}
