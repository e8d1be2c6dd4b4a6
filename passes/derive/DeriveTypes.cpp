// SPDX-License-Identifier: Apache-2.0
//
// The part of `derive` that concerns the types of weights, activations,
// messages and the state of the optimizer.

#include "ir/model/KnownDevice.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Passes.h"
#include "passes/derive/Deriver.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Sets a type that is the same as another one by default.
static void follow(Located<TypeKind> &F, TypeKind Default, SourceRange Range) {
  if (!F.isPresent())
    F.derive(Default, Range);
}

static bool isScaled(TypeKind K) { return isScaled(elementTypeOf(K)); }

/// Sets the types that follow from others by default.
void Deriver::followTypes() {
  TrainSpec &T = S.Train;
  const auto Plain = static_cast<TypeKind>(*T.Precision);
  const SourceRange At = T.Precision.Range;
  follow(T.ComputePrecision, Plain, At);
  follow(T.SavedPrecision, *T.ComputePrecision, T.ComputePrecision.Range);
  follow(T.ActivationPrecision, Plain, At);
  follow(T.WeightPrecision, Plain, At);
  follow(T.GatherPrecision,
         isScaled(*T.WeightPrecision) ? *T.WeightPrecision : Plain,
         T.WeightPrecision.Range);
  follow(T.DispatchPrecision, Plain, At);
  follow(T.CombinePrecision, Plain, At);
  // Since core 0.19, Megatron-FSDP keeps and reduces gradients in the type of
  // the weights (mixed_precision.py, main_grads_dtype, grad_comm_dtype);
  // before, in fp32, as it was told by accumulate_allreduce_grads_in_fp32.
  const ParallelSpec &Par = S.Parallel;
  const bool IsFsdp = *Par.Zero >= 2 && Par.Megatron.isStated() &&
                      *Par.Megatron >= MegatronVersion::V0_19;
  if (!T.GradPrecision.isPresent())
    T.GradPrecision.derive(IsFsdp || *T.Precision == PrecisionKind::FP16
                               ? *T.Precision
                               : PrecisionKind::FP32,
                           IsFsdp ? Par.Megatron.Range : At);
  follow(T.ReducePrecision, static_cast<TypeKind>(*T.GradPrecision),
         T.GradPrecision.Range);
  follow(T.MasterPrecision, TypeKind::FP32, At);
  follow(T.MomentPrecision,
         *T.Optimizer == OptimizerKind::PrecisionAware ? TypeKind::FP32
                                                       : *T.MasterPrecision,
         T.MasterPrecision.Range);
  if (!T.ComputeCopies.isPresent())
    T.ComputeCopies.derive(2, T.ComputePrecision.Range);
}

/// Reports a type that the job sets and \p Allowed does not contain. The key
/// \p From decides which are allowed.
void Deriver::checkType(llvm::StringRef Key, const Located<TypeKind> &Type,
                        llvm::ArrayRef<TypeKind> Allowed,
                        const Located<TypeKind> *From) {
  if (!Type.isStated() || llvm::is_contained(Allowed, *Type))
    return;
  llvm::SmallSetVector<llvm::StringRef, 8> Words;
  for (const TypeKind K : Allowed)
    Words.insert(getSpelling(K));
  DiagnosticBuilder D = error(Type.Range, diag::TypeNotAllowed, Key,
                              getSpelling(*Type), llvm::join(Words, ", "));
  if (From && From->isStated())
    D.note(From->Range, diag::ValueFromHere, "compute_precision",
           getSpelling(**From));
}

/// Megatron-LM, distributed_data_parallel_config.py, grad_reduce_in_fp32: the
/// type of parameters, or fp32.
void Deriver::checkGradType() {
  const Located<PrecisionKind> &Type = S.Train.GradPrecision;
  const PrecisionKind Given = *S.Train.Precision;
  if (*Type == Given || *Type == PrecisionKind::FP32)
    return;
  const llvm::StringRef Name = getSpelling(Given);
  error(Type.Range, diag::TypeWithoutFlag, "grad_precision", getSpelling(*Type),
        Name)
      .note(Type.Range, diag::NearestLegal, "grad_precision",
            Given == PrecisionKind::FP32 ? Name.str()
                                         : (Name + " or fp32").str());
}

/// Reports types that need ZeRO, and keys without effect.
void Deriver::checkStoredTypes() {
  const TrainSpec &T = S.Train;
  const int64_t Zero = *S.Parallel.Zero;
  const TypeKind Weight = *T.WeightPrecision;
  if (S.Serve) // without ZeRO, weights may have any type
    return;
  const auto Plain = static_cast<TypeKind>(*T.Precision);
  // Megatron-LM, training/arguments.py, validate_args, of --fp8-param-gather.
  if (isScaled(Weight) && Zero == 0)
    error(T.WeightPrecision.Range, diag::TypeNeedsZero, "weight_precision",
          getSpelling(Weight), "zero = 1 to 3")
        .noteValue("zero", S.Parallel.Zero);
  if (!isScaled(Weight) && Weight != Plain && Zero < 3)
    error(T.WeightPrecision.Range, diag::TypeNeedsZero, "weight_precision",
          getSpelling(Weight), "zero = 3")
        .noteValue("zero", S.Parallel.Zero);
  if (T.GatherPrecision.isStated() && Zero == 0)
    error(T.GatherPrecision.Range, diag::KeyWithoutEffect, "gather_precision",
          "with zero = 0");
  if (T.ComputeCopies.isStated() && Zero == 3)
    error(T.ComputeCopies.Range, diag::KeyWithoutEffect, "compute_copies",
          "with zero = 3");
  if (llvm::any_of(S.computeTypes(), [](TypeKind K) { return isScaled(K); }))
    return;
  if (T.ComputeCopies.isStated() && Zero < 3)
    error(T.ComputeCopies.Range, diag::KeyWithoutEffect, "compute_copies",
          "without a compute_precision that has scales");
}

void Deriver::deriveTypes() {
  followTypes();
  const TrainSpec &T = S.Train;
  const auto Plain = static_cast<TypeKind>(*T.Precision);
  static constexpr TypeKind FP32 = TypeKind::FP32;
  llvm::SmallVector<TypeKind, 8> Any = {Plain}, Stored = {Plain, FP32};
#define TYPE_KIND(ENUMERATOR, SPELLING)                                        \
  if (isScaled(TypeKind::ENUMERATOR) &&                                        \
      !isOfWeightsAlone(elementTypeOf(TypeKind::ENUMERATOR)))                  \
    Any.push_back(TypeKind::ENUMERATOR);
#include "ir/model/Spec.def"
  const Located<TypeKind> &Compute = T.ComputePrecision;
  llvm::append_range(Stored, S.computeTypes());
  checkType("compute_precision", Compute, Any);
  for (const BlockSpec &B : S.Model.Blocks)
    if (B.ComputePrecision.isPresent())
      checkType("compute_precision", B.ComputePrecision, Any);
  checkType("saved_precision", T.SavedPrecision, {Plain, *Compute}, &Compute);
  checkType("activation_precision", T.ActivationPrecision, Any);
  checkType("weight_precision", T.WeightPrecision, Stored, &Compute);
  checkType("gather_precision", T.GatherPrecision, Stored, &Compute);
  checkType("dispatch_precision", T.DispatchPrecision, Any);
  checkType("combine_precision", T.CombinePrecision, Any);
  static constexpr TypeKind Floats[] = {TypeKind::BF16, TypeKind::FP16, FP32,
                                        TypeKind::FP8};
  const llvm::ArrayRef<TypeKind> Unscaled = llvm::ArrayRef(Floats).drop_back();
  checkType("reduce_precision", T.ReducePrecision, Unscaled);
  checkType("master_precision", T.MasterPrecision, Unscaled);
  checkType("moment_precision", T.MomentPrecision, Floats);
  if (*S.Parallel.Zero < 2) // Megatron-FSDP has flags for any type
    checkGradType();
  checkStoredTypes();
}

/// Sets types of the forward pass of a step.
void Deriver::deriveServedTypes() {
  ServeSpec &V = *S.Serve;
  if (!V.WeightPrecision.isPresent())
    V.WeightPrecision.derive(static_cast<TypeKind>(*V.Precision),
                             V.Precision.Range);
  if (!V.KvPrecision.isPresent())
    V.KvPrecision.derive(
        *findSpelling<CacheTypeKind>(getSpelling(*V.Precision)),
        V.Precision.Range);
  const bool HasLatents = llvm::any_of(S.Model.Blocks, [](const BlockSpec &B) {
    return B.Mixer.find<int64_t>("kv_lora") != nullptr;
  });
  if (*V.KvPrecision == CacheTypeKind::FlashMLA && !HasLatents)
    error(V.KvPrecision.Range, diag::ServeCacheType,
          getSpelling(*V.KvPrecision));
  if (!V.StatePrecision.isPresent())
    V.StatePrecision.derive(*V.Engine == EngineKind::VLLM ? *V.Precision
                                                          : PrecisionKind::FP32,
                            V.Engine.Range);
  TrainSpec &T = S.Train;
  T.Precision.derive(*V.Precision, V.Precision.Range);
  const auto Plain = static_cast<TypeKind>(*V.Precision);
  const TypeKind Weights =
      *V.Quantized == QuantizedKind::None ? Plain : *V.WeightPrecision;
  T.WeightPrecision.derive(Weights, V.WeightPrecision.Range);
  const KnownDevice *Device = deviceOf(S); // it may lack products of the type
  T.ComputePrecision.derive(isOfWeightsAlone(elementTypeOf(Weights)) ||
                                    (Device && !Device->has(Weights))
                                ? Plain
                                : Weights,
                            V.WeightPrecision.Range);
  T.ComputeCopies.derive(1, V.WeightPrecision.Range);
  if (*V.Exchange == ExchangeKind::DeepEPNormal ||
      *V.Exchange == ExchangeKind::DeepEPLowLatency)
    T.DispatchPrecision.derive(TypeKind::FP8Block, V.Exchange.Range);
}
