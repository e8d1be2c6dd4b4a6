// SPDX-License-Identifier: Apache-2.0
//
// Runs every algorithm of ir/ranks/Algorithms.def on groups of 2 to 17 ranks
// that hold symbols in place of bytes: how often each rank's input is in a
// byte. Prints a line for each algorithm, and each run that is wrong.
#include "ir/ranks/PointToPoint.h"
#include "ir/model/OpKinds.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <deque>
#include <map>

using namespace foretrace;
using namespace foretrace::ir;

namespace {

constexpr int64_t MostRanks = 17;

/// What a byte is made of: the input of each rank so many times.
using Symbol = std::array<unsigned char, MostRanks>;
using Buffer = std::vector<Symbol>;

Symbol inputOf(int64_t Rank) {
  Symbol S{};
  S[static_cast<size_t>(Rank)] = 1;
  return S;
}

struct Run {
  const Algorithm &By;
  int64_t Total, Ranks, Chunk;
};

/// All ranks of a run. Messages are sent as soon as those they follow are done,
/// by one rank after the other, so in many orders.
class Simulation {
public:
  explicit Simulation(const Run &R);
  /// Whether all is done in the end, and as the collective promises.
  bool isRight();

private:
  struct Rank {
    GroupMessages Plan;
    std::vector<bool> IsDone;
    Buffer Own;                       ///< the sender's bytes
    std::map<int64_t, Buffer> Others; ///< of an all-to-all, by sender
  };
  using Wire = std::map<std::array<int64_t, 3>, std::pair<ByteRange, Buffer>>;

  bool step(int64_t At);
  bool send(int64_t At, const GroupMessage &M);
  bool receive(int64_t At, const GroupMessage &M);
  bool isRight(int64_t At) const;
  Symbol expected(int64_t At, int64_t Byte) const;
  bool isOver(const Rank &R) const {
    return llvm::all_of(R.IsDone, [](bool B) { return B; });
  }

  const Run &R;
  std::vector<Rank> Ranks;
  Wire Sent; ///< by sender, receiver and tag
};

} // namespace

static bool isIn(ByteRange R, int64_t Byte) {
  return R.Begin <= Byte && Byte < R.Begin + R.Size;
}

/// Whose part a byte is.
static int64_t ownerOf(const Run &R, int64_t Byte) {
  int64_t I = 0;
  while (!isIn(partOf(R.Total, R.Ranks, I), Byte))
    ++I;
  return I;
}

/// Whether parts follow each other, cover all, and differ by a byte at most.
static bool arePartsRight(const Run &R) {
  int64_t At = 0;
  for (int64_t I = 0; I < R.Ranks; ++I) {
    const ByteRange Part = partOf(R.Total, R.Ranks, I);
    if (Part.Begin != At || Part.Size < R.Total / R.Ranks ||
        Part.Size > (R.Total + R.Ranks - 1) / R.Ranks)
      return false;
    At += Part.Size;
  }
  return At == R.Total;
}

Simulation::Simulation(const Run &R) : R(R) {
  for (int64_t At = 0; At < R.Ranks; ++At) {
    Rank New;
    New.Plan = lowerCollective(R.By, Bytes(R.Total), R.Ranks, At, R.Chunk);
    New.IsDone.resize(New.Plan.Messages.size());
    for (int64_t Byte = 0; Byte < R.Total; ++Byte) {
      const bool Has = R.By.Kind == OpKind::AllGather
                           ? ownerOf(R, Byte) == At
                           : R.By.Kind != OpKind::Broadcast || At == 0;
      New.Own.push_back(Has ? inputOf(At) : Symbol{});
    }
    Ranks.push_back(std::move(New));
  }
}

bool Simulation::send(int64_t At, const GroupMessage &M) {
  const Buffer &Own = Ranks[static_cast<size_t>(At)].Own;
  const auto First = Own.begin() + M.Bytes.Begin;
  return Sent
      .try_emplace({At, M.Peer, M.Tag}, M.Bytes,
                   Buffer(First, First + M.Bytes.Size))
      .second;
}

bool Simulation::receive(int64_t At, const GroupMessage &M) {
  const auto It = Sent.find({M.Peer, At, M.Tag});
  if (It == Sent.end())
    return false;
  const auto &[Range, What] = It->second;
  if (Range.Begin != M.Bytes.Begin || Range.Size != M.Bytes.Size)
    return false;
  Rank &To = Ranks[static_cast<size_t>(At)];
  Buffer &Into = R.By.Kind == OpKind::AllToAll ? To.Others[M.Peer] : To.Own;
  Into.resize(static_cast<size_t>(R.Total));
  for (int64_t I = 0; I < Range.Size; ++I) {
    Symbol &Byte = Into[static_cast<size_t>(Range.Begin + I)];
    const Symbol &Came = What[static_cast<size_t>(I)];
    if (!M.IsReduced)
      Byte = Came;
    else
      for (auto [Sum, Term] : llvm::zip_equal(Byte, Came))
        Sum = static_cast<unsigned char>(Sum + Term);
  }
  return true;
}

/// Does what rank \p At can, the last things first, in order to find what is
/// not said to follow something else.
bool Simulation::step(int64_t At) {
  Rank &Here = Ranks[static_cast<size_t>(At)];
  bool HasMoved = false;
  for (size_t I = Here.IsDone.size(); I-- > 0;) {
    const GroupMessage &M = Here.Plan.Messages[I];
    auto IsDone = [&](int32_t J) {
      return bool(Here.IsDone[static_cast<size_t>(J)]);
    };
    if (Here.IsDone[I] || !llvm::all_of(M.After, IsDone))
      continue;
    if (M.IsSend ? !send(At, M) : !receive(At, M))
      continue;
    Here.IsDone[I] = HasMoved = true;
  }
  return HasMoved;
}

Symbol Simulation::expected(int64_t At, int64_t Byte) const {
  switch (R.By.Kind) {
  case OpKind::AllGather:
    return inputOf(ownerOf(R, Byte));
  case OpKind::Broadcast:
    return inputOf(0);
  case OpKind::AllToAll:
    return inputOf(At);
  default:
    Symbol Sum{};
    std::fill_n(Sum.begin(), R.Ranks, 1);
    return Sum;
  }
}

bool Simulation::isRight(int64_t At) const {
  const Rank &Here = Ranks[static_cast<size_t>(At)];
  const ByteRange Own = partOf(R.Total, R.Ranks, At);
  for (int64_t Byte = 0; Byte < R.Total; ++Byte)
    if ((R.By.Kind != OpKind::ReduceScatter || isIn(Own, Byte)) &&
        Here.Own[static_cast<size_t>(Byte)] != expected(At, Byte))
      return false;
  if (R.By.Kind != OpKind::AllToAll)
    return true;
  for (int64_t From = 0; From < R.Ranks; ++From)
    for (int64_t I = 0; From != At && I < Own.Size; ++I)
      if (const auto It = Here.Others.find(From);
          It == Here.Others.end() ||
          It->second[static_cast<size_t>(Own.Begin + I)] != inputOf(From))
        return false;
  return true;
}

/// What all ranks together send, as a multiple of the bytes of one.
static int64_t copiesOf(const Run &R) {
  switch (R.By.Kind) {
  case OpKind::AllReduce:
    return 2 * (R.Ranks - 1);
  default:
    return R.Ranks - 1;
  }
}

bool Simulation::isRight() {
  for (bool HasMoved = true; HasMoved;) {
    HasMoved = false;
    for (int64_t At = 0; At < R.Ranks; ++At)
      HasMoved |= step(At);
  }
  int64_t Moved = 0;
  for (const auto &[Ends, What] : Sent)
    Moved += What.first.Size;
  size_t Received = 0;
  for (int64_t At = 0; At < R.Ranks; ++At) {
    const Rank &Here = Ranks[static_cast<size_t>(At)];
    if (!isOver(Here) || !isRight(At))
      return false;
    for (const GroupMessage &M : Here.Plan.Messages) {
      Received += !M.IsSend;
      if (M.Bytes.Size < 1 || M.Bytes.Size > R.Chunk || M.Tag < 0 ||
          M.Tag >= Here.Plan.Tags)
        return false;
    }
  }
  return Received == Sent.size() && Moved == copiesOf(R) * R.Total;
}

int main(int, char **) {
  bool IsRight = true;
  for (const Algorithm &By : allAlgorithms()) {
    int64_t Runs = 0;
    for (int64_t Ranks = 2; Ranks <= MostRanks; ++Ranks)
      for (int64_t Total : {0, 1, 2, 13, 16, 97, 136})
        for (int64_t Chunk : {int64_t(1), int64_t(3), MaxMessageBytes}) {
          const Run R{By, Total, Ranks, Chunk};
          if (!By.takes(Ranks))
            continue;
          ++Runs;
          if (arePartsRight(R) && Simulation(R).isRight())
            continue;
          IsRight = false;
          llvm::outs() << "wrong: " << getMnemonic(By.Kind) << ' ' << By.Name
                       << " ranks " << Ranks << " bytes " << Total << " chunk "
                       << Chunk << '\n';
        }
    llvm::outs() << getMnemonic(By.Kind) << ' ' << By.Name << ' ' << Runs
                 << " runs\n";
  }
  return IsRight ? 0 : 1;
}
