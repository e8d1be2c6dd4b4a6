// SPDX-License-Identifier: Apache-2.0
#include "backends/megatron/Modes.h"
#include "backends/Backend.h"
#include "backends/KnownLayers.h"
#include "backends/ranks/TaskLimits.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::megatron;
using llvm::StringLiteral;
using llvm::StringRef;

bool foretrace::megatron::checkModes(const ir::Program &P,
                                     DiagnosticEngine &Diags) {
  const unsigned Before = Diags.errorCount();
  const ir::ParallelSpec &Par = P.Spec.Parallel;
  // The instrumentation is of Megatron-LM's loops, which other schedules leave.
  static constexpr ir::ScheduleKind Known[] = {
      ir::ScheduleKind::None, ir::ScheduleKind::OneFOneB,
      ir::ScheduleKind::Interleaved, ir::ScheduleKind::GPipe};
  if (!llvm::is_contained(Known, *Par.Schedule))
    Diags.report(Par.Schedule.Range, diag::MegatronSchedule,
                 getSpelling(*Par.Schedule));
  if (*Par.OverlapExpertComm)
    Diags.report(Par.OverlapExpertComm.Range, diag::MegatronSchedule,
                 "interleaved with overlap_moe_expert_parallel_comm");
  if (*Par.Zero > 1)
    Diags.report(Par.Zero.Range, diag::MegatronZero, *Par.Zero)
        .note(Par.Zero.Range, diag::NearestLegal, "zero", "1");
  if (Par.isHybrid())
    Diags.report(Par.DpShard.Range, diag::DpShardUnknown, *Par.DpShard, *Par.Dp,
                 "the instrumented Megatron-LM");
  if (checkKinds(P.Spec, "the instrumented Megatron-LM", Diags))
    (void)checkLayers(P, Diags); // a row has the calls of all layers of a chunk
  return Diags.errorCount() == Before;
}

namespace {

/// A job, and how it is traced.
struct Traced {
  const ir::Spec &Spec;
  Instrumentation How;

  const ir::ParallelSpec &parallel() const { return Spec.Parallel; }
  /// The first block with experts, or null.
  const ir::BlockSpec *experts() const {
    const auto Found = llvm::find_if(Spec.Model.Blocks, hasExperts);
    return Found == Spec.Model.Blocks.end() ? nullptr : &*Found;
  }
  bool isRunOfV2() const { return !How.isV1() && !How.Scaling; }
};

/// A mode that no recorded trace has.
struct UnseenMode {
  StringLiteral Name;
  /// What says that \p T has it, or null.
  const SourceRange *(*Find)(const Traced &T);
};

} // namespace

/// Where a key says so, if \p Holds.
template <typename T>
static const SourceRange *where(bool Holds, const Located<T> &Key) {
  return Holds ? &Key.Range : nullptr;
}

/// Recorded runs are of dense layers and of experts, with pp > 1; those of v1
/// have tp or ep, those of v2 ep, and scaling runs of each what the other has.
static constexpr UnseenMode Unseen[] = {
    {"`sequence_parallel = true`",
     [](const Traced &T) {
       const auto &Key = T.parallel().SequenceParallel;
       return where(*Key, Key);
     }},
    {"tp > 1 in v2",
     [](const Traced &T) {
       const auto &Key = T.parallel().Tp;
       return where(*Key > 1 && T.isRunOfV2() && !T.experts(), Key);
     }},
    {"experts with tp > 1",
     [](const Traced &T) {
       const auto &Key = T.parallel().Tp;
       return where(*Key > 1 && !T.isRunOfV2() && T.experts(), Key);
     }},
    {"cp > 1",
     [](const Traced &T) {
       const auto &Key = T.parallel().Cp;
       return where(*Key > 1, Key);
     }},
    {"`zero = 1`",
     [](const Traced &T) {
       const auto &Key = T.parallel().Zero;
       return where(*Key == 1, Key);
     }},
    {"`schedule = gpipe`",
     [](const Traced &T) {
       const auto &Key = T.parallel().Schedule;
       return where(*Key == ir::ScheduleKind::GPipe, Key);
     }},
    {"`rank_order = tp_cp_ep_pp_dp`",
     [](const Traced &T) {
       const auto &Key = T.parallel().RankOrder;
       return where(*Key == ir::RankOrderKind::TpCpEpPpDp, Key);
     }},
    {"recomputation",
     [](const Traced &T) -> const SourceRange * {
       for (const ir::BlockSpec &B : T.Spec.Model.Blocks)
         if (const auto &Key = T.Spec.recomputeOf(B);
             *Key != ir::RecomputeKind::None && *Key != ir::RecomputeKind::Op)
           return &Key.Range;
       return nullptr;
     }},
    {"latent attention",
     [](const Traced &T) -> const SourceRange * {
       for (const ir::BlockSpec &B : T.Spec.Model.Blocks)
         if (hasLatentAttention(B))
           return &B.Mixer.Range;
       return nullptr;
     }},
    {"shared experts",
     [](const Traced &T) -> const SourceRange * {
       for (const ir::BlockSpec &B : T.Spec.Model.Blocks)
         if (hasExperts(B))
           if (const auto &Key = B.Network.number("shared_intermediate");
               *Key > 0)
             return &Key.Range;
       return nullptr;
     }},
    {"`dispatcher = allgather`",
     [](const Traced &T) -> const SourceRange * {
       for (const ir::BlockSpec &B : T.Spec.Model.Blocks)
         if (hasExperts(B))
           if (const auto &Key = B.Network.word("dispatcher");
               *Key == "allgather")
             return &Key.Range;
       return nullptr;
     }},
    {"`aux_loss = global_aux_loss`",
     [](const Traced &T) -> const SourceRange * {
       for (const ir::BlockSpec &B : T.Spec.Model.Blocks)
         if (hasExperts(B))
           if (const auto &Key = B.Network.word("aux_loss");
               *Key == "global_aux_loss")
             return &Key.Range;
       return nullptr;
     }},
    {"`optimizer = muon`",
     [](const Traced &T) {
       const auto &Key = T.Spec.Train.Optimizer;
       return where(*Key == ir::OptimizerKind::Muon, Key);
     }},
    {"`optimizer = adam_8bit`",
     [](const Traced &T) {
       const auto &Key = T.Spec.Train.Optimizer;
       return where(*Key == ir::OptimizerKind::Adam8Bit, Key);
     }},
    {"`offload_optimizer = true`",
     [](const Traced &T) {
       const auto &Key = T.Spec.Train.OffloadOptimizer;
       return where(*Key, Key);
     }},
};

/// Modes in which the instrumented Megatron-LM stops, or which it lacks.
static void warnOfRefused(const Traced &T, DiagnosticEngine &Diags) {
  const ir::ParallelSpec &Par = T.parallel();
  const auto Refused = [&](SourceRange Range, const llvm::Twine &Mode,
                           StringRef Why) {
    Diags.report(Range, diag::MegatronRefused, Mode.str(), Why);
  };
  for (const ir::BlockSpec &B : T.Spec.Model.Blocks) {
    if (const auto &Key = T.Spec.recomputeOf(B); *Key == ir::RecomputeKind::Op)
      Refused(Key.Range, "`recompute = op`", "only torchtitan has it");
    if (hasLatentAttention(B) && !*B.Mixer.flag("q_rope_tp"))
      Refused(B.Mixer.flag("q_rope_tp").Range, "`q_rope_tp = false`",
              "the projection is split as a whole");
    if (hasExperts(B) && *B.Network.number("shared_intermediate") > 0 &&
        !*B.Network.flag("shared_tp"))
      Refused(B.Network.flag("shared_tp").Range, "`shared_tp = false`",
              "shared experts are split over tp");
  }
  const ir::BlockSpec *Experts = T.experts();
  if (!Experts)
    return;
  if (*Par.Etp != *Par.Tp)
    Refused(Par.Etp.Range,
            "`etp = " + llvm::Twine(*Par.Etp) +
                "` with tp = " + llvm::Twine(*Par.Tp),
            "an expert is spread over tp");
  if (*Par.Cp > 1 && *Par.Ep > 1)
    Refused(Par.Ep.Range, "ep with cp", "its groups are not made for both");
  if (T.isRunOfV2() && *Par.Tp > 1 &&
      *Experts->Network.word("dispatcher") == "alltoall")
    Refused(Par.Tp.Range, "experts with tp = " + llvm::Twine(*Par.Tp),
            "`dispatcher = alltoall` stops at an assertion in v2");
}

/// With one stage, or several chunks of one, no version comes to the end of its
/// first iteration.
static void warnOfEndless(const Traced &T, DiagnosticEngine &Diags) {
  const ir::ParallelSpec &Par = T.parallel();
  const auto Endless = [&](SourceRange Range, const llvm::Twine &Mode) {
    Diags.report(Range, diag::MegatronRefused, Mode.str(),
                 "no version ends its first iteration");
  };
  if (*Par.Pp == 1)
    Endless(Par.Pp.isStated() ? Par.Pp.Range : Par.World.Range, "`pp = 1`");
  if (*Par.Vpp > 1)
    Endless(Par.Vpp.Range, "`vpp = " + llvm::Twine(*Par.Vpp) + "`");
}

void foretrace::megatron::warnOfModes(const ir::Program &P, Instrumentation How,
                                      DiagnosticEngine &Diags) {
  const Traced T = {P.Spec, How};
  warnOfRefused(T, Diags);
  warnOfEndless(T, Diags);
  for (const auto &[Name, Find] : Unseen)
    if (const SourceRange *Where = Find(T))
      Diags.report(*Where, diag::MegatronUnseen, Name);
}
