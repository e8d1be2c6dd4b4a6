// SPDX-License-Identifier: Apache-2.0
//
// Numbers of a job that serves which follow from programs of other steps than
// the one that it describes.
#pragma once

#include "ir/model/Expr.h"
#include <optional>

namespace foretrace::ir {

/// How much an instance of a job that serves caches; set by `workspace`.
/// Nothing without a device and stated blocks, or where nothing is cached.
struct CacheCapacity {
  std::optional<ExprId> Bytes, Blocks, Tokens, Sequences;
};

/// Durations of a step of a job that serves, of all stages one after the other,
/// in ns: of ops over all tokens that its sequences have in the cache, and of
/// the others.
struct StepLaws {
  ExprId Cached, Rest;
};

/// Durations of steps that only decode, and of those that only prefill, as
/// expressions over the keys of `requests`; set by `service`. One of two
/// engines has the steps of its own.
struct ServiceLaws {
  std::optional<StepLaws> Decode, Prefill;
};

} // namespace foretrace::ir
