// SPDX-License-Identifier: Apache-2.0
//
// Laws of kernels: their durations by shape, with the parameters of a device's
// profile. docs/time.md has the sources of the laws and their errors.
#pragma once

#include "analysis/LawParameters.h"
#include "ir/model/Measure.h"
#include "ir/model/RealExpr.h"

namespace foretrace {

/// Ops whose durations follow one law.
enum class KernelClass : unsigned char {
  /// A product of an m x k and a k x n matrix: start + sqrt(C^2 + M^2), where C
  /// is 2 m n (k + k0) FLOPs at the peak rate x efficiency x sustained, and M
  /// the bytes of the operands and the result at the memory bandwidth x memory.
  /// The gradient of a weight reads copies of scaled operands in the other
  /// direction, for each element of which a stream reads and writes a byte.
  Product,
  /// A product for each expert of a rank; each counts as some rows more.
  GroupedProduct,
  /// Fused attention: start + FLOPs x (1 + s0 / keys) / (peak rate in bf16 x
  /// efficiency x sustained), where keys is twice the mean number of keys of a
  /// query, and s0 is 0 without a mask. Backward 5/4 of the FLOPs of its
  /// products, which the kernel recomputes in part, at the rate x backward. With
  /// few queries and a cache start + sqrt(C^2 + M^2), where C has whole tiles of
  /// a key head's queries, and M reads keys and values.
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

// Numbers of shapes are those of measurements, of type double, or of a job, of
// type ir::RealExpr.

/// A product on a rank, or one of each expert of a rank.
template <typename RealT> struct ProductShapeOf {
  ir::ElementType Operand, Result;
  bool IsOfWeight; ///< is added to the gradient of a weight
  bool IsGrouped;
  RealT Groups; ///< experts of the rank; else 1
  RealT M, N, K;
  /// Of a job that serves: the type in which weights are read. Experts without
  /// tokens read none.
  std::optional<ir::ElementType> Weights = std::nullopt;
};
using ProductShape = ProductShapeOf<double>;

/// Fused attention on a rank, with the channels of all of its heads.
template <typename RealT> struct AttentionShapeOf {
  bool IsBackward;
  RealT Batch, Queries, Keys;
  RealT Pairs; ///< of a query and a key that a sample and head need
  RealT QueryChannels, KeyChannels, ContextChannels;
  RealT Heads; ///< of the queries; 0 if its layer has no such key
  /// Bytes of a token that it reads of an engine's cache; none in training.
  std::optional<RealT> OfCached = std::nullopt;
};
using AttentionShape = AttentionShapeOf<double>;

/// A kernel without products: a scan, a stream, an embedding or an optimizer.
template <typename RealT> struct StreamShapeOf {
  KernelClass Class;
  RealT Work;  ///< FLOPs
  RealT Bytes; ///< read and written
};
using StreamShape = StreamShapeOf<double>;

/// Unfused attention on a rank.
template <typename RealT> struct ScoresShapeOf {
  bool IsBackward, HasDropout;
  RealT Work;   ///< FLOPs of one product, of all scores
  RealT Scores; ///< on the rank
};

/// The numbers of a benchmark that laws read besides shapes.
class BenchmarkNumbers {
public:
  using Real = double;
  BenchmarkNumbers(const LawParameters &Of, const ir::DeviceSpec &Device)
      : Of(Of), Device(Device) {}

  double operator[](ir::KernelParameterId Id) const { return Of[Id]; }
  bool has(ir::KernelParameterId Id) const { return Of.has(Id); }
  double number(double Value) const { return Value; }
  double peak(ir::TypeKind Operand) const;
  double bandwidth() const;
  /// Returns nothing: a benchmark has no slowdown.
  std::optional<double> slowdown() const { return std::nullopt; }

private:
  LawParameters Of;
  const ir::DeviceSpec &Device;
};

/// The numbers of a job that laws read besides shapes.
class JobNumbers {
public:
  using Real = ir::RealExpr;
  explicit JobNumbers(ir::ExprScope P) : P(P), Of(P->Spec.Cost) {}

  Real operator[](ir::KernelParameterId Id) const;
  bool has(ir::KernelParameterId Id) const { return Of.has(Id); }
  Real number(double Value) const { return {P.Sizes, P.Sizes.real(Value)}; }
  Real peak(ir::TypeKind Operand) const;
  Real bandwidth() const;
  /// Returns by how much rates are lower than those of few devices.
  std::optional<Real> slowdown() const;

private:
  Real rate(ir::KeyId Id, const Located<int64_t> &Key) const;

  ir::ExprScope P;
  LawParameters Of;
};

using LawParameterIds = llvm::SmallVector<ir::KernelParameterId, 12>;

/// Durations in seconds. Of a job these are those in training: at sustained
/// rates, and for products of experts with the permutations and counts around
/// them. Of a benchmark they are those of kernels alone.
template <typename NumbersT> class KernelLaws {
public:
  using Real = typename NumbersT::Real;

  explicit KernelLaws(NumbersT Numbers)
      : Of(std::move(Numbers)), Slowdown(Of.slowdown()) {}

  /// Returns the parameters that the law of a shape reads; the host waits for
  /// the counts of tokens (KernelTimes.h), or not.
  LawParameterIds parametersOf(const ProductShapeOf<Real> &S,
                               bool NeedsCounts) const;
  LawParameterIds parametersOf(KernelClass C) const;

  Real timeOf(const ProductShapeOf<Real> &S, bool NeedsCounts = true) const;
  Real timeOf(const AttentionShapeOf<Real> &S) const;
  Real timeOf(const StreamShapeOf<Real> &S) const;
  Real timeOf(const ScoresShapeOf<Real> &S) const;
  /// Returns the time of the stream that splits and rotates queries, keys and
  /// values: 6 bytes for each of their \p Elements, 8 backward.
  Real timeOfArranging(Real Elements, bool IsBackward) const;

  const NumbersT &numbers() const { return Of; }

private:
  Real timeOfFused(const AttentionShapeOf<Real> &S) const;
  Real timeOfCached(const AttentionShapeOf<Real> &S) const;
  Real startOfGroups(const ProductShapeOf<Real> &S, bool NeedsCounts) const;
  Real rate(ir::KernelParameterId Efficiency, ir::TypeKind Operand,
            ir::KernelParameterId Sustained) const;
  Real stream(Real Bytes) const;
  Real narrowHeadFactor(const AttentionShapeOf<Real> &S) const;

  const NumbersT Of;
  const std::optional<Real> Slowdown;
};
using BenchmarkLaws = KernelLaws<BenchmarkNumbers>;
using JobLaws = KernelLaws<JobNumbers>;

/// Returns the FLOPs of the products of \p S, of pairs that it needs.
template <typename RealT> RealT workOf(const AttentionShapeOf<RealT> &S) {
  return (S.IsBackward ? 4.0 : 2.0) * S.Batch * S.Pairs *
         (S.QueryChannels + S.ContextChannels);
}

} // namespace foretrace
