// SPDX-License-Identifier: Apache-2.0
#include "analysis/LawParameters.h"
#include <cmath>
#include <limits>

using namespace foretrace;
using namespace foretrace::ir;

LawParameters::LawParameters(const CostSpec &C) {
  for (size_t I = 0; I < Count; ++I)
    Values[I] = C.kernel(static_cast<KernelParameterId>(I))
                    .value_or(std::numeric_limits<double>::quiet_NaN());
}

void LawParameters::store(CostSpec &C) const {
  C.Kernels.clear();
  for (size_t I = 0; I < Count; ++I)
    if (has(static_cast<KernelParameterId>(I)))
      C.Kernels.push_back({static_cast<KernelParameterId>(I), Values[I]});
}

bool LawParameters::has(KernelParameterId Id) const {
  return !std::isnan((*this)[Id]);
}
