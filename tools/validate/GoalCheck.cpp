// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/GoalCheck.h"
#include "backends/figures/Figures.h"
#include "lang/Quantity.h"
#include "lang/diagnostics/Validate.h"
#include "tools/validate/GoalReplay.h"
#include "tools/validate/Messages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace foretrace::validate {

namespace {

using Kind = GoalStatement::Kind;

/// txt2bin keeps ranks and tags in 32 bits, the last value for `any`, and the
/// numbers of processors and network cards in 8.
constexpr uint64_t Any = UINT32_MAX, MostUnit = UINT8_MAX;
constexpr uint64_t LargeMessage = uint64_t(1) << 31;
/// Labels of a rank that are looked for.
constexpr size_t MostUnresolved = 64;

/// The operations of the rank that is being read.
struct RankOps {
  struct Name {
    StringRef Label;
    int64_t Line;
  };
  StringMap<uint32_t> Labels;
  std::vector<Name> Unresolved;
  GoalRank Rank;
};

class GoalChecker {
public:
  GoalChecker(StringRef Text, StringRef Path, Findings &Out)
      : Text(Text), Path(Path), Out(Out) {}

  std::string run(bool IsExact);

private:
  void take(const GoalStatement &S);
  void beginRank(const GoalStatement &S);
  void endRank();
  void takeOperation(const GoalStatement &S);
  void takeMessage(const GoalStatement &S);
  void takeDependence(const GoalStatement &S);
  std::optional<uint32_t> find(StringRef Label);
  void checkCircles();
  void lookUp();
  void replay();
  void finish();
  /// The rank that is being read; 0 outside of one.
  uint32_t rank() const { return Ranks == 0 ? 0 : uint32_t(Ranks - 1); }

  StringRef Text, Path;
  Findings &Out;
  Place At;
  std::optional<uint64_t> NumRanks;
  uint64_t Ranks = 0, Operations = 0;
  Bytes Sent;
  RankOps Ops;
  std::vector<GoalRank> Kept; ///< for the replay, while there are few
  bool IsInRank = false;
  bool HasAny = false; ///< a receive that takes any rank or tag
  MessageLedger Messages;
};

/// A message, as one end states it; nothing if the peer is any.
std::optional<Message> messageOf(const GoalStatement &S, uint32_t Rank) {
  if (!S.Peer || *S.Peer >= Any || S.IsAnyTag)
    return std::nullopt;
  const auto Peer = static_cast<uint32_t>(*S.Peer);
  const bool IsSend = S.Is == Kind::Send;
  return Message{IsSend ? Rank : Peer, IsSend ? Peer : Rank, S.Tag, S.Amount};
}

void GoalChecker::beginRank(const GoalStatement &S) {
  if (!NumRanks && Ranks == 0)
    Out.report(At, diag::GoalNoRanks);
  if (IsInRank) {
    Out.report(At, diag::GoalSyntax, "`}` before another rank");
    endRank();
  }
  if (S.Amount != Ranks)
    Out.report(At, diag::GoalRankOrder, S.Amount, Ranks);
  ++Ranks;
  IsInRank = true;
}

void GoalChecker::takeMessage(const GoalStatement &S) {
  if (NumRanks && S.Peer && *S.Peer >= *NumRanks)
    Out.report(At, diag::GoalPeer, *S.Peer, *NumRanks);
  if (S.Peer && *S.Peer == rank())
    Out.report(At, diag::GoalSelfMessage, rank());
  if (S.Tag >= Any || (S.IsAnyTag && S.Is == Kind::Send))
    Out.report(At, diag::GoalTag, S.IsAnyTag ? Any : S.Tag);
  if (S.Amount >= LargeMessage)
    Out.report(At, diag::GoalSize, S.Amount);
  const std::optional<Message> M = messageOf(S, rank());
  HasAny |= !M;
  if (S.Is == Kind::Send)
    Sent += S.Amount <= INT64_MAX ? Bytes(static_cast<int64_t>(S.Amount))
                                  : Bytes::overflow();
  if (M && S.Is == Kind::Send)
    Messages.send(*M);
  else if (M)
    Messages.receive(*M);
}

/// Returns the operation as the replay needs it.
static GoalOp opOf(const GoalStatement &S) {
  GoalOp Op;
  Op.Is = S.Is;
  Op.Line = S.Line;
  Op.Amount = S.Amount;
  Op.Peer = static_cast<uint32_t>(S.Peer.value_or(Any));
  Op.Tag = static_cast<uint32_t>(S.IsAnyTag ? Any : S.Tag);
  return Op;
}

void GoalChecker::takeOperation(const GoalStatement &S) {
  std::vector<GoalOp> &All = Ops.Rank.Ops;
  if (!S.Label.empty() &&
      !Ops.Labels.try_emplace(S.Label, static_cast<uint32_t>(All.size()))
           .second)
    Out.report(At, diag::GoalDuplicateLabel, S.Label, rank());
  All.push_back(opOf(S));
  ++Operations;
  if (S.Cpu > MostUnit)
    Out.report(At, diag::GoalNarrow, "cpu", S.Cpu);
  if (S.Nic > MostUnit)
    Out.report(At, diag::GoalNarrow, "nic", S.Nic);
  if (S.Is != Kind::Calc)
    takeMessage(S);
}

std::optional<uint32_t> GoalChecker::find(StringRef Label) {
  const auto Found = Ops.Labels.find(Label);
  if (Found != Ops.Labels.end())
    return Found->second;
  if (Ops.Unresolved.size() < MostUnresolved)
    Ops.Unresolved.push_back({Label, At.Line});
  return std::nullopt;
}

void GoalChecker::takeDependence(const GoalStatement &S) {
  const std::optional<uint32_t> Op = find(S.Label), On = find(S.Other);
  if (Op && On)
    Ops.Rank.Edges.push_back({*On, *Op, S.Is == Kind::IRequires});
}

/// Takes away operations that wait for nothing until none is left, or a circle.
void GoalChecker::checkCircles() {
  sort(Ops.Rank.Edges);
  std::vector<uint32_t> Waits(Ops.Rank.Ops.size());
  for (const GoalEdge &E : Ops.Rank.Edges)
    ++Waits[E.Op];
  std::vector<uint32_t> Ready;
  for (uint32_t I = 0; I != Waits.size(); ++I)
    if (Waits[I] == 0)
      Ready.push_back(I);
  size_t Done = 0;
  for (; Done != Ready.size(); ++Done)
    for (const GoalEdge &E : Ops.Rank.after(Ready[Done]))
      if (--Waits[E.Op] == 0)
        Ready.push_back(E.Op);
  if (Done == Waits.size())
    return;
  constexpr size_t MostShown = 8;
  std::vector<std::string> Labels;
  for (const auto &L : Ops.Labels)
    if (Waits[L.second] > 0)
      Labels.push_back(("`" + L.first() + "`").str());
  sort(Labels);
  if (Labels.size() > MostShown) {
    Labels.resize(MostShown);
    Labels.push_back("...");
  }
  Out.report(At, diag::GoalCycle, rank(), join(Labels, ", "));
}

void GoalChecker::endRank() {
  for (const RankOps::Name &N : Ops.Unresolved)
    if (Ops.Labels.count(N.Label))
      Out.report({Path.str(), N.Line, {}}, diag::GoalLabelLater, N.Label);
    else
      Out.report({Path.str(), N.Line, {}}, diag::GoalUnknownLabel, N.Label,
                 rank());
  if (Ops.Rank.Ops.empty())
    Out.report(At, diag::GoalNoOps, rank());
  checkCircles();
  if (Operations <= MostReplayed)
    Kept.push_back(std::move(Ops.Rank));
  else
    Kept = {};
  Ops = {};
  IsInRank = false;
}

void GoalChecker::take(const GoalStatement &S) {
  At.Line = S.Line;
  if (S.BlankLine > 0)
    Out.report({Path.str(), S.BlankLine, {}}, diag::GoalLeadingBlank);
  if (!S.Overflow.empty())
    Out.report(At, diag::GoalOverflow, S.Overflow);
  switch (S.Is) {
  case Kind::NumRanks:
    if (NumRanks)
      Out.report(At, diag::GoalSyntax, "`rank`");
    NumRanks = S.Amount;
    return;
  case Kind::Rank:
    return beginRank(S);
  case Kind::EndOfRank:
    if (IsInRank)
      return endRank();
    Out.report(At, diag::GoalSyntax, "`rank`");
    return;
  case Kind::Calc:
  case Kind::Send:
  case Kind::Recv:
  case Kind::Requires:
  case Kind::IRequires:
    if (!IsInRank)
      Out.report(At, diag::GoalOutside);
    else if (S.isOperation())
      takeOperation(S);
    else
      takeDependence(S);
    return;
  case Kind::Malformed:
    Out.report(At, diag::GoalSyntax, S.Other);
    return;
  case Kind::End:
    return finish();
  }
}

/// Reads the text once more for the messages to ranks that lack some.
void GoalChecker::lookUp() {
  const std::vector<uint32_t> Targets = Messages.unbalanced(MostLookedUp);
  if (Targets.empty() || HasAny)
    return;
  MessageLookup Found(Targets);
  GoalReader Reader(Text);
  uint32_t Rank = 0, Count = 0;
  for (GoalStatement S = Reader.next(); S.Is != Kind::End; S = Reader.next()) {
    if (S.Is == Kind::Rank)
      Rank = Count++;
    if (S.Is != Kind::Send && S.Is != Kind::Recv)
      continue;
    const std::optional<Message> M = messageOf(S, Rank);
    const Place Here{Path.str(), S.Line, {}};
    if (M && S.Is == Kind::Send)
      Found.send(*M, Here);
    else if (M)
      Found.receive(*M, Here);
  }
  Found.report(
      {diag::GoalSendUnmatched, diag::GoalRecvUnmatched, diag::GoalMessageSize},
      Out);
}

void GoalChecker::replay() {
  const Place Here{Path.str(), 0, {}};
  if (Out.hasErrors())
    Out.report(Here, diag::GoalReplaySkipped, "there are errors");
  else if (HasAny)
    Out.report(Here, diag::GoalReplaySkipped,
               "which message a receive of any takes is a matter of time");
  else if (Operations > MostReplayed)
    Out.report(Here, diag::GoalReplaySkipped,
               formatv("{0} operations are too many", Operations).str());
  else
    replayGoal(Kept, Path, Out);
}

void GoalChecker::finish() {
  if (IsInRank) {
    Out.report(At, diag::GoalSyntax, "`}`");
    endRank();
  }
  if (NumRanks && *NumRanks != Ranks)
    Out.report(At, diag::GoalRankCount, *NumRanks, Ranks);
  if (!Out.hasErrors())
    lookUp();
  replay();
}

std::string GoalChecker::run(bool IsExact) {
  At = {Path.str(), 0, {}};
  GoalReader Reader(Text);
  GoalStatement S;
  do {
    S = Reader.next();
    take(S);
  } while (S.Is != Kind::End);
  return formatv(
      "GOAL schedule: {0} ranks, {1} operations, {2}", Ranks, Operations,
      Sent.isOverflow() ? "2^63 bytes or more"
                        : describe(Sent.value(), FigureUnit::Bytes, IsExact));
}

} // namespace

std::string checkGoal(StringRef Text, StringRef Path, bool IsExact,
                      Findings &Out) {
  return GoalChecker(Text, Path, Out).run(IsExact);
}

} // namespace foretrace::validate
