// SPDX-License-Identifier: Apache-2.0
//
// Facts of devices by their names (ir/model/KnownDevices.def).
#pragma once

#include "ir/model/Program.h"

namespace foretrace::ir {

/// A row of ir/model/KnownDevices.def.
struct KnownDevice {
  /// Scaled formats of its products; each includes those before it.
  enum class Formats : unsigned char { Plain, Fp8, Mx, Nv };
  llvm::StringLiteral Name, Vendor, Architecture;
  int Generation;
  llvm::StringLiteral Die;
  double Bf16, Fp8, Fp4; ///< dense, TFLOP/s
  Formats Has;
  double Link, Host; ///< GB/s in one direction

  /// Returns whether it has products of operands of type \p T.
  bool has(TypeKind T) const;
};

llvm::ArrayRef<KnownDevice> knownDevices();
/// Returns the device that \p Name names, such as `H100 SXM5 80GB`, or null.
const KnownDevice *findDevice(llvm::StringRef Name);
/// Returns the device of the cluster of \p S, or null if it is unknown.
const KnownDevice *deviceOf(const Spec &S);
/// Returns the name of that device; empty if it has none.
llvm::StringRef deviceName(const Spec &S);

} // namespace foretrace::ir
