// SPDX-License-Identifier: Apache-2.0
//
// derive: fills in what follows from what was stated (dp, ga, head_dim, padded
// vocabulary ...) and reports every combination of numbers that Megatron-LM
// would refuse or silently get wrong. Where a diagnostic is allowed (a
// compatible table of a generator that does not check), quotients are floored.

#include "ir/model/Shares.h"
#include "ir/model/SpecKeys.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Passes.h"
#include "passes/Passes.h"
#include "passes/derive/Deriver.h"
#include "passes/derive/Remedies.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

bool Deriver::define(Located<int64_t> &F, Expr As, SourceRange From,
                     llvm::StringRef What) {
  if (!exists(As, F)) {
    if (Blamed.insert(From.start()).second)
      error(From, diag::SizeOverflow, What);
    F.derive(0, From); // for the checks that follow
    return false;
  }
  Program.Sizes.define(ir::keyOf(S, F), As);
  F.derive(As.value(), From);
  return true;
}

bool Deriver::ask(Check C) {
  const Expr Of(Program.Sizes, C.Of);
  const bool Passes = C.passes(Of.value());
  if (!IsRefused && !(Passes && Of.isConstant(Of.value())))
    Program.Checks.push_back(C);
  IsRefused |= !Passes;
  return Passes;
}

bool Deriver::holds(Expr Condition, diag::Id Id,
                    const Located<int64_t> &Blamed) {
  if (Diags.isAllowed(Id)) // an allowed job continues without it
    return decide(Condition) > 0;
  return ask({Check::Kind::Condition, Condition, 0, Id, ir::keyOf(S, Blamed)});
}

bool Deriver::exists(Expr Number, const Located<int64_t> &Blamed) {
  return ask({Check::Kind::Existence, Number, 0, diag::SizeOverflow,
              ir::keyOf(S, Blamed)});
}

int64_t Deriver::decide(Expr Of) {
  ask({Check::Kind::Decision, Of, Of.value()});
  return Of.value();
}

/// Ranks fold in two ways, and `world` must be a multiple of both.
void Deriver::reportWorld(int64_t ModelRanks) {
  if (S.Serve)
    return refuseWorld(ModelRanks);
  const ParallelSpec &P = S.Parallel;
  DiagnosticBuilder D = error(P.World.Range, diag::WorldIndivisible, *P.World,
                              *P.Tp, *P.Cp, *P.Pp, ModelRanks);
  D.noteValue("tp", P.Tp).noteValue("pp", P.Pp);
  const int64_t Etp = P.Etp.isPresent() ? *P.Etp : *P.Tp;
  int64_t ExpertRanks;
  if (HasExperts && !llvm::MulOverflow(Etp, *P.Ep, ExpertRanks) &&
      !llvm::MulOverflow(ExpertRanks, *P.Pp, ExpertRanks))
    D.note(P.Ep.Range, diag::ExpertRanks, Etp, *P.Ep, *P.Pp, ExpertRanks);
}

void Deriver::deriveWorld() {
  ParallelSpec &P = S.Parallel;
  const Expr ModelRanks = of(P.Tp) * of(P.Cp) * of(P.Pp);
  if (!exists(ModelRanks, P.World)) {
    error(P.World.Range, diag::SizeOverflow, "tp x cp x pp");
    return;
  }
  if (!holds(isMultiple(of(P.World), ModelRanks),
             S.Serve ? diag::ServeWorld : diag::WorldIndivisible, P.World))
    return reportWorld(ModelRanks.value());
  const Expr Dp = of(P.World) / ModelRanks;
  if (P.Dp.isStated() && !isStated(P.Dp, Dp, diag::DpMismatch, P.World)) {
    error(P.Dp.Range, diag::DpMismatch, *P.Dp, *P.World, ModelRanks.value(),
          Dp.value())
        .noteValue("world", P.World);
    return;
  }
  define(P.Dp, Dp, P.Dp.isStated() ? P.Dp.Range : P.World.Range, "dp");
  decide(of(P.Zero));
  if (*P.Zero > 3 || *P.Zero < 0)
    error(P.Zero.Range, diag::ZeroStage, *P.Zero);
  if (P.DpShard.isPresent() && !holds(isMultiple(of(P.Dp), of(P.DpShard)),
                                      diag::DpShardIndivisible, P.DpShard))
    error(P.DpShard.Range, diag::DpShardIndivisible, *P.DpShard, *P.Dp)
        .noteValue("dp", P.Dp);
}

/// Replicas among which ZeRO shares.
Expr Deriver::sharingReplicas() {
  const ParallelSpec &P = S.Parallel;
  return of(P.DpShard.isPresent() ? P.DpShard : P.Dp);
}

/// Reports iterations of ten times as many tokens as any published run: mostly
/// the batch was stated in tokens, but is read as samples.
void Deriver::checkTokens(int64_t PerStep) {
  constexpr int64_t MostTokens = 1'000'000'000;
  const TrainSpec &T = S.Train;
  int64_t Tokens, OfStep;
  if (!T.GlobalBatch.isStated() || PerStep < 1 ||
      llvm::MulOverflow(*T.GlobalBatch, *T.Sequence, Tokens) ||
      llvm::MulOverflow(PerStep, *T.Sequence, OfStep) || Tokens < MostTokens)
    return;
  // The nearest legal one: 4M tokens are no multiple of a sequence of 8Ki.
  const int64_t Steps = *T.GlobalBatch / OfStep +
                        (*T.GlobalBatch % OfStep >= OfStep - OfStep / 2);
  if (Steps == 0)
    return;
  const int64_t Meant = Steps * PerStep;
  Diags
      .report(T.GlobalBatch.Range, diag::BatchOfTokens, *T.GlobalBatch, Tokens,
              Meant, Steps * OfStep)
      .noteValue("sequence", T.Sequence)
      .fix(T.GlobalBatch.Range, llvm::Twine(Meant));
}

void Deriver::deriveBatch() {
  ParallelSpec &P = S.Parallel;
  TrainSpec &T = S.Train;
  const Expr PerStep = of(T.MicroBatch) * of(P.Dp);
  if (!exists(PerStep, T.MicroBatch)) {
    error(T.MicroBatch.Range, diag::SizeOverflow, "micro_batch x dp");
    if (!P.Ga.isPresent())
      P.Ga.derive(0); // for the checks that follow
    return;
  }
  if (!T.GlobalBatch.isPresent()) {
    if (!P.Ga.isPresent())
      P.Ga.setDefault(1);
    define(T.GlobalBatch, PerStep * of(P.Ga), P.Ga.Range,
           "micro_batch x dp x ga");
    return;
  }
  checkTokens(PerStep.value());
  if (!holds(isMultiple(of(T.GlobalBatch), PerStep), diag::BatchIndivisible,
             T.GlobalBatch)) {
    error(T.GlobalBatch.Range, diag::BatchIndivisible, *T.GlobalBatch,
          *T.MicroBatch, *P.Dp, PerStep.value())
        .noteValue("dp", P.Dp);
    IsBatchRefused = true;
  }
  const Expr Ga = quotient(of(T.GlobalBatch), PerStep);
  if (P.Ga.isStated() && !IsBatchRefused &&
      !isStated(P.Ga, Ga, diag::GaMismatch, T.GlobalBatch))
    error(P.Ga.Range, diag::GaMismatch, *P.Ga, *T.GlobalBatch, PerStep.value(),
          Ga.value())
        .noteValue("global_batch", T.GlobalBatch);
  define(P.Ga, Ga, P.Ga.isStated() ? P.Ga.Range : T.GlobalBatch.Range, "ga");
}

/// Returns the factor that makes \p Of even: lcm(2, n) = n x (1 + n mod 2).
Expr Deriver::twoUnlessEven(const Located<int64_t> &Of) {
  return number(1) + combine(ExprOp::Mod, of(Of), number(2));
}

void Deriver::checkSequence() {
  ParallelSpec &P = S.Parallel;
  const Located<int64_t> &Seq = S.Train.Sequence;
  if (*P.SequenceParallel && !exceeds(P.Tp, 1)) {
    error(P.SequenceParallel.Range, diag::SpWithoutTp).noteValue("tp", P.Tp);
    // If the error is allowed, the key stays: generators then write other rows.
    if (!Diags.isAllowed(diag::SpWithoutTp))
      P.SequenceParallel.setDefault(false);
  }
  // The ring gives every rank a slice of each half, so that causal masks
  // balance: 2 cp slices (Megatron-LM, get_batch_on_this_cp_rank; asserted by
  // training/arguments.py, validate_args). Sequence parallelism splits the
  // tokens of a rank, both slices together, over tp
  // (tensor_parallel/mappings.py, _split_along_first_dim).
  const bool IsSplit = exceeds(P.Cp, 1);
  Expr Parts = IsSplit ? of(P.Cp) * 2 : number(1);
  if (*P.SequenceParallel)
    Parts = of(P.Tp) * (IsSplit ? of(P.Cp) * twoUnlessEven(P.Tp) : number(1));
  if (!exists(Parts, P.Tp)) {
    error(P.Tp.Range, diag::SizeOverflow, "cp x tp");
    return;
  }
  if (!holds(isMultiple(of(Seq), Parts), diag::SequenceIndivisible, Seq))
    error(Seq.Range, diag::SequenceIndivisible, *Seq, Parts.value(),
          !IsSplit              ? "tp"
          : *P.SequenceParallel ? "lcm(2 x cp, cp x tp)"
                                : "2 x cp")
        .noteValue("tp", P.Tp);
}

/// Rejected by DeepSpeed, runtime/pipe/engine.py, and Megatron-LM's FSDP2,
/// training/arguments.py; Megatron-FSDP and torchtitan allow both.
void Deriver::checkZero() {
  const ParallelSpec &P = S.Parallel;
  if (*P.Zero < 2 || !exceeds(P.Pp, 1) || *P.ZeroPipeline)
    return;
  error(P.Zero.Range, diag::ZeroPipeline, *P.Zero, *P.Pp)
      .noteValue("pp", P.Pp)
      .note({}, diag::RefusedBy, "DeepSpeed",
            "runtime/pipe/engine.py, PipelineEngine")
      .note({}, diag::RefusedBy, "Megatron-LM with FSDP2",
            "training/arguments.py, validate_args");
}

/// Megatron-LM, training/arguments.py, validate_args.
void Deriver::checkOptimizer() {
  const Located<OptimizerKind> &O = S.Train.Optimizer;
  const int64_t Zero = *S.Parallel.Zero;
  const bool IsAware = *O == OptimizerKind::PrecisionAware;
  if (S.Train.MomentPrecision.isStated() && !IsAware) {
    error(S.Train.MomentPrecision.Range, diag::KeyWithoutEffect,
          "moment_precision", "without `optimizer = precision_aware`");
    S.Train.MomentPrecision.setDefault(*S.Train.MasterPrecision);
  }
  const bool IsWhole = *O == OptimizerKind::Muon; // works on whole matrices
  if ((IsAware && Zero == 0) || (IsWhole && Zero != 0)) {
    DiagnosticBuilder D =
        error(O.Range, diag::OptimizerZero, getSpelling(*O), Zero,
              IsWhole ? "unsharded matrices, `zero = 0`"
                      : "sharded optimizer state, `zero = 1` to 3");
    if (IsWhole && Zero == 1 && *S.Parallel.Megatron >= MegatronVersion::V0_18)
      D.note({}, diag::NotHere, "0.18",
             "distribute whole matrices over replicas");
    else
      D.note({}, diag::RefusedBy, "Megatron-LM",
             "training/arguments.py, validate_args");
  }
  // DeepSpeed offloads other optimizers, so a job may want it.
  if (*S.Train.OffloadOptimizer && !IsAware)
    error(S.Train.OffloadOptimizer.Range, diag::OffloadOptimizer,
          getSpelling(*O))
        .note({}, diag::RefusedBy, "Megatron-LM",
              "training/arguments.py, validate_args");
}

/// Checks keys that only some jobs read.
void Deriver::checkEffects() {
  ParallelSpec &P = S.Parallel;
  if (*P.CpComm != CpCommKind::AllGather && !exceeds(P.Cp, 1)) {
    error(P.CpComm.Range, diag::KeyWithoutEffect, "cp_comm", "with cp = 1");
    P.CpComm.setDefault(CpCommKind::AllGather);
  }
  if (P.TpCommOverlap.is(true) && !exceeds(P.Tp, 1)) {
    error(P.TpCommOverlap.Range, diag::KeyWithoutEffect, "tp_comm_overlap",
          "with tp = 1");
    P.TpCommOverlap = {};
  }
  const bool HasModules = S.Train.RecomputeModules.isPresent();
  const BlockSpec *ReadsAgain = findRecomputed([&](RecomputeKind K) {
    return recomputesLayers(K) || (K == RecomputeKind::Selective && HasModules);
  });
  if (*P.ZeroRefetch && (*P.Zero != 3 || !ReadsAgain)) {
    error(P.ZeroRefetch.Range, diag::KeyWithoutEffect, "zero_refetch",
          "without `zero = 3` and recomputed modules that have weights");
    P.ZeroRefetch.setDefault(false);
  }
  if (P.DpShard.isPresent() && *P.Zero == 0) {
    error(P.DpShard.Range, diag::KeyWithoutEffect, "dp_shard", "with zero = 0");
    P.DpShard = {};
  }
  auto Expect = [&](auto &Key, llvm::StringRef Name, bool HasEffect,
                    llvm::StringRef Without) {
    if (!Key.isPresent() || HasEffect)
      return;
    error(Key.Range, diag::KeyWithoutEffect, Name, Without);
    Key = {};
  };
  const bool IsOverlapped = P.OverlapGradReduce.is(true) && *P.Zero < 2;
  const llvm::StringRef Buckets =
      "without `overlap_grad_reduce = true` and `zero = 0` or 1";
  Expect(P.DdpBucketSize, "ddp_bucket_size", IsOverlapped, Buckets);
  Expect(P.DdpNumBuckets, "ddp_num_buckets", IsOverlapped, Buckets);
  Expect(P.DdpPadBuckets, "ddp_pad_buckets",
         !P.DdpPadBuckets.is(true) || *P.Zero == 1, "without `zero = 1`");
  if (P.DpFramework.is(DpFrameworkKind::Torch) && *P.Zero == 1)
    error(P.Zero.Range, diag::TorchZero)
        .note(P.DpFramework.Range, diag::ValueFromHere, "dp_framework",
              "torch");
  Expect(P.ZeroPrefetch, "zero_prefetch", *P.Zero >= 2,
         "without `zero = 2` or 3");
  const bool IsStage3 = isDeepSpeed(P) && *P.Zero == 3;
  const llvm::StringRef Stage3 =
      "without `dp_framework = deepspeed` and `zero = 3`";
  Expect(P.ZeroPersistence, "zero_persistence", IsStage3, Stage3);
  Expect(P.ZeroReuse, "zero_reuse", IsStage3, Stage3);
}

void Deriver::deriveExpertMesh() {
  ParallelSpec &P = S.Parallel;
  if (!HasExperts) {
    if (exceeds(P.Ep, 1))
      error(P.Ep.Range, diag::EpWithoutExperts, *P.Ep);
    if (S.Train.FusedExperts.is(true))
      error(S.Train.FusedExperts.Range, diag::KeyWithoutEffect, "fused_experts",
            "without experts");
    // checkRankOrder reads it: ranks are folded for experts all the same.
    const bool IsRead =
        *P.RankOrder == RankOrderKind::TpCpEpPpDp && exceeds(P.Pp, 1);
    if (P.Etp.isStated() && IsRead)
      return;
    if (P.Etp.isStated())
      error(P.Etp.Range, diag::KeyWithoutEffect, "etp", "without experts");
    define(P.Etp, of(P.Tp), P.Tp.Range, "etp");
    return;
  }
  const Expr StageRanks = of(P.Tp) * of(P.Cp) * of(P.Dp);
  const Expr ExpertRanks = of(P.Ep) * of(P.Etp);
  if (!holds(isMultiple(StageRanks, ExpertRanks), diag::EpExceedsDp, P.Ep))
    error(P.Ep.Range, diag::EpExceedsDp, *P.Ep, *P.Etp, StageRanks.value(),
          *P.Tp, *P.Cp, *P.Dp);
  else if (const Expr Sharing = of(P.Tp) * of(P.Cp) * sharingReplicas();
           P.DpShard.isPresent() && !holds(isMultiple(Sharing, ExpertRanks),
                                           diag::DpShardExperts, P.DpShard))
    error(P.DpShard.Range, diag::DpShardExperts, *P.Ep, *P.Etp, Sharing.value(),
          *P.Tp, *P.Cp, *P.DpShard)
        .noteValue("ep", P.Ep);
}

/// Megatron-LM, parallel_state.py and training/initialize.py: ranks are folded
/// for experts even if the model has none, and both ways must agree on stages.
void Deriver::checkRankOrder() {
  const ParallelSpec &P = S.Parallel;
  if ((HasExperts || P.Etp.isStated()) &&
      !decide(combine(ExprOp::Equal, of(P.Etp), of(P.Tp))))
    needVersion(P.Etp.Range, "an etp other than tp", MegatronVersion::V0_10);
  if (exceeds(P.Ep, 1) && exceeds(P.Cp, 1)) // before, ep was part of dp alone
    needVersion(P.Ep.Range, "ep with cp", MegatronVersion::V0_10);
  if (*P.RankOrder != RankOrderKind::TpCpEpPpDp)
    return;
  if (exceeds(P.Ep, 1) || exceeds(P.Cp, 1))
    needVersion(P.RankOrder.Range, "rank_order = tp_cp_ep_pp_dp with cp or ep",
                MegatronVersion::V0_11);
  const int64_t Model = *P.Tp * *P.Cp;
  int64_t Expert;
  if (Failed || llvm::MulOverflow(*P.Etp, *P.Ep, Expert) || !exceeds(P.Pp, 1) ||
      holds(combine(ExprOp::Equal, of(P.Tp) * of(P.Cp), of(P.Etp) * of(P.Ep)),
            diag::RankOrderExperts, P.Tp))
    return;
  error(P.RankOrder.Range, diag::RankOrderExperts, getSpelling(*P.RankOrder),
        *P.Tp, *P.Cp, Model, *P.Etp, *P.Ep, Expert)
      .note(P.RankOrder.Range, diag::StageRanks, Model, *P.Tp, *P.Cp, *P.Pp,
            *P.Dp, Expert, *P.Etp, *P.Ep, Model * *P.Dp / Expert);
}

/// Splits dp into the ranks that shard parameters and their replicas.
void Deriver::splitReplicas() {
  const ParallelSpec &P = S.Parallel;
  exceeds(P.DpShard, 1);
  const Expr Replicate(
      Program.Sizes,
      Program.Sizes.define({KeyId::DpReplicate}, of(P.Dp) / of(P.DpShard)));
  Mesh[Axis::DpReplicate] = Replicate.value();
  decide(combine(ExprOp::Less, number(1), Replicate));
}

void Deriver::fillMesh() {
  const ParallelSpec &P = S.Parallel;
  Mesh[Axis::Tp] = *P.Tp;
  Mesh[Axis::Cp] = *P.Cp;
  Mesh[Axis::Dp] = sharingReplicas().value();
  Mesh[Axis::Pp] = *P.Pp;
  for (const Located<int64_t> *Axis : {&P.Tp, &P.Cp, &P.Dp, &P.Pp})
    exceeds(*Axis, 1);
  if (P.DpShard.isPresent())
    splitReplicas();
  if (!HasExperts || Failed)
    return;
  for (const Located<int64_t> *Axis : {&P.Etp, &P.Ep})
    exceeds(*Axis, 1);
  Mesh[Axis::Etp] = *P.Etp;
  Mesh[Axis::Ep] = *P.Ep;
  const Expr Edp(Program.Sizes,
                 Program.Sizes.define({KeyId::Edp},
                                      of(P.Tp) * of(P.Cp) * sharingReplicas() /
                                          (of(P.Etp) * of(P.Ep))));
  Mesh[Axis::Edp] = Edp.value();
  decide(combine(ExprOp::Less, number(1), Edp));
}

bool foretrace::derive(Program &P, DiagnosticEngine &Diags) {
  P.Stated = std::make_shared<const Spec>(P.Spec);
  P.Checks.clear();
  Deriver D(P, Diags);
  if (D.run())
    return true;
  if (!Diags.isForTrial())
    noteRemedies(*P.Stated, P.Spec, D.errors(), Diags);
  return false;
}
