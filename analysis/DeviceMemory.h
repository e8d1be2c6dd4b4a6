// SPDX-License-Identifier: Apache-2.0
//
// The memory of a device and the part of it that tensors can occupy: whether a
// job fits is decided here alone.
#pragma once

#include "ir/model/Spec.h"
#include <algorithm>

namespace foretrace {

struct DeviceMemory {
  int64_t Bytes;
  /// For what a process needs besides tensors: `reserved` of the device.
  int64_t Reserved;
  SourceRange Range; ///< of the key that gives Bytes

  /// Returns the bytes that tensors can occupy.
  int64_t usable() const { return std::max<int64_t>(0, Bytes - Reserved); }
  bool fits(int64_t Peak) const { return Peak <= usable(); }
};

/// Returns the memory of \p Device, or \p Given in its place; nothing if
/// neither is present.
std::optional<DeviceMemory> deviceMemoryOf(const ir::DeviceSpec &Device,
                                           const Located<int64_t> &Given = {});
/// Returns the memory of a device of the cluster of \p S, which may have none.
std::optional<DeviceMemory> deviceMemoryOf(const ir::Spec &S,
                                           const Located<int64_t> &Given = {});

} // namespace foretrace
