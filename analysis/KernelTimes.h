// SPDX-License-Identifier: Apache-2.0
//
// Estimates of the durations of ops by laws of their kernels, with the
// parameters of a device's profile (`cost estimate`). docs/time.md has the
// sources of the laws and their errors.
#ifndef FORETRACE_ANALYSIS_KERNELTIMES_H
#define FORETRACE_ANALYSIS_KERNELTIMES_H

#include "ir/model/Measure.h"

namespace foretrace {

/// Ops whose durations follow one law.
enum class KernelClass : unsigned char {
  /// A product of an m x k and a k x n matrix: start + sqrt(C^2 + M^2), where C
  /// is 2 m n (k + k0) FLOPs at the peak rate x efficiency x sustained, and M
  /// the bytes of the operands and the result at the memory bandwidth x memory.
  /// The gradient of a weight reads copies of scaled operands in the other
  /// direction, for each element of which a stream reads and writes a byte.
  Product,
  /// A product for each expert of a rank, with rows more than it has.
  GroupedProduct,
  /// Fused attention: start + FLOPs x (1 + s0 / keys) / (peak rate in bf16 x
  /// efficiency x sustained), where keys is twice the mean number of keys of a
  /// query, and s0 is 0 without a mask. Backward 5/4 of the FLOPs of its
  /// products, which the kernel recomputes in part, at the rate x backward. In
  /// addition a stream that splits and rotates queries, keys and values: start
  /// and 6 bytes for each element, 8 backward.
  Attention,
  /// Two products of all queries with all keys and a stream over the scores, of
  /// 4 bytes for a score, 5 backward; with dropout 5 and 6 more.
  UnfusedAttention,
  Scan,      ///< a scan or convolution: the larger of FLOPs and bytes
  Stream,    ///< start + bytes at the memory bandwidth x efficiency
  Optimizer, ///< start + bytes, with those of the gradients' norm
  Fused      ///< part of the kernel of another op: nothing
};
llvm::StringRef getName(KernelClass C);

/// Returns the experts of a rank whose weights \p O reads or makes gradients
/// of; 1 if there are none.
int64_t groupsOf(const ir::Program &P, const ir::Block &B, const ir::Op &O);

/// Laws with the parameters of one job.
class KernelTimes {
public:
  /// \p P has `cost estimate` and a device, which `derive` has filled.
  explicit KernelTimes(const ir::Program &P) : P(P) {}

  /// Returns the first parameter that the class of \p O needs and the job
  /// lacks, or null.
  const ir::KernelParameterInfo *findMissing(const ir::Block &B,
                                             const ir::Op &O) const;
  /// Returns the estimated duration of \p O, which touches \p Touched bytes:
  /// rounded to the nearest nanosecond.
  Nanoseconds timeOf(const ir::Block &B, const ir::Op &O, Bytes Touched) const;

  /// Returns the parameters of the law of \p O with their values:
  /// `stream.efficiency = 0.85, stream.start_us = 3`.
  std::string describe(const ir::Block &B, const ir::Op &O) const;

  KernelClass classOf(const ir::Block &B, const ir::Op &O) const;

private:
  llvm::SmallVector<ir::KernelParameterId, 8>
  parametersOf(const ir::Block &B, const ir::Op &O) const;
  double of(ir::KernelParameterId Id) const;
  double sustained(ir::KernelParameterId Id) const;
  double product(const ir::Block &B, const ir::Op &O, bool IsGrouped) const;
  double attention(const ir::Block &B, const ir::Op &O) const;
  double arranging(const ir::Block &B, const ir::Op &O) const;
  double unfusedAttention(const ir::Block &B, const ir::Op &O) const;

  const ir::Program &P;
};

} // namespace foretrace

#endif
