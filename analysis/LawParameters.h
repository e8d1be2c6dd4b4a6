// SPDX-License-Identifier: Apache-2.0
//
// Parameters of the laws of kernels and links.
#pragma once

#include "ir/model/Program.h"
#include <array>

namespace foretrace {

/// Values of the rows of ir/model/KernelParameters.def.
class LawParameters {
public:
  /// Has the parameters of the job or profile, else the defaults.
  explicit LawParameters(const ir::CostSpec &C);

  /// States all of them in \p C.
  void store(ir::CostSpec &C) const;

  bool has(ir::KernelParameterId Id) const;
  /// Returns the value of a parameter that is there.
  double operator[](ir::KernelParameterId Id) const {
    return Values[static_cast<size_t>(Id)];
  }
  void set(ir::KernelParameterId Id, double Value) {
    Values[static_cast<size_t>(Id)] = Value;
  }

private:
  static constexpr size_t Count =
#define KERNEL_PARAMETER(...) +1
#include "ir/model/KernelParameters.def"
      ;
  std::array<double, Count> Values; ///< NaN if there is none
};

} // namespace foretrace
