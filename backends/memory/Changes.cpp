// SPDX-License-Identifier: Apache-2.0
#include "backends/memory/Changes.h"
#include "analysis/StageMemory.h"
#include "ir/model/Spellings.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::memory;

namespace {

/// A kind of change, in steps: each one is more of it than the one before.
struct Way {
  llvm::StringLiteral Key;
  /// Puts the next value in and says it; empty if there is none.
  std::string (*Next)(Spec &S);
};

} // namespace

static std::string giveNumber(Located<int64_t> &Field, int64_t Value) {
  Field.state(Value, Field.Range);
  return std::to_string(Value);
}

static std::string doubled(Located<int64_t> &Field) {
  constexpr int64_t Most = int64_t(1) << 20;
  const int64_t Now = Field.isPresent() ? *Field : 1;
  return Now > Most ? "" : giveNumber(Field, 2 * Now);
}

static std::string nextRecompute(Spec &S) {
  Located<RecomputeKind> &Field = S.Train.Recompute;
  if (*Field == RecomputeKind::Full)
    return "";
  Field.state(*Field == RecomputeKind::None ? RecomputeKind::Selective
                                            : RecomputeKind::Full,
              Field.Range);
  return getSpelling(*Field).str();
}

static constexpr Way Ways[] = {
    {"sequence_parallel",
     [](Spec &S) -> std::string {
       Located<bool> &Field = S.Parallel.SequenceParallel;
       if (*Field)
         return "";
       Field.state(true, Field.Range);
       return "true";
     }},
    {"recompute", nextRecompute},
    {"recompute_num_layers",
     [](Spec &S) -> std::string {
       Located<int64_t> &Field = S.Train.RecomputeNumLayers;
       return Field.isPresent() ? doubled(Field) : "";
     }},
    {"zero",
     [](Spec &S) -> std::string {
       constexpr int64_t Most = 3;
       Located<int64_t> &Field = S.Parallel.Zero;
       return *Field == Most ? "" : giveNumber(Field, *Field + 1);
     }},
    {"dp_shard",
     [](Spec &S) -> std::string {
       Located<int64_t> &Field = S.Parallel.DpShard;
       return Field.isPresent() ? doubled(Field) : "";
     }},
    {"micro_batch",
     [](Spec &S) -> std::string {
       Located<int64_t> &Field = S.Train.MicroBatch;
       return *Field % 2 != 0 ? "" : giveNumber(Field, *Field / 2);
     }},
    {"tp", [](Spec &S) { return doubled(S.Parallel.Tp); }},
    {"ep",
     [](Spec &S) -> std::string {
       const auto &Blocks = S.Model.Blocks;
       return llvm::any_of(Blocks, [](const BlockSpec &B) { return B.Moe; })
                  ? doubled(S.Parallel.Ep)
                  : "";
     }},
    {"cp", [](Spec &S) { return doubled(S.Parallel.Cp); }},
    {"pp", [](Spec &S) { return doubled(S.Parallel.Pp); }},
};

Change memory::measureJob(const Program &Of) {
  ExprOverlay P(Of);
  Change Most{"", 0, 0, 0};
  StageMemories Memories(P, Validity::ThisJob);
  for (int64_t Stage = 0; Stage < P->Schedule.Stages; ++Stage) {
    const std::optional<StageMemory> M = Memories.of(Stage);
    Most.Peak = std::max(Most.Peak, M ? M->Peak.value() : INT64_MAX);
  }
  for (const Stage &S : P->Stages) {
    Most.Work = std::max(Most.Work, P.Sizes.value(S.Totals.Work).value());
    llvm::SmallVector<ExprId, 8> Sent;
    for (const GroupBytes &G : S.Totals.Messages)
      Sent.push_back(G.Size.Id);
    const Expr Sum = sumOf(P, Sent);
    Most.Messages =
        std::max(Most.Messages, Sum.hasValue() ? Sum.value() : INT64_MAX);
  }
  return Most;
}

/// The first step of \p W that will do, with everything recomputed if
/// \p IsRecomputed.
static std::optional<Change> tryWay(const EmitRequest &Request, const Way &W,
                                    bool IsRecomputed, int64_t Room) {
  for (int Steps = 1;; ++Steps) {
    std::string Value;
    const std::optional<Program> P = Request.Vary([&](Spec &S) {
      if (IsRecomputed)
        S.Train.Recompute.state(RecomputeKind::Full, S.Train.Recompute.Range);
      for (int I = 0; I < Steps; ++I)
        Value = W.Next(S);
    });
    if (Value.empty())
      return std::nullopt;
    if (!P)
      continue; // refused
    Change C = measureJob(*P);
    if (C.Peak > Room)
      continue;
    C.Keys = (W.Key + " = " + Value).str();
    if (IsRecomputed)
      C.Keys += ", recompute = full";
    return C;
  }
}

std::vector<Change> memory::changesThatFit(const EmitRequest &Request,
                                           int64_t Room) {
  std::vector<Change> Changes;
  if (!Request.Vary)
    return Changes;
  for (const bool IsRecomputed : {false, true}) {
    for (const Way &W : Ways)
      if (std::optional<Change> C = tryWay(Request, W, IsRecomputed, Room))
        Changes.push_back(std::move(*C));
    if (!Changes.empty())
      break;
  }
  return Changes;
}
