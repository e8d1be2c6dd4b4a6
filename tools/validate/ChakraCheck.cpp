// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/ChakraCheck.h"
#include "lang/diagnostics/Validate.h"
#include "tools/validate/ChakraReplay.h"
#include "tools/validate/Messages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ThreadPool.h"
#include <algorithm>
#include <vector>

using namespace llvm;

namespace foretrace::validate {

namespace {

/// Calls \p Make(I) for 0 <= I < \p Count, several at once, and \p Take with
/// each result in order of I, of which there are only a few at a time.
template <typename Maker, typename Taker>
void forEachInOrder(size_t Count, Maker Make, Taker Take) {
  constexpr size_t AtOnce = 64;
  llvm::DefaultThreadPool Pool;
  using Result = decltype(Make(size_t(0)));
  for (size_t First = 0; First < Count; First += AtOnce) {
    std::vector<Result> Results(std::min(AtOnce, Count - First));
    for (size_t I = 0; I != Results.size(); ++I)
      Pool.async([&, I] { Results[I] = Make(First + I); });
    Pool.wait();
    for (size_t I = 0; I != Results.size(); ++I)
      Take(First + I, std::move(Results[I]));
  }
}

class SetChecker {
public:
  SetChecker(const ChakraSet &Set, ChakraGroups Groups, Findings &Out)
      : Set(Set), Groups(std::move(Groups)), Splits(readSplits(Set)), Out(Out) {
  }

  Expected<ChakraReport> run();

private:
  /// Collectives that a member issues in a group.
  struct Member {
    uint32_t Rank;
    GroupSequence Sequence;
  };
  /// The kept results of a rank.
  struct Digest {
    std::unique_ptr<ChakraRank> Rank;
    bool IsKept = true; ///< its graph
    std::map<uint32_t, GroupSequence> Sequences;
    MessageLedger Messages;
  };

  Digest readDigest(uint32_t Rank) const;
  void checkSplits(const ChakraGraph &Graph, StringRef Path,
                   Findings &Found) const;
  void take(uint32_t Rank, Digest D);
  void addTotals(const ChakraTotals &T);
  void checkMessages();
  void checkCollectives();
  void compare(uint32_t Group, const Member &A, const Member &B);
  void compareSequences(uint32_t Group, uint32_t RankA, uint32_t RankB);
  void replayAll();

  const ChakraSet &Set;
  const ChakraGroups Groups;
  const uint64_t Splits; ///< of a collective; 0: unknown
  Findings &Out;
  ChakraReport Report;
  MessageLedger Messages;
  std::map<uint32_t, std::vector<Member>> Issued; ///< by group
  /// Graphs kept for the replay, while there are few nodes.
  std::vector<std::unique_ptr<const ChakraGraph>> Kept;
  std::string Failure;   ///< the first file that can't be read
  bool IsSound = true;   ///< of all ranks
  bool CanReplay = true; ///< all graphs are kept
};

/// An all-gather's part that has no bytes never ends.
void SetChecker::checkSplits(const ChakraGraph &Graph, StringRef Path,
                             Findings &Found) const {
  for (const ChakraOp &Op : Graph.ops())
    if (Op.isCollective() && Op.Comm == CommType::AllGather &&
        Op.Amount < Splits)
      Found.report({Path.str(), 0, Op.Id}, diag::ChakraSplits, Op.Amount,
                   sys::path::filename(Set.SystemPath), Splits);
}

SetChecker::Digest SetChecker::readDigest(uint32_t Rank) const {
  Digest D;
  const std::string Path = Set.pathOf(Rank);
  D.Rank = readRank(Path, Rank, Groups);
  const ChakraGraph &Graph = D.Rank->Graph;
  D.Sequences = sequencesOf(Graph);
  checkOrder(Graph, Groups, Path, D.Rank->Found);
  checkSplits(Graph, Path, D.Rank->Found);
  forEachMessage(
      Graph, Rank,
      [&](const Message &M, const ChakraOp &) { D.Messages.send(M); },
      [&](const Message &M, const ChakraOp &) { D.Messages.receive(M); });
  // Drops a graph at once if graphs of its size for all ranks are too many.
  if (Graph.ops().size() > MostReplayed / Set.Ranks.size()) {
    D.IsKept = false;
    D.Rank->Graph = {};
  }
  return D;
}

void SetChecker::addTotals(const ChakraTotals &T) {
  const auto Add = [](ChakraTotals::Sum &To, const ChakraTotals::Sum &S) {
    To.Count = SaturatingAdd(To.Count, S.Count);
    To.Bytes = SaturatingAdd(To.Bytes, S.Bytes);
  };
  ChakraTotals &All = Report.Totals;
  for (size_t I = 0; I != All.Nodes.size(); ++I)
    All.Nodes[I] += T.Nodes[I];
  for (const auto &[Key, S] : T.Collectives)
    Add(All.Collectives[Key], S);
  Add(All.Messages, T.Messages);
  All.ComputeNs = std::max(All.ComputeNs, T.ComputeNs);
  All.CriticalNs = std::max(All.CriticalNs, T.CriticalNs);
  All.Flops = SaturatingAdd(All.Flops, T.Flops);
  Report.MostFlops = std::max(Report.MostFlops, T.Flops);
}

void SetChecker::take(uint32_t Rank, Digest D) {
  if (Failure.empty())
    Failure = D.Rank->Failure;
  IsSound &= D.Rank->IsSound;
  CanReplay &= D.IsKept;
  Out.merge(D.Rank->Found);
  Messages.merge(D.Messages);
  addTotals(D.Rank->Totals);
  for (const auto &[Group, S] : D.Sequences)
    Issued[Group].push_back({Rank, S});
  D.Rank->Graph.shrink();
  if (CanReplay)
    Kept.push_back(
        std::make_unique<const ChakraGraph>(std::move(D.Rank->Graph)));
  else
    Kept.clear();
}

void SetChecker::checkMessages() {
  const std::vector<uint32_t> Targets = Messages.unbalanced(MostLookedUp);
  if (Targets.empty())
    return;
  MessageLookup All(Targets);
  const auto Look = [&](size_t I) {
    const uint32_t Rank = Set.Ranks[I];
    const std::string Path = Set.pathOf(Rank);
    auto Found = std::make_unique<MessageLookup>(Targets);
    const auto R = readRank(Path, Rank, Groups);
    forEachMessage(
        R->Graph, Rank,
        [&](const Message &M, const ChakraOp &Op) {
          Found->send(M, {Path, 0, Op.Id});
        },
        [&](const Message &M, const ChakraOp &Op) {
          Found->receive(M, {Path, 0, Op.Id});
        });
    return Found;
  };
  forEachInOrder(
      Set.Ranks.size(), Look,
      [&](size_t, std::unique_ptr<MessageLookup> Found) { All.merge(*Found); });
  All.report({diag::ChakraSendUnmatched, diag::ChakraRecvUnmatched,
              diag::ChakraMessageSize},
             Out);
}

void SetChecker::checkCollectives() {
  size_t Compared = 0;
  for (const auto &[Group, Members] : Issued) {
    const Member &First = Members.front();
    const RankGroup &G = Groups.all()[Group];
    const auto Other = find_if(Members, [&](const Member &M) {
      return M.Sequence.Hash != First.Sequence.Hash;
    });
    if (Members.size() == G.Members.size() && Other == Members.end())
      continue;
    if (Compared++ == MostLookedUp)
      return;
    if (Members.size() == G.Members.size()) {
      compare(Group, First, *Other);
      continue;
    }
    const auto &Of = Members; // a binding can't be captured before C++20
    const auto Silent = find_if(G.Members, [&](uint32_t Rank) {
      return none_of(Of, [&](const Member &M) { return M.Rank == Rank; });
    });
    compare(Group, First, {*Silent, {}});
  }
}

void SetChecker::compare(uint32_t Group, const Member &A, const Member &B) {
  if (A.Sequence.Count == B.Sequence.Count)
    return compareSequences(Group, A.Rank, B.Rank);
  const bool IsFirstMore = A.Sequence.Count > B.Sequence.Count;
  const Member &More = IsFirstMore ? A : B, &Less = IsFirstMore ? B : A;
  Out.report({Set.pathOf(Less.Rank), 0, {}}, diag::ChakraCollectiveMissing,
             Less.Rank, Less.Sequence.Count, Groups.describe(Group), More.Rank,
             More.Sequence.Count);
}

void SetChecker::compareSequences(uint32_t Group, uint32_t RankA,
                                  uint32_t RankB) {
  const auto A = readRank(Set.pathOf(RankA), RankA, Groups),
             B = readRank(Set.pathOf(RankB), RankB, Groups);
  const auto OfA = collectivesOf(A->Graph, Group),
             OfB = collectivesOf(B->Graph, Group);
  for (size_t I = 0; I != std::min(OfA.size(), OfB.size()); ++I) {
    const ChakraOp &X = *OfA[I], &Y = *OfB[I];
    if (X.Comm == Y.Comm && X.Amount == Y.Amount)
      continue;
    const Place At{Set.pathOf(RankB), 0, Y.Id};
    const std::string Name = Groups.describe(Group);
    const bool IsLater = any_of(drop_begin(OfB, I), [&](const ChakraOp *Op) {
      return Op->Comm == X.Comm && Op->Amount == X.Amount;
    });
    if (IsLater)
      Out.report(At, diag::ChakraCollectiveOrder, I + 1, Name, nameOf(X.Comm),
                 X.Amount, RankA, RankB);
    else if (X.Comm != Y.Comm)
      Out.report(At, diag::ChakraCollectiveType, I + 1, Name, nameOf(X.Comm),
                 RankA, nameOf(Y.Comm), RankB);
    else
      Out.report(At, diag::ChakraCollectiveSize, I + 1, Name, nameOf(X.Comm),
                 X.Amount, RankA, Y.Amount, RankB);
    return;
  }
}

void SetChecker::replayAll() {
  const Place At{Set.Prefix, 0, {}};
  if (!CanReplay) {
    Out.report(At, diag::ChakraReplaySkipped,
               formatv("{0} nodes are too many", Report.nodes()).str());
    return;
  }
  replayChakra(Kept, Set, Groups, Out);
}

Expected<ChakraReport> SetChecker::run() {
  Report.Traces = Set.Ranks.size();
  Report.Ranks = Groups.all().front().Members.size();
  for (const RankGroup &G : Groups.all())
    Report.GroupSizes.push_back(static_cast<uint32_t>(G.Members.size()));
  forEachInOrder(
      Set.Ranks.size(), [&](size_t I) { return readDigest(Set.Ranks[I]); },
      [&](size_t I, Digest D) { take(Set.Ranks[I], std::move(D)); });
  if (!Failure.empty())
    return createStringError(Failure);
  const Place At{Set.Prefix, 0, {}};
  const bool IsComplete =
      Set.Ranks.size() == Groups.all().front().Members.size();
  if (!IsComplete || !IsSound) {
    Out.report(At, diag::ChakraReplaySkipped,
               "ranks are not held against "
               "each other either");
    return std::move(Report);
  }
  checkMessages();
  checkCollectives();
  if (Out.hasErrors())
    Out.report(At, diag::ChakraReplaySkipped, "there are errors");
  else
    replayAll();
  return std::move(Report);
}

} // namespace

uint64_t ChakraReport::nodes() const {
  uint64_t Sum = 0;
  for (uint64_t Count : Totals.Nodes)
    Sum += Count;
  return Sum;
}

Expected<ChakraReport> checkChakra(const ChakraSet &Set, Findings &Out) {
  Expected<uint32_t> Ranks = countRanks(Set, Out);
  if (!Ranks)
    return Ranks.takeError();
  Expected<ChakraGroups> Groups = readGroups(Set, *Ranks, Out);
  if (!Groups)
    return Groups.takeError();
  return SetChecker(Set, std::move(*Groups), Out).run();
}

} // namespace foretrace::validate
