// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/GoalReplay.h"
#include "lang/diagnostics/Validate.h"
#include "tools/validate/Replay.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace foretrace::validate {

ArrayRef<GoalEdge> GoalRank::after(uint32_t On) const {
  const auto [First, Last] = std::equal_range(
      Edges.begin(), Edges.end(), GoalEdge{On},
      [](const GoalEdge &A, const GoalEdge &B) { return A.On < B.On; });
  return ArrayRef(Edges).slice(First - Edges.begin(), Last - First);
}

namespace {

class GoalRules final : public ReplayRules {
public:
  GoalRules(ArrayRef<GoalRank> Ranks, bool IsEager)
      : Ranks(Ranks), IsEager(IsEager) {}

  bool doSendsWait() const override { return !IsEager; }
  size_t ranks() const override { return Ranks.size(); }
  std::vector<uint32_t> waits(uint32_t Rank) const override;
  ReplayOp op(RankOp Of) const override;
  void forEachAfter(RankOp On, bool IsStart,
                    function_ref<void(uint32_t)> Visit) const override;
  std::string describe(RankOp Of) const override {
    return formatv("line {0}", statement(Of).Line);
  }

  const GoalOp &statement(RankOp Of) const { return Ranks[Of.Rank].Ops[Of.Op]; }

private:
  ArrayRef<GoalRank> Ranks;
  const bool IsEager;
};

std::vector<uint32_t> GoalRules::waits(uint32_t Rank) const {
  std::vector<uint32_t> Waits(Ranks[Rank].Ops.size());
  for (const GoalEdge &E : Ranks[Rank].Edges)
    ++Waits[E.Op];
  return Waits;
}

ReplayOp GoalRules::op(RankOp Of) const {
  const GoalOp &S = statement(Of);
  if (S.Is == GoalStatement::Kind::Calc)
    return {};
  return {S.Is == GoalStatement::Kind::Send ? ReplayKind::Send
                                            : ReplayKind::Recv,
          /*Type=*/0, S.Peer, S.Tag, S.Amount};
}

void GoalRules::forEachAfter(RankOp On, bool IsStart,
                             function_ref<void(uint32_t)> Visit) const {
  for (const GoalEdge &E : Ranks[On.Rank].after(On.Op))
    if (E.IsStart == IsStart)
      Visit(E.Op);
}

/// Reports messages that are never received, or have two different sizes.
void reportMessages(const GoalRules &Rules, const Replay &Run, StringRef Path,
                    Findings &Out) {
  for (const auto &[Send, Receive] : Run.unequal()) {
    const GoalOp &S = Rules.statement(Send);
    Out.report({Path.str(), S.Line, {}}, diag::GoalMessageSize, Send.Rank,
               S.Amount, S.Tag, Receive.Rank, Rules.statement(Receive).Amount);
  }
  for (const auto &[M, Send] : Run.unreceived())
    Out.report({Path.str(), Rules.statement(Send).Line, {}},
               diag::GoalSendUnmatched, M.Target, M.Tag, M.Source);
}

} // namespace

void replayGoal(ArrayRef<GoalRank> Ranks, StringRef Path, Findings &Out) {
  const GoalRules Rendezvous(Ranks, /*IsEager=*/false);
  Replay Patient(Rendezvous);
  const uint64_t Undone = Patient.run();
  if (Undone == 0)
    return reportMessages(Rendezvous, Patient, Path, Out);
  const GoalRules Buffered(Ranks, /*IsEager=*/true);
  Replay Eager(Buffered);
  const uint64_t Lost = Eager.run();
  if (Lost == 0) {
    reportMessages(Buffered, Eager, Path, Out);
    if (Out.hasErrors())
      return;
  }
  RankOp First;
  const std::string Why = (Lost ? Eager : Patient).explain(First);
  Out.report({Path.str(), Rendezvous.statement(First).Line, {}},
             Lost ? diag::GoalDeadlock : diag::GoalRendezvous,
             Lost ? Lost : Undone, Why);
}

} // namespace foretrace::validate
