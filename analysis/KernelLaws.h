// SPDX-License-Identifier: Apache-2.0
//
// Laws of kernels: their durations by shape, with the parameters of a device's
// profile. docs/time.md has the sources of the laws and their errors.
#ifndef FORETRACE_ANALYSIS_KERNELLAWS_H
#define FORETRACE_ANALYSIS_KERNELLAWS_H

#include "ir/model/Program.h"
#include <array>

namespace foretrace {

/// Values of the rows of ir/model/KernelParameters.def.
class LawParameters {
public:
  /// Takes those of the job or profile, else the defaults.
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
  /// products, which the kernel recomputes in part, at the rate x backward.
  Attention,
  /// Two products of all queries with all keys and a stream over the scores, of
  /// 4 bytes for a score, 5 backward; with dropout 5 and 6 more.
  UnfusedAttention,
  Scan,      ///< a scan or convolution: the larger of FLOPs and bytes
  Stream,    ///< start + bytes at the memory bandwidth x efficiency
  Embedding, ///< the same, with an efficiency of its own
  Optimizer, ///< start + bytes, with those of the gradients' norm
  Fused      ///< part of the kernel of another op: nothing
};
llvm::StringRef getName(KernelClass C);

/// Returns the word for \p C in the CSV that `foretrace shapes` writes and
/// `foretrace fit` reads; nothing for a class without rows of its own.
llvm::StringRef getKeyword(KernelClass C);
/// Returns the class with that word.
std::optional<KernelClass> findKernelClass(llvm::StringRef Keyword);
/// Returns all of these words.
std::vector<llvm::StringRef> kernelKeywords();

/// A product on a rank, or one of each expert of a rank.
struct ProductShape {
  ir::ElementType Operand, Result;
  bool IsOfWeight; ///< is added to the gradient of a weight
  bool IsGrouped;
  double Groups; ///< experts of the rank; else 1
  double M, N, K;
};

/// Fused attention on a rank, with the channels of all of its heads.
struct AttentionShape {
  bool IsBackward;
  double Batch, Queries, Keys;
  double Pairs; ///< of a query and a key that a sample and head need
  double QueryChannels, KeyChannels, ContextChannels;
  double Heads; ///< of the queries; 0 if its layer has no such key
};

/// A kernel without products: a scan, a stream, an embedding or an optimizer.
struct StreamShape {
  KernelClass Class;
  double Work;  ///< FLOPs
  double Bytes; ///< read and written
};

/// Unfused attention on a rank.
struct ScoresShape {
  bool IsBackward, HasDropout;
  double Work;   ///< FLOPs of one product, of all scores
  double Scores; ///< on the rank
};

/// Durations in seconds. Of a job these are those in training: at sustained
/// rates, and for products of experts with the permutations and counts around
/// them. Of a benchmark they are those of kernels alone.
class KernelLaws {
public:
  KernelLaws(const LawParameters &Of, const ir::DeviceSpec &Device)
      : Of(Of), Device(Device) {}
  /// Of \p Job.
  explicit KernelLaws(const ir::Spec &Job);

  using Parameters = llvm::SmallVector<ir::KernelParameterId, 12>;
  /// Returns the parameters that the law of a shape reads.
  Parameters parametersOf(const ProductShape &S, bool NeedsCounts) const;
  Parameters parametersOf(KernelClass C) const;

  /// \p NeedsCounts: the host waits for the tokens' counts (KernelTimes.h).
  double timeOf(const ProductShape &S, bool NeedsCounts = true) const;
  double timeOf(const AttentionShape &S) const;
  double timeOf(const StreamShape &S) const;
  double timeOf(const ScoresShape &S) const;
  /// Returns the time of the stream that splits and rotates queries, keys and
  /// values: 6 bytes for each of their \p Elements, 8 backward.
  double timeOfArranging(double Elements, bool IsBackward) const;

  double operator[](ir::KernelParameterId Id) const { return Of[Id]; }
  bool has(ir::KernelParameterId Id) const { return Of.has(Id); }

private:
  double sustained(ir::KernelParameterId Id) const;
  double peak(ir::TypeKind Operand) const;
  double bandwidth() const;
  double stream(double Bytes) const;
  double narrowHeadFactor(const AttentionShape &S) const;

  LawParameters Of;
  const ir::DeviceSpec &Device;
  /// By how much rates are slower than those of few devices; of a benchmark
  /// there is none.
  std::optional<double> Slowdown;
};

/// Returns the FLOPs of the products of \p S, of pairs that it needs.
double workOf(const AttentionShape &S);

} // namespace foretrace

#endif
