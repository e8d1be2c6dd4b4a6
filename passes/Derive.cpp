// SPDX-License-Identifier: Apache-2.0
//
// derive: fills in what follows from what was stated (dp, ga, head_dim, padded
// vocabulary ...) and reports every combination of numbers that Megatron-LM
// would refuse or silently get wrong. Where a diagnostic is allowed (a
// compatible table of a generator that does not check), quotients are floored.

#include "ir/SpecKeys.h"
#include "ir/Spellings.h"
#include "passes/Deriver.h"
#include "passes/Passes.h"
#include "passes/Remedies.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

bool Deriver::define(Located<int64_t> &F, Expr As, SourceRange From,
                     llvm::StringRef What) {
  if (!As.hasValue()) {
    error(From, diag::SizeOverflow, What);
    return false;
  }
  Program.Sizes.define(ir::keyOf(S, F), As);
  F.derive(As.value(), From);
  return true;
}

bool Deriver::holds(Expr Condition, diag::Id Id,
                    const Located<int64_t> &Blamed) {
  Program.Conditions.push_back({Condition, Id, ir::keyOf(S, Blamed)});
  return Condition.value() > 0; // nothing holds of what has no value
}

int64_t Deriver::decide(Expr Of) {
  if (!Of.isConstant(Of.value()))
    Program.Decisions.push_back({Of, Of.value()});
  return Of.value();
}

/// Ranks fold in two ways, and `world` must be a multiple of both.
void Deriver::reportWorld(int64_t ModelRanks) {
  const ParallelSpec &P = S.Parallel;
  DiagnosticBuilder D = error(P.World.Range, diag::WorldIndivisible, *P.World,
                              *P.Tp, *P.Cp, *P.Pp, ModelRanks);
  D.noteValue("tp", P.Tp).noteValue("pp", P.Pp);
  const int64_t Etp = P.Etp.isPresent() ? *P.Etp : *P.Tp;
  int64_t ExpertRanks;
  if (hasExperts() && !llvm::MulOverflow(Etp, *P.Ep, ExpertRanks) &&
      !llvm::MulOverflow(ExpertRanks, *P.Pp, ExpertRanks))
    D.note(P.Ep.Range, diag::ExpertRanks, Etp, *P.Ep, *P.Pp, ExpertRanks);
}

void Deriver::deriveWorld() {
  ParallelSpec &P = S.Parallel;
  int64_t ModelRanks;
  int64_t TpCp;
  if (llvm::MulOverflow(*P.Tp, *P.Cp, TpCp) ||
      llvm::MulOverflow(TpCp, *P.Pp, ModelRanks)) {
    error(P.World.Range, diag::SizeOverflow, "tp x cp x pp");
    return;
  }
  if (!holds(isMultiple(of(P.World), of(P.Tp) * of(P.Cp) * of(P.Pp)),
             diag::WorldIndivisible, P.World)) {
    reportWorld(ModelRanks);
    return;
  }
  const Expr Dp = of(P.World) / (of(P.Tp) * of(P.Cp) * of(P.Pp));
  if (P.Dp.isStated() && *P.Dp != Dp.value()) {
    error(P.Dp.Range, diag::DpMismatch, *P.Dp, *P.World, ModelRanks, Dp.value())
        .noteValue("world", P.World);
    return;
  }
  define(P.Dp, Dp, P.Dp.isStated() ? P.Dp.Range : P.World.Range, "dp");
  decide(of(P.Zero));
  if (*P.Zero > 3 || *P.Zero < 0)
    error(P.Zero.Range, diag::ZeroStage, *P.Zero);
}

void Deriver::deriveBatch() {
  ParallelSpec &P = S.Parallel;
  TrainSpec &T = S.Train;
  int64_t PerStep;
  if (llvm::MulOverflow(*T.MicroBatch, *P.Dp, PerStep)) {
    error(T.MicroBatch.Range, diag::SizeOverflow, "micro_batch x dp");
    return;
  }
  if (!T.GlobalBatch.isPresent()) {
    if (!P.Ga.isPresent())
      P.Ga.setDefault(1);
    define(T.GlobalBatch, of(T.MicroBatch) * of(P.Dp) * of(P.Ga), P.Ga.Range,
           "micro_batch x dp x ga");
    return;
  }
  if (!holds(isMultiple(of(T.GlobalBatch), of(T.MicroBatch) * of(P.Dp)),
             diag::BatchIndivisible, T.GlobalBatch)) {
    error(T.GlobalBatch.Range, diag::BatchIndivisible, *T.GlobalBatch,
          *T.MicroBatch, *P.Dp, PerStep)
        .noteValue("dp", P.Dp);
    IsBatchRefused = true;
  }
  const Expr Ga = quotient(of(T.GlobalBatch), of(T.MicroBatch) * of(P.Dp));
  if (P.Ga.isStated() && *P.Ga != Ga.value() && !IsBatchRefused)
    error(P.Ga.Range, diag::GaMismatch, *P.Ga, *T.GlobalBatch, PerStep,
          Ga.value())
        .noteValue("global_batch", T.GlobalBatch);
  define(P.Ga, Ga, P.Ga.isStated() ? P.Ga.Range : T.GlobalBatch.Range, "ga");
}

void Deriver::checkSequence() {
  ParallelSpec &P = S.Parallel;
  const Located<int64_t> &Seq = S.Train.Sequence;
  if (*P.SequenceParallel && !exceeds(P.Tp, 1)) {
    error(P.SequenceParallel.Range, diag::SpWithoutTp).noteValue("tp", P.Tp);
    // A generator that takes it as given writes other rows.
    if (!Diags.isAllowed(diag::SpWithoutTp))
      P.SequenceParallel.setDefault(false);
  }
  // The ring gives every rank a slice of each half, so that causal masks
  // balance: 2 cp slices (Megatron-LM, get_batch_on_this_cp_rank).
  const bool IsSplit = exceeds(P.Cp, 1);
  Expr Parts = IsSplit ? of(P.Cp) * 2 : number(1);
  if (*P.SequenceParallel)
    Parts *= of(P.Tp);
  if (!Parts.hasValue()) {
    error(P.Tp.Range, diag::SizeOverflow, "2 x cp x tp");
    return;
  }
  if (!holds(isMultiple(of(Seq), Parts), diag::SequenceIndivisible, Seq))
    error(Seq.Range, diag::SequenceIndivisible, *Seq, Parts.value(),
          IsSplit ? (*P.SequenceParallel ? "2 x cp x tp" : "2 x cp") : "tp")
        .noteValue("tp", P.Tp);
}

/// Keys that only some jobs read.
void Deriver::checkEffects() {
  ParallelSpec &P = S.Parallel;
  if (*P.CpComm != CpCommKind::AllGather && !exceeds(P.Cp, 1)) {
    error(P.CpComm.Range, diag::KeyWithoutEffect, "cp_comm", "with cp = 1");
    P.CpComm.setDefault(CpCommKind::AllGather);
  }
  if (*P.ZeroRefetch &&
      (*P.Zero != 3 || *S.Train.Recompute != RecomputeKind::Full)) {
    error(P.ZeroRefetch.Range, diag::KeyWithoutEffect, "zero_refetch",
          "without `zero = 3` and `recompute = full`");
    P.ZeroRefetch.setDefault(false);
  }
  for (BlockSpec &B : S.Model.Blocks)
    if (B.Moe && !exceeds(B.Moe->SharedIntermediate, 0) && *B.Moe->SharedGate) {
      error(B.Moe->SharedGate.Range, diag::KeyWithoutEffect, "shared_gate",
            "without shared experts");
      B.Moe->SharedGate.setDefault(false);
    }
}

void Deriver::deriveExpertMesh() {
  ParallelSpec &P = S.Parallel;
  if (!hasExperts()) {
    if (exceeds(P.Ep, 1))
      error(P.Ep.Range, diag::EpWithoutExperts, *P.Ep);
    if (P.Etp.isStated())
      error(P.Etp.Range, diag::KeyWithoutEffect, "etp", "without experts");
    define(P.Etp, of(P.Tp), P.Tp.Range, "etp");
    return;
  }
  const Expr StageRanks = of(P.Tp) * of(P.Cp) * of(P.Dp);
  const Expr ExpertRanks = of(P.Ep) * of(P.Etp);
  if (!ExpertRanks.hasValue() ||
      !holds(isMultiple(StageRanks, ExpertRanks), diag::EpExceedsDp, P.Ep))
    error(P.Ep.Range, diag::EpExceedsDp, *P.Ep, *P.Etp, StageRanks.value(),
          *P.Tp, *P.Cp, *P.Dp);
}

/// Reports what releases before \p Least can't do, or do in a way that isn't
/// known here.
void Deriver::needVersion(SourceRange R, llvm::StringRef What,
                          MegatronVersion Least) {
  const Located<MegatronVersion> &Has = S.Parallel.Megatron;
  if (*Has < Least)
    error(R, diag::MegatronTooOld, What, getSpelling(Least), getSpelling(*Has))
        .note(Has.Range, diag::ValueFromHere, "megatron", getSpelling(*Has));
}

/// Megatron-LM, parallel_state.py and training/initialize.py: ranks are folded
/// for experts even if the model has none, and both ways must agree on stages.
void Deriver::checkRankOrder() {
  const ParallelSpec &P = S.Parallel;
  if (hasExperts() && !decide(combine(ExprOp::Equal, of(P.Etp), of(P.Tp))))
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

void Deriver::fillMesh() {
  const ParallelSpec &P = S.Parallel;
  Mesh[Axis::Tp] = *P.Tp;
  Mesh[Axis::Cp] = *P.Cp;
  Mesh[Axis::Dp] = *P.Dp;
  Mesh[Axis::Pp] = *P.Pp;
  for (const Located<int64_t> *Axis : {&P.Tp, &P.Cp, &P.Dp, &P.Pp})
    exceeds(*Axis, 1);
  if (!hasExperts() || Failed)
    return;
  for (const Located<int64_t> *Axis : {&P.Etp, &P.Ep})
    exceeds(*Axis, 1);
  Mesh[Axis::Etp] = *P.Etp;
  Mesh[Axis::Ep] = *P.Ep;
  const Expr Edp(
      Program.Sizes,
      Program.Sizes.define({KeyId::Edp}, of(P.Tp) * of(P.Cp) * of(P.Dp) /
                                             (of(P.Etp) * of(P.Ep))));
  Mesh[Axis::Edp] = Edp.value();
  decide(combine(ExprOp::Less, number(1), Edp));
}

bool foretrace::derive(Program &P, DiagnosticEngine &Diags) {
  const Spec Given = P.Spec;
  P.Conditions.clear();
  P.Decisions.clear();
  Deriver D(P, Diags);
  if (D.run())
    return true;
  noteRemedies(Given, P.Spec, D.errors(), Diags);
  return false;
}
