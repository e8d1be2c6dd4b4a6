// SPDX-License-Identifier: Apache-2.0
//
// The part of `derive` that concerns the schedule: which one fits, and what it
// asks of stages, chunks and micro-batches.

#include "ir/model/Schedule.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Passes.h"
#include "passes/Recomputation.h"
#include "passes/derive/Deriver.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

/// PyTorch, schedules.py, ScheduleInterleaved1F1B and
/// ScheduleInterleavedZeroBubble: as many rounds as stages fit into the
/// micro-batches.
static bool hasRounds(ScheduleKind K) {
  return K == ScheduleKind::Interleaved1F1B ||
         K == ScheduleKind::InterleavedZeroBubble;
}

/// Derives an unstated schedule, or the chunks that a stated one needs.
void Deriver::deriveSchedule() {
  ParallelSpec &P = S.Parallel;
  // Before anything reads how many chunks there are.
  if (P.Schedule.isPresent() && *P.Schedule != ScheduleKind::None &&
      exceeds(P.Pp, 1) && getInfo(*P.Schedule).MostVpp == 2 &&
      !P.Vpp.isStated())
    define(P.Vpp, number(getInfo(*P.Schedule).LeastVpp), P.Schedule.Range,
           "vpp");
  const ScheduleKind Fitting = S.Serve             ? ScheduleKind::Forward
                               : !exceeds(P.Pp, 1) ? ScheduleKind::None
                               : exceeds(P.Vpp, 1) ? ScheduleKind::Interleaved
                                                   : ScheduleKind::OneFOneB;
  if (!P.Schedule.isPresent())
    P.Schedule.derive(Fitting, P.Pp.Range);
  if (!P.Schedule.isStated())
    return; // what doesn't fit then is pp and vpp
  const ScheduleInfo &Info = getInfo(*P.Schedule);
  const bool IsOfStages = *P.Schedule != ScheduleKind::None;
  if (IsOfStages != (*P.Pp > 1) || *P.Schedule == ScheduleKind::Forward)
    error(P.Schedule.Range, diag::ScheduleMismatch, getSpelling(*P.Schedule),
          *P.Pp, *P.Vpp, llvm::formatv("use `{0}`", getSpelling(Fitting)).str())
        .noteValue("pp", P.Pp);
  else if (!holds(isAtMost(number(Info.LeastVpp), of(P.Vpp)),
                  diag::ScheduleMismatch, P.Vpp) ||
           !holds(isAtMost(of(P.Vpp), number(Info.MostVpp)),
                  diag::ScheduleMismatch, P.Vpp))
    error(P.Schedule.Range, diag::ScheduleMismatch, getSpelling(*P.Schedule),
          *P.Pp, *P.Vpp,
          Info.MostVpp == 2
              ? "it needs vpp = 2"
              : llvm::formatv("use `{0}`", getSpelling(Fitting)).str())
        .noteValue("pp", P.Pp);
}

/// Megatron-LM, schedules.py: groups of pp up to core 0.9; since then of at
/// least pp, the last one, too.
void Deriver::checkGroup() {
  ParallelSpec &P = S.Parallel;
  const Located<int64_t> &Group = P.MicroBatchGroup;
  const Expr Rest = combine(ExprOp::Mod, of(P.Ga), of(Group));
  const Expr IsWhole = combine(ExprOp::Equal, Rest, number(0));
  if (*P.Megatron < MegatronVersion::V0_10) {
    if (!decide(combine(ExprOp::Equal, of(Group), of(P.Pp))))
      needVersion(Group.Range, "micro_batch_group", MegatronVersion::V0_10);
    else if (!holds(IsWhole, diag::GaIndivisible, P.Vpp))
      error(P.Vpp.Range, diag::GaIndivisible, *P.Ga, *P.Pp)
          .noteValue("ga", P.Ga);
  } else if (!holds(isAtMost(of(P.Pp), of(Group)), diag::MicroBatchGroup,
                    Group) ||
             !holds(isAtMost(of(Group), of(P.Ga)), diag::MicroBatchGroup,
                    Group)) {
    error(Group.Range, diag::MicroBatchGroup, *Group, *P.Pp, *P.Ga)
        .noteValue("ga", P.Ga);
  } else if (!holds(max(IsWhole, isAtMost(of(P.Pp), Rest)), diag::LastGroup,
                    Group)) {
    error(Group.Range, diag::LastGroup, *P.Ga, Rest.value(), *Group, *P.Pp)
        .noteValue("ga", P.Ga);
  }
}

void Deriver::deriveMicroBatchGroup() {
  ParallelSpec &P = S.Parallel;
  Located<int64_t> &Group = P.MicroBatchGroup;
  const bool IsInterleaved = *P.Schedule == ScheduleKind::Interleaved;
  if (Group.isStated() && !IsInterleaved)
    error(Group.Range, diag::KeyWithoutEffect, "micro_batch_group",
          *P.Vpp == 1 ? std::string("with vpp = 1")
                      : ("with schedule = " + getSpelling(*P.Schedule)).str());
  if (hasRounds(*P.Schedule))
    define(Group,
           floorDiv(of(P.Ga), max(floorDiv(of(P.Ga), of(P.Pp)), number(1))),
           P.Ga.Range, "micro_batch_group");
  else if (!Group.isPresent() || !IsInterleaved)
    define(Group, of(P.Pp), P.Pp.Range, "micro_batch_group");
  if (IsInterleaved && exceeds(P.Vpp, 1) && !IsBatchRefused)
    checkGroup();
}

/// Checks stages and micro-batches for schedules other than Megatron-LM's.
void Deriver::checkMicroBatches() {
  const ParallelSpec &P = S.Parallel;
  auto Refuse = [&](const Located<int64_t> &At, std::string Needs) {
    error(At.Range, diag::ScheduleSizes, getSpelling(*P.Schedule), Needs)
        .noteValue("pp", P.Pp)
        .noteValue("ga", P.Ga);
  };
  const Expr Rounds = max(floorDiv(of(P.Ga), of(P.Pp)), number(1));
  if (hasRounds(*P.Schedule) &&
      !holds(isMultiple(of(P.Ga), Rounds), diag::ScheduleSizes, P.Ga))
    Refuse(P.Ga, llvm::formatv("{0} rounds of equally many micro-batches; "
                               "ga = {1} is not divisible by {0}",
                               Rounds.value(), *P.Ga));
  const bool IsBothWays = *P.Schedule == ScheduleKind::DualPipe;
  if (!IsBothWays && *P.Schedule != ScheduleKind::DualPipeV)
    return;
  if (!holds(isAtMost(of(P.Pp), floorDiv(of(P.Ga), number(2))),
             diag::ScheduleSizes, P.Ga))
    Refuse(P.Ga, llvm::formatv("at least two micro-batches for each of pp = "
                               "{0} stages, not ga = {1}",
                               *P.Pp, *P.Ga));
  if (IsBothWays &&
      !holds(isMultiple(of(P.Ga), number(2)), diag::ScheduleSizes, P.Ga))
    Refuse(P.Ga, llvm::formatv("an even number of micro-batches; "
                               "ga = {0} is odd",
                               *P.Ga));
  if (IsBothWays &&
      !holds(isMultiple(of(P.Pp), number(2)), diag::ScheduleSizes, P.Pp))
    Refuse(P.Pp,
           llvm::formatv("an even number of stages; pp = {0} is odd", *P.Pp));
}

/// Megatron-LM, transformer_config.py, __post_init__, of which what concerns
/// modules is from core 0.17 on; pipeline_parallel/schedules.py, which has one
/// stage, too, from core 0.14 on (combined_1f1b.py).
void Deriver::checkOverlap() {
  ParallelSpec &P = S.Parallel;
  if (P.OverlapP2p.isPresent() && *P.Schedule != ScheduleKind::Interleaved) {
    error(P.OverlapP2p.Range, diag::KeyWithoutEffect, "overlap_p2p",
          "without `schedule = interleaved`");
    P.OverlapP2p = {};
  }
  if (!*P.OverlapExpertComm)
    return;
  const SourceRange At = P.OverlapExpertComm.Range;
  auto Needs = [&](llvm::StringRef What) {
    return error(At, diag::OverlapExpertComm, What);
  };
  auto Refuse = [&](llvm::StringRef What) {
    Needs(What).note({}, diag::RefusedBy, "Megatron-LM",
                     "transformer/transformer_config.py, __post_init__");
  };
  const bool IsOnOneStage = *P.Schedule == ScheduleKind::None &&
                            *P.Megatron >= MegatronVersion::V0_14;
  if (*P.Schedule != ScheduleKind::Interleaved && !IsOnOneStage)
    Needs("`schedule = interleaved`");
  if (!exceeds(P.Ep, 1))
    Refuse("ep > 1");
  if (findRecomputed([](RecomputeKind K) { return K == RecomputeKind::Full; }))
    Refuse("no `recompute = full`");
  if (findRecomputed([](RecomputeKind K) { return K == RecomputeKind::Op; }))
    Refuse("no `recompute = op`");
  if (S.Train.RecomputeModules.isPresent() &&
      *P.Megatron >= MegatronVersion::V0_17 &&
      llvm::is_contained(modulesOf(S.Train), "moe"))
    Refuse("no `moe` in `recompute_modules`");
  if (*S.Train.Precision == PrecisionKind::FP32)
    Refuse("bf16 or fp16");
}

void Deriver::checkSchedule() {
  ParallelSpec &P = S.Parallel;
  deriveMicroBatchGroup();
  if (!IsBatchRefused) {
    checkMicroBatches();
    checkScheduleFile();
  }
  checkOverlap();
  if (!exists(of(P.Ga) * of(P.Vpp), P.Ga))
    error(P.Ga.Range, diag::SizeOverflow, "ga x vpp");
}
