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
  /// Returns the place in the job that sets the mode, or null.
  const SourceRange *(*Find)(const Traced &T);
};

} // namespace

static constexpr UnseenMode Unseen[] = {
#define UNSEEN(NAME, KEY, HOLDS)                                               \
  {NAME, [](const Traced &T) -> const SourceRange * {                          \
     const auto &Key = KEY;                                                    \
     return (HOLDS) ? &Key.Range : nullptr;                                    \
   }},
#define UNSEEN_IN(NAME, HAS, KEY, HOLDS)                                       \
  {NAME, [](const Traced &T) -> const SourceRange * {                          \
     for (const ir::BlockSpec &B : T.Spec.Model.Blocks)                        \
       if (HAS)                                                                \
         if (const auto &Key = KEY; HOLDS)                                     \
           return &Key.Range;                                                  \
     return nullptr;                                                           \
   }},
#include "backends/megatron/Unseen.def"
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

/// With one stage, or several chunks per stage, no version of the
/// instrumentation completes its first iteration.
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
