// SPDX-License-Identifier: Apache-2.0
#include "analysis/DeviceMemory.h"

using namespace foretrace;

/// The middle of the 3 to 5 GiB that real processes of training needed besides
/// the tensors (docs/memory.md, `Memory besides tensors`).
static constexpr int64_t DefaultReserved = int64_t(4) << 30;

std::optional<DeviceMemory>
foretrace::deviceMemoryOf(const ir::DeviceSpec &Device,
                          const Located<int64_t> &Given) {
  const Located<int64_t> &Memory = Given.isPresent() ? Given : Device.Memory;
  if (!Memory.isPresent())
    return std::nullopt;
  return DeviceMemory{
      *Memory, Device.Reserved.isPresent() ? *Device.Reserved : DefaultReserved,
      Memory.Range};
}

std::optional<DeviceMemory>
foretrace::deviceMemoryOf(const ir::Spec &S, const Located<int64_t> &Given) {
  return deviceMemoryOf(S.Cluster ? S.Cluster->Device : ir::DeviceSpec(),
                        Given);
}
