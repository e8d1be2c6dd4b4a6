// SPDX-License-Identifier: Apache-2.0
#include "ir/schedule/StageOrder.h"
#include "llvm/Support/ErrorHandling.h"

using namespace foretrace;
using namespace foretrace::ir;

StageOrder::StageOrder(const Schedule &S, int64_t Stage)
    : S(S), Stage(Stage),
      State(static_cast<size_t>(S.Chunks * S.MicroBatches)) {
  for (int64_t Chunk = 0; Chunk < S.Chunks; ++Chunk) {
    Next.push_back(linkOf(Chunk, /*IsNext=*/true));
    Last.push_back(linkOf(Chunk, /*IsNext=*/false));
  }
}

/// Where the placement turns round, as that of a V does, neighbouring parts are
/// on one stage, and nothing is sent between them.
StageOrder::Link StageOrder::linkOf(int64_t Chunk, bool IsNext) const {
  const std::optional<int64_t> There = S.neighbour(Stage, Chunk, IsNext);
  if (!There)
    return {true, std::nullopt, std::nullopt};
  if (*There != Stage)
    return {false, std::nullopt, There};
  const int64_t Part = S.partOf(Stage, Chunk) + (IsNext ? 1 : -1);
  int64_t Own = 0;
  while (S.partOf(Stage, Own) != Part)
    ++Own;
  return {false, Own, std::nullopt};
}

/// Returns whether the data that come over a link have arrived.
bool StageOrder::isThere(const Link &At, const Action &A, Done Made,
                         Done Received) const {
  if (At.IsEnd)
    return true;
  return At.Own ? has(*At.Own, A.MicroBatch, Made)
                : has(A.Chunk, A.MicroBatch, Received);
}

/// A backward step is that of inputs, which others wait for, and that of
/// weights, which zero-bubble schedules put off: they may be one action or two.
llvm::StringRef StageOrder::compute(const Action &A) {
  const auto Chunk = static_cast<size_t>(A.Chunk);
  unsigned char &Has = of(A);
  if (!S.takes(A.Chunk, A.MicroBatch))
    return "goes through the other copy of the model";
  if (A.Kind == ActionKind::Forward) {
    if (Has & Forward)
      return "has run before";
    if (!isThere(Last[Chunk], A, Forward, ReceivedForward))
      return "has no input yet";
    Has |= Forward;
    return "";
  }
  if (A.Kind == ActionKind::BackwardWeight) {
    if (Has & BackwardWeight)
      return "has run before";
    if (!(Has & BackwardInput))
      return "comes before the gradients of inputs";
    Has |= BackwardWeight;
    return "";
  }
  if (Has & BackwardInput)
    return "has run before";
  if (!(Has & Forward))
    return "comes before its forward step";
  if (!isThere(Next[Chunk], A, BackwardInput, ReceivedBackward))
    return "has no gradient yet";
  Has |= BackwardInput;
  if (A.Kind == ActionKind::Backward)
    Has |= BackwardWeight;
  return "";
}

llvm::StringRef StageOrder::message(const Action &A) {
  const bool IsForward =
      A.Kind == ActionKind::SendForward || A.Kind == ActionKind::RecvForward;
  const Link &At =
      (isSend(A.Kind) == IsForward ? Next : Last)[static_cast<size_t>(A.Chunk)];
  if (At.Peer != A.Peer)
    return "has another stage at its other end than the model";
  if (!S.takes(A.Chunk, A.MicroBatch))
    return "goes through the other copy of the model";
  unsigned char &Has = of(A);
  const Done Made = IsForward ? Forward : BackwardInput;
  const Done Sent = IsForward ? SentForward : SentBackward;
  const Done Received = IsForward ? ReceivedForward : ReceivedBackward;
  if (isSend(A.Kind) && !(Has & Made))
    return "has nothing to send yet";
  const Done This = isSend(A.Kind) ? Sent : Received;
  if (Has & This)
    return "has been done before";
  Has |= This;
  return "";
}

llvm::StringRef StageOrder::finalize(const Action &A) {
  if (A.Kind == ActionKind::Reduce) {
    if (IsReduced)
      return "has been done before";
    if (firstMissing())
      return "comes before the last gradient";
    IsReduced = true;
    return "";
  }
  if (HasStepped)
    return "has been done before";
  if (!IsReduced)
    return "comes before gradients are reduced";
  HasStepped = true;
  return "";
}

llvm::StringRef StageOrder::take(const Action &A) {
  if (isCompute(A.Kind))
    return compute(A);
  return isMessage(A.Kind) ? message(A) : finalize(A);
}

/// Returns the steps of each micro-batch that a chunk has taken in the end.
unsigned char StageOrder::expected(int64_t Chunk) const {
  if (S.Kind == ScheduleKind::Forward)
    return Forward | (Next[static_cast<size_t>(Chunk)].Peer ? SentForward : 0) |
           (Last[static_cast<size_t>(Chunk)].Peer ? ReceivedForward : 0);
  unsigned char All = Forward | BackwardInput | BackwardWeight;
  if (Next[static_cast<size_t>(Chunk)].Peer)
    All |= SentForward | ReceivedBackward;
  if (Last[static_cast<size_t>(Chunk)].Peer)
    All |= SentBackward | ReceivedForward;
  return All;
}

std::optional<Action> StageOrder::firstMissing() const {
  static constexpr std::pair<Done, ActionKind> Kinds[] = {
      {ReceivedForward, ActionKind::RecvForward},
      {Forward, ActionKind::Forward},
      {SentForward, ActionKind::SendForward},
      {ReceivedBackward, ActionKind::RecvBackward},
      {BackwardInput, ActionKind::Backward},
      {BackwardWeight, ActionKind::BackwardWeight},
      {SentBackward, ActionKind::SendBackward}};
  for (int64_t Chunk = 0; Chunk < S.Chunks; ++Chunk) {
    const unsigned char All = expected(Chunk);
    for (int64_t B = 0; B < S.MicroBatches; ++B) {
      if (!S.takes(Chunk, B))
        continue;
      const unsigned char Has = State[index(Chunk, B)];
      if ((Has & All) == All)
        continue;
      Action A;
      A.MicroBatch = B;
      A.Chunk = Chunk;
      for (const auto &[What, Kind] : Kinds)
        if ((All & What) && !(Has & What)) {
          A.Kind = Kind;
          return A;
        }
    }
  }
  return std::nullopt;
}

std::optional<Action> StageOrder::missing() const {
  if (std::optional<Action> A = firstMissing())
    return A;
  Action A;
  A.Kind = IsReduced ? ActionKind::Step : ActionKind::Reduce;
  return IsReduced && HasStepped ? std::nullopt : std::optional(A);
}
