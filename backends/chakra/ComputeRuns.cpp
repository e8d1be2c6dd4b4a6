// SPDX-License-Identifier: Apache-2.0
#include "backends/chakra/ComputeRuns.h"
#include "llvm/ADT/STLExtras.h"
#include <iterator>
#include <utility>

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::chakra;

ComputeRuns::ComputeRuns(const Program &P, int64_t Stage) {
  llvm::BitVector IsAwaited;    // by communication
  llvm::BitVector IsReached;    // by a computation
  std::optional<unsigned> Last; // computation
  StageTasks(P, Stage).forEach([&](int64_t Number, const Task &T) {
    const auto Id = static_cast<unsigned>(Number);
    for (llvm::BitVector *Bits : {&GoesOn, &IsCompute, &IsAwaited, &IsReached})
      Bits->resize(Id + 1);
    const bool Computes = T.Kind == TaskKind::Compute;
    bool WaitsForMore = false;
    for (llvm::ArrayRef<int64_t> Before :
         {llvm::ArrayRef<int64_t>(T.Data), llvm::ArrayRef<int64_t>(T.Control)})
      for (const int64_t Other : Before) {
        const auto At = static_cast<unsigned>(Other);
        if (!Computes) {
          IsAwaited.set(At);
        } else if (!IsCompute[At] && !IsReached[At]) {
          IsReached.set(At);
          WaitsForMore = true;
        }
      }
    if (!Computes)
      return true;
    IsCompute.set(Id);
    if (Last && !WaitsForMore)
      GoesOn.set(*Last);
    Last = Id;
    return true;
  });
  GoesOn.reset(IsAwaited);
}

std::optional<ComputeRun> ComputeRuns::add(int64_t Id, const Task &T) {
  if (!Run)
    Run = ComputeRun{Id, {}, T};
  else
    for (auto [To, From] : {std::pair(&Run->Task.Data, &T.Data),
                            std::pair(&Run->Task.Control, &T.Control)})
      llvm::copy_if(*From, std::back_inserter(*To), [&](int64_t Other) {
        return Other < Members.front() ||
               !IsCompute[static_cast<unsigned>(Other)];
      });
  Run->Id = Id;
  Run->Ops.push_back(T.Of);
  Members.push_back(Id);
  if (GoesOn[static_cast<unsigned>(Id)])
    return std::nullopt;
  Run->Task = renamed(Run->Task);
  for (const int64_t Member : llvm::ArrayRef(Members).drop_back())
    RunOf[Member] = Id;
  Members.clear();
  return std::exchange(Run, std::nullopt);
}

void ComputeRuns::rename(llvm::SmallVectorImpl<int64_t> &Ids) const {
  for (int64_t &Id : Ids)
    if (const auto It = RunOf.find(Id); It != RunOf.end())
      Id = It->second;
  llvm::sort(Ids);
  Ids.erase(std::unique(Ids.begin(), Ids.end()), Ids.end());
}

Task ComputeRuns::renamed(const Task &T) const {
  Task Out = T;
  rename(Out.Data);
  rename(Out.Control);
  llvm::erase_if(Out.Control,
                 [&](int64_t Id) { return llvm::is_contained(Out.Data, Id); });
  return Out;
}
