// SPDX-License-Identifier: Apache-2.0
//
// What PyTorch's runtime makes of a schedule of steps, torch/distributed/
// pipelining/schedules.py: _add_unshard_reshard, _add_reduce_grad and
// _add_send_recv, in this order.
#include "backends/schedule/Lines.h"
#include "ir/schedule/StageCalls.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::schedule;

/// Parts that are gathered at a time: of a forward and a backward step, and one
/// ahead.
static constexpr size_t MaxGathered = 3;

using Parts = llvm::SmallVector<int64_t, MaxGathered>;

/// Returns, for each entry of \p L, the next parts that run, each once.
static std::vector<Parts> nextParts(const Line &L) {
  std::vector<Parts> Out(L.size());
  llvm::SmallVector<int64_t, 8> Next; // the nearest first
  for (size_t I = L.size(); I-- > 0;) {
    for (const Cell &C : llvm::reverse(L[I].Cells)) {
      llvm::erase(Next, C.Part);
      Next.insert(Next.begin(), C.Part);
    }
    Out[I].assign(Next.begin(),
                  Next.begin() + std::min(Next.size(), MaxGathered));
  }
  return Out;
}

static ScheduleEntry makeEntry(CellKind Kind, int64_t Part,
                               int64_t MicroBatch = 0) {
  ScheduleEntry Out;
  Out.Cells.push_back({Kind, Part, MicroBatch});
  return Out;
}

/// Parts are gathered ahead of their steps, and freed for others. PyTorch goes
/// through a set of those to be freed, in whichever order it has them; here the
/// first part is the first.
static Line addGathers(const Line &L) {
  Line Out;
  std::set<int64_t> Gathered;
  auto Free = [&](const Parts &Kept) {
    for (auto It = Gathered.begin(); It != Gathered.end();) {
      if (llvm::is_contained(Kept, *It)) {
        ++It;
        continue;
      }
      Out.push_back(makeEntry(CellKind::Reshard, *It));
      It = Gathered.erase(It);
    }
  };
  const std::vector<Parts> Next = nextParts(L);
  for (size_t I = 0; I < L.size(); ++I) {
    Free(Next[I]);
    for (int64_t Part : Next[I])
      if (Gathered.insert(Part).second)
        Out.push_back(makeEntry(CellKind::Unshard, Part));
    Out.push_back(L[I]);
  }
  Free({});
  return Out;
}

/// The gradients of a part are reduced after its last backward step.
static Line addReductions(const Schedule &S, const Line &L) {
  Line Out;
  llvm::DenseMap<int64_t, int64_t> Done; // backward steps of a part
  for (const ScheduleEntry &E : L) {
    Out.push_back(E);
    for (const Cell &C : E.Cells) {
      const bool IsLast =
          C.Kind == CellKind::Backward || C.Kind == CellKind::BackwardWeight;
      if (IsLast && ++Done[C.Part] == S.MicroBatches)
        Out.push_back(makeEntry(CellKind::ReduceGrad, C.Part));
    }
  }
  return Out;
}

namespace {

/// Goes round the ranks, an entry of each at a time. A rank sends right after a
/// step, and that puts the receive where the other rank has come to: so no two
/// ranks ever have their messages in different orders.
class Messages {
public:
  Messages(const Schedule &S, const std::vector<Line> &Lines)
      : S(S), Todo(Lines), Next(Lines.size()), Received(Lines.size()),
        Out(Lines.size()) {}

  std::vector<Line> add();

private:
  using Message = std::tuple<bool, int64_t, int64_t>;
  static Message nameOf(const PipelineMessage &M) {
    return {M.IsForward, M.Part, M.MicroBatch};
  }
  bool takeNext(size_t Rank);

  const Schedule &S;
  const std::vector<Line> &Todo;
  std::vector<size_t> Next;
  std::vector<std::set<Message>> Received; ///< and not used yet
  std::vector<Line> Out;
};

} // namespace

/// Returns whether \p Rank had something left, and the input of it.
bool Messages::takeNext(size_t Rank) {
  if (Next[Rank] == Todo[Rank].size())
    return false;
  const auto Stage = static_cast<int64_t>(Rank);
  const ScheduleEntry &E = Todo[Rank][Next[Rank]];
  const StepMessages Around = messagesAround(S, Stage, E.Steps);
  for (const Action &A : Around.Before)
    if (!Received[Rank].count(nameOf(*messageOf(S, Stage, A))))
      return false;
  for (const Action &A : Around.Before)
    Received[Rank].erase(nameOf(*messageOf(S, Stage, A)));
  Out[Rank].push_back(E);
  for (const Action &A : Around.After) {
    const bool IsForward = A.Kind == ActionKind::SendForward;
    const int64_t Part = S.partOf(Stage, A.Chunk);
    const auto To = static_cast<size_t>(A.Peer);
    Out[Rank].push_back(makeEntry(*cellOf(A.Kind), Part, A.MicroBatch));
    Out[To].push_back(
        makeEntry(IsForward ? CellKind::RecvForward : CellKind::RecvBackward,
                  IsForward ? Part + 1 : Part - 1, A.MicroBatch));
    Received[To].insert(nameOf(*messageOf(S, Stage, A)));
  }
  ++Next[Rank];
  return true;
}

std::vector<Line> Messages::add() {
  bool HasMoved = true; // the verifier saw that steps don't wait for ever
  while (HasMoved) {
    HasMoved = false;
    for (size_t Rank = 0; Rank < Todo.size(); ++Rank)
      HasMoved |= takeNext(Rank);
  }
  return std::move(Out);
}

std::vector<Line> schedule::loweredLines(const Schedule &S, bool IsSharded) {
  std::vector<Line> Lines = stepLines(S);
  if (IsSharded)
    for (Line &L : Lines)
      L = addReductions(S, addGathers(L));
  return Messages(S, Lines).add();
}
