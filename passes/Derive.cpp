// SPDX-License-Identifier: Apache-2.0
//
// derive: fills in what follows from what was stated (dp, ga, head_dim, padded
// vocabulary ...) and reports every combination of numbers that Megatron-LM
// would refuse or silently get wrong. Where a diagnostic is allowed (a
// compatible table of a generator that does not check), quotients are floored.

#include "ir/Spellings.h"
#include "passes/Deriver.h"
#include "passes/Passes.h"
#include "passes/Remedies.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

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
  if (*P.World % ModelRanks != 0 || *P.World < ModelRanks) {
    reportWorld(ModelRanks);
    return;
  }
  int64_t Dp = *P.World / ModelRanks;
  if (P.Dp.isStated() && *P.Dp != Dp) {
    error(P.Dp.Range, diag::DpMismatch, *P.Dp, *P.World, ModelRanks, Dp)
        .noteValue("world", P.World);
    return;
  }
  P.Dp.derive(Dp, P.Dp.isStated() ? P.Dp.Range : P.World.Range);
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
    int64_t Global;
    if (llvm::MulOverflow(PerStep, *P.Ga, Global))
      error(P.Ga.Range, diag::SizeOverflow, "micro_batch x dp x ga");
    else
      T.GlobalBatch.derive(Global, P.Ga.Range);
    return;
  }
  if (*T.GlobalBatch % PerStep != 0 || *T.GlobalBatch < PerStep) {
    error(T.GlobalBatch.Range, diag::BatchIndivisible, *T.GlobalBatch,
          *T.MicroBatch, *P.Dp, PerStep)
        .noteValue("dp", P.Dp);
    IsBatchRefused = true;
  }
  int64_t Ga = *T.GlobalBatch / PerStep;
  if (P.Ga.isStated() && *P.Ga != Ga && !IsBatchRefused)
    error(P.Ga.Range, diag::GaMismatch, *P.Ga, *T.GlobalBatch, PerStep, Ga)
        .noteValue("global_batch", T.GlobalBatch);
  P.Ga.derive(Ga, P.Ga.isStated() ? P.Ga.Range : T.GlobalBatch.Range);
}

void Deriver::checkSequence() {
  ParallelSpec &P = S.Parallel;
  const Located<int64_t> &Seq = S.Train.Sequence;
  if (*P.SequenceParallel && *P.Tp == 1) {
    error(P.SequenceParallel.Range, diag::SpWithoutTp).noteValue("tp", P.Tp);
    // A generator that takes it as given writes other rows.
    if (!Diags.isAllowed(diag::SpWithoutTp))
      P.SequenceParallel.setDefault(false);
  }
  // The ring gives every rank a slice of each half, so that causal masks
  // balance: 2 cp slices (Megatron-LM, get_batch_on_this_cp_rank).
  int64_t Parts = *P.Cp > 1 ? 2 * *P.Cp : 1;
  if (*P.SequenceParallel && llvm::MulOverflow(Parts, *P.Tp, Parts)) {
    error(P.Tp.Range, diag::SizeOverflow, "2 x cp x tp");
    return;
  }
  if (*Seq % Parts != 0)
    error(Seq.Range, diag::SequenceIndivisible, *Seq, Parts,
          *P.Cp > 1 ? (*P.SequenceParallel ? "2 x cp x tp" : "2 x cp") : "tp")
        .noteValue("tp", P.Tp);
}

/// Keys that only some jobs read.
void Deriver::checkEffects() {
  ParallelSpec &P = S.Parallel;
  if (*P.CpComm != CpCommKind::AllGather && *P.Cp == 1) {
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
    if (B.Moe && *B.Moe->SharedGate && *B.Moe->SharedIntermediate == 0) {
      error(B.Moe->SharedGate.Range, diag::KeyWithoutEffect, "shared_gate",
            "without shared experts");
      B.Moe->SharedGate.setDefault(false);
    }
}

void Deriver::deriveExpertMesh() {
  ParallelSpec &P = S.Parallel;
  if (!hasExperts()) {
    if (*P.Ep > 1)
      error(P.Ep.Range, diag::EpWithoutExperts, *P.Ep);
    if (P.Etp.isStated())
      error(P.Etp.Range, diag::KeyWithoutEffect, "etp", "without experts");
    P.Etp.derive(*P.Tp, P.Tp.Range);
    return;
  }
  int64_t StageRanks = *P.Tp * *P.Cp * *P.Dp;
  int64_t ExpertRanks;
  if (llvm::MulOverflow(*P.Ep, *P.Etp, ExpertRanks) ||
      StageRanks % ExpertRanks != 0)
    error(P.Ep.Range, diag::EpExceedsDp, *P.Ep, *P.Etp, StageRanks, *P.Tp,
          *P.Cp, *P.Dp);
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
  if (hasExperts() && *P.Etp != *P.Tp)
    needVersion(P.Etp.Range, "an etp other than tp", MegatronVersion::V0_10);
  if (*P.Ep > 1 && *P.Cp > 1) // before, ep was part of dp alone
    needVersion(P.Ep.Range, "ep with cp", MegatronVersion::V0_10);
  if (*P.RankOrder != RankOrderKind::TpCpEpPpDp)
    return;
  if (*P.Ep > 1 || *P.Cp > 1)
    needVersion(P.RankOrder.Range, "rank_order = tp_cp_ep_pp_dp with cp or ep",
                MegatronVersion::V0_11);
  const int64_t Model = *P.Tp * *P.Cp;
  int64_t Expert;
  if (Failed || llvm::MulOverflow(*P.Etp, *P.Ep, Expert) || *P.Pp == 1 ||
      Model == Expert)
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
  if (!hasExperts() || Failed)
    return;
  Mesh[Axis::Etp] = *P.Etp;
  Mesh[Axis::Ep] = *P.Ep;
  Mesh[Axis::Edp] = *P.Tp * *P.Cp * *P.Dp / (*P.Etp * *P.Ep);
}

bool foretrace::derive(Program &P, DiagnosticEngine &Diags) {
  const Spec Given = P.Spec;
  Deriver D(P, Diags);
  if (D.run())
    return true;
  noteRemedies(Given, P.Spec, D.errors(), Diags);
  return false;
}
