// SPDX-License-Identifier: Apache-2.0
#include "ir/ranks/PointToPoint.h"
#include "ir/model/OpKinds.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <array>
#include <utility>

using namespace foretrace;
using namespace foretrace::ir;

ByteRange foretrace::ir::partOf(int64_t Total, int64_t Parts, int64_t I) {
  const int64_t Each = Total / Parts, Longer = Total % Parts;
  return {I * Each + std::min(I, Longer), Each + (I < Longer ? 1 : 0)};
}

/// Messages of one member, while they are being made.
class ir::MessagePlan {
public:
  MessagePlan(int64_t Total, int64_t Ranks, int64_t Position, int64_t Chunk,
              Algorithm::Traits Traits)
      : Total(Total), Ranks(Ranks), Position(Position), Chunk(Chunk),
        Traits(Traits) {}

  int64_t ranks() const { return Ranks; }
  int64_t position() const { return Position; }
  /// The member \p Distance after this one, round the group.
  int64_t neighbour(int64_t Distance) const {
    return (Position + Distance % Ranks + Ranks) % Ranks;
  }
  /// Returns the bytes of \p Count parts, one per member, from \p First on.
  ByteRange parts(int64_t First, int64_t Count = 1) const {
    const ByteRange Last = partOf(Total, Ranks, First + Count - 1);
    const int64_t Begin = partOf(Total, Ranks, First).Begin;
    return {Begin, Last.Begin + Last.Size - Begin};
  }

  // Within a round, all receives are added before the sends.
  void receive(int64_t Peer, ByteRange Bytes, bool IsReduced = false) {
    add(Peer, /*IsSend=*/false, IsReduced, Bytes);
  }
  void send(int64_t Peer, ByteRange Bytes) {
    add(Peer, /*IsSend=*/true, /*IsReduced=*/false, Bytes);
  }
  /// Ends a round whose longest message has \p Parts parts. All members reserve
  /// the tags of that message.
  void endRound(int64_t Parts = 1) {
    ++Round;
    FirstTag += (parts(0, Parts).Size + Chunk - 1) / Chunk;
    for (auto [Before, Now] : llvm::zip_equal(Ends, Lanes))
      if (!Now.empty())
        Before = std::exchange(Now, {});
  }
  /// Returns the messages that were made; must be called only once.
  GroupMessages take();

private:
  using Indices = llvm::SmallVector<int32_t, 4>;

  void add(int64_t Peer, bool IsSend, bool IsReduced, ByteRange Bytes);
  void addChunk(GroupMessage M);
  Indices after(const GroupMessage &M) const;
  Indices sources(const GroupMessage &M) const;
  const GroupMessage &at(int32_t I) const {
    return Made.Messages[static_cast<size_t>(I)];
  }

  const int64_t Total, Ranks, Position, Chunk;
  const Algorithm::Traits Traits;
  int64_t Round = 0;
  int64_t FirstTag = 0; ///< of the round
  GroupMessages Made;
  /// Bytes received in one round from one member, in messages of a chunk each.
  struct Receipt {
    int64_t Round;
    ByteRange Bytes;
    int32_t First; ///< message
  };
  std::vector<Receipt> Receipts;
  // By direction, receives first: the last message to, or from, each member in
  // this round, and in the last one that had any.
  std::array<Indices, 2> Lanes, Ends;
};

/// Returns the messages that bring what \p M sends. Messages of earlier rounds
/// have arrived as well: receives follow each other.
MessagePlan::Indices MessagePlan::sources(const GroupMessage &M) const {
  Indices From;
  for (const Receipt &R : llvm::reverse(Receipts)) {
    if (!From.empty() && R.Round != at(From.front()).Round)
      break;
    if (R.Round == M.Round || !R.Bytes.intersects(M.Bytes))
      continue;
    const int64_t Begin = std::max(M.Bytes.Begin, R.Bytes.Begin);
    const int64_t End =
        std::min(M.Bytes.Begin + M.Bytes.Size, R.Bytes.Begin + R.Bytes.Size);
    const int64_t First = (Begin - R.Bytes.Begin) / Chunk;
    for (int64_t I = (End - 1 - R.Bytes.Begin) / Chunk; I >= First; --I)
      From.push_back(R.First + static_cast<int32_t>(I));
  }
  return From;
}

MessagePlan::Indices MessagePlan::after(const GroupMessage &M) const {
  if (M.IsSend && Traits == Algorithm::Traits::Forwards)
    if (Indices From = sources(M); !From.empty())
      return From;
  for (int32_t I : Lanes[M.IsSend])
    if (at(I).Peer == M.Peer)
      return {I};
  Indices Before = Ends[M.IsSend];
  if (Traits == Algorithm::Traits::Stepwise)
    Before.append(Ends[!M.IsSend]);
  return Before;
}

void MessagePlan::addChunk(GroupMessage M) {
  const Indices After = after(M);
  M.After.assign(After.begin(), After.end());
  Indices &Same = Lanes[M.IsSend];
  const auto I = static_cast<int32_t>(Made.Messages.size());
  auto *Lane =
      llvm::find_if(Same, [&](int32_t Of) { return at(Of).Peer == M.Peer; });
  if (Lane == Same.end())
    Same.push_back(I);
  else
    *Lane = I;
  Made.Messages.push_back(std::move(M));
}

void MessagePlan::add(int64_t Peer, bool IsSend, bool IsReduced,
                      ByteRange Bytes) {
  if (!IsSend && Bytes.Size != 0)
    Receipts.push_back(
        {Round, Bytes, static_cast<int32_t>(Made.Messages.size())});
  const int64_t End = Bytes.Begin + Bytes.Size;
  int64_t Tag = FirstTag;
  for (int64_t At = Bytes.Begin; At < End; At += Chunk)
    addChunk({Peer,
              IsSend,
              IsReduced,
              Round,
              {At, std::min(Chunk, End - At)},
              Tag++,
              {}});
}

GroupMessages MessagePlan::take() {
  Made.Tags = FirstTag;
  for (const Indices &Of : Ends)
    Made.Last.append(Of.begin(), Of.end());
  llvm::sort(Made.Last);
  return std::move(Made);
}

// Tasks of a member, by algorithm.

static void ringGather(MessagePlan &P) {
  for (int64_t K = 0; K + 1 < P.ranks(); ++K) {
    P.receive(P.neighbour(-1), P.parts(P.neighbour(-1 - K)));
    P.send(P.neighbour(1), P.parts(P.neighbour(-K)));
    P.endRound();
  }
}

/// The last part to come is the member's own.
static void ringReduce(MessagePlan &P) {
  for (int64_t K = 0; K + 1 < P.ranks(); ++K) {
    P.receive(P.neighbour(-1), P.parts(P.neighbour(-2 - K)),
              /*IsReduced=*/true);
    P.send(P.neighbour(1), P.parts(P.neighbour(-1 - K)));
    P.endRound();
  }
}

static void ringAllReduce(MessagePlan &P) {
  ringReduce(P);
  ringGather(P);
}

/// With the member \p Distance away, parts of the \p Distance members around
/// each of the two.
static void swapParts(MessagePlan &P, int64_t Distance, bool IsReduced) {
  const int64_t Peer = P.position() ^ Distance;
  auto Around = [&](int64_t Of) {
    return P.parts(Of / Distance * Distance, Distance);
  };
  P.receive(Peer, Around(IsReduced ? P.position() : Peer), IsReduced);
  P.send(Peer, Around(IsReduced ? Peer : P.position()));
  P.endRound(Distance);
}

static void doubling(MessagePlan &P) {
  for (int64_t Distance = 1; Distance < P.ranks(); Distance *= 2)
    swapParts(P, Distance, /*IsReduced=*/false);
}

static void halving(MessagePlan &P) {
  for (int64_t Distance = P.ranks() / 2; Distance > 0; Distance /= 2)
    swapParts(P, Distance, /*IsReduced=*/true);
}

static void halvingDoubling(MessagePlan &P) {
  halving(P);
  doubling(P);
}

static void exchange(MessagePlan &P) {
  for (int64_t K = 1; K < P.ranks(); ++K)
    P.receive(P.neighbour(-K), P.parts(P.position()));
  for (int64_t K = 1; K < P.ranks(); ++K)
    P.send(P.neighbour(K), P.parts(P.neighbour(K)));
  P.endRound();
}

static void pairwise(MessagePlan &P) {
  for (int64_t K = 1; K < P.ranks(); ++K) {
    P.receive(P.neighbour(-K), P.parts(P.position()));
    P.send(P.neighbour(K), P.parts(P.neighbour(K)));
    P.endRound();
  }
}

/// Part I reaches member J in round I + J - 1.
static void chain(MessagePlan &P) {
  const int64_t Here = P.position(), Last = P.ranks() - 1;
  for (int64_t Round = 0; Round + 1 < 2 * P.ranks() - 1; ++Round) {
    const int64_t Comes = Round - Here + 1, Goes = Round - Here;
    if (Here > 0 && Comes >= 0 && Comes <= Last)
      P.receive(Here - 1, P.parts(Comes));
    if (Here < Last && Goes >= 0 && Goes <= Last)
      P.send(Here + 1, P.parts(Goes));
    P.endRound();
  }
}

llvm::ArrayRef<Algorithm> foretrace::ir::allAlgorithms() {
  static constexpr Algorithm Algorithms[] = {
#define ALGORITHM(KIND, NAME, BUILD, GROUPS, TRAITS, DOC)                      \
  {OpKind::KIND, NAME, BUILD, Algorithm::Groups::GROUPS,                       \
   Algorithm::Traits::TRAITS},
#include "ir/ranks/Algorithms.def"
  };
  return Algorithms;
}

llvm::ArrayRef<Algorithm> foretrace::ir::algorithmsOf(OpKind Collective) {
  auto IsOther = [&](const Algorithm &A) { return A.Kind != Collective; };
  return allAlgorithms().drop_while(IsOther).take_until(IsOther);
}

bool Algorithm::takes(int64_t Ranks) const {
  return Of == Groups::Any || llvm::isPowerOf2_64(static_cast<uint64_t>(Ranks));
}

GroupMessages foretrace::ir::lowerCollective(const Algorithm &By, Bytes Size,
                                             int64_t Ranks, int64_t Position,
                                             int64_t Chunk) {
  assert(By.takes(Ranks) && Chunk > 0 && Chunk <= MaxMessageBytes);
  MessagePlan P(Size.value(), Ranks, Position, Chunk, By.Has);
  By.Build(P);
  return P.take();
}

GroupMessages foretrace::ir::lowerMessage(bool IsSend, Bytes Size,
                                          int64_t Chunk) {
  MessagePlan P(Size.value(), 1, 0, Chunk, Algorithm::Traits::Independent);
  if (IsSend)
    P.send(0, P.parts(0));
  else
    P.receive(0, P.parts(0));
  P.endRound();
  return P.take();
}
