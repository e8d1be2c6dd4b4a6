// SPDX-License-Identifier: Apache-2.0
//
// The last line of defence against numbers that wrap. Sizes are computed by
// Quantity and by expressions, which know where a number is too large and say
// so at the key; what is left is compiled with a check of every signed sum,
// difference, product and division (-fsanitize=signed-integer-overflow, as
// Android builds its media and network code), and the check ends the run here:
// no output instead of a wrong one. docs/reliability.md has the costs.
//
// These are the functions that GCC and Clang call. A build with sanitizers has
// them from its own library.
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <cstdint>

namespace {

/// The place of the operation, in the layout that compilers use.
struct Place {
  const char *File;
  uint32_t Line;
  uint32_t Column;
};

} // namespace

[[noreturn]] static void endWith(llvm::StringRef What, const Place *At) {
  llvm::report_fatal_error(
      llvm::Twine(llvm::formatv("{0} ({1}:{2}); nothing more is written", What,
                                llvm::sys::path::filename(At->File), At->Line)
                      .str()),
      /*gen_crash_diag=*/false);
}

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
#define ON_OVERFLOW(OPERATION, ...)                                            \
  extern "C" [[noreturn]] void __ubsan_handle_##OPERATION(const Place *At,     \
                                                          __VA_ARGS__);        \
  extern "C" void __ubsan_handle_##OPERATION(const Place *At, __VA_ARGS__) {   \
    endWith("a number of this job exceeds 2^63", At);                          \
  }
ON_OVERFLOW(add_overflow, uintptr_t, uintptr_t)
ON_OVERFLOW(sub_overflow, uintptr_t, uintptr_t)
ON_OVERFLOW(mul_overflow, uintptr_t, uintptr_t)
ON_OVERFLOW(negate_overflow, uintptr_t)
ON_OVERFLOW(divrem_overflow, uintptr_t, uintptr_t)
#undef ON_OVERFLOW
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
