// SPDX-License-Identifier: Apache-2.0
#include "tools/explore/Suggestions.h"
#include "analysis/DeviceMemory.h"
#include "frontend/Frontend.h"
#include "tools/driver/JobChanges.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace foretrace::explore {

/// Pairs of changes that are compiled in one search.
static constexpr unsigned MostPairs = 48;

/// As -D takes them: moves name keys of `train` and `parallel` alone.
static std::vector<std::string> changesOf(ArrayRef<vary::KeyText> Keys) {
  std::vector<std::string> All;
  for (const vary::KeyText &K : Keys)
    All.push_back(pathOfKey(K.Key) + "=" + K.Value);
  return All;
}

Suggestions suggestFitting(CompiledJob &Job) {
  const ir::Program *P = Job.program({ir::Fact::Scheduled, ir::Fact::Totalled});
  if (!P)
    return {"the job has errors", {}};
  const std::optional<DeviceMemory> Memory = deviceMemoryOf(P->Spec);
  if (!Memory)
    return {"the job has no `cluster` with the `memory` of its devices", {}};
  if (Memory->fits(vary::loadOf(*P).peak()))
    return {"the job fits", {}};
  Suggestions Found;
  for (const vary::Proposal &F :
       driver::findFittingChanges(Job, *P, Memory->usable()))
    Found.All.push_back({changesOf(F.Keys), F.Of.peak(), std::nullopt});
  if (Found.All.empty())
    Found.WhyNone = "none of the changes and pairs of changes tried makes the "
                    "job fit";
  return Found;
}

Suggestions suggestFaster(CompiledJob &Job) {
  const ir::Program *P =
      Job.program({ir::Fact::Scheduled, ir::Fact::Totalled, ir::Fact::Costs});
  if (!P)
    return {"the job has errors", {}};
  if (!P->Spec.Cluster || !P->Spec.Cost.Kind.is(ir::CostKind::Estimate))
    return {"the time of an iteration is not estimated; add a `cluster` with a "
            "profiled device, and no `cost` of another kind",
            {}};
  const std::optional<DeviceMemory> Memory = deviceMemoryOf(P->Spec);
  Suggestions Found;
  for (const driver::FasterChange &F :
       driver::findFasterChanges(Job, *P, MostPairs))
    Found.All.push_back({changesOf(F.Keys), F.Of.Peak, F.Of.Time,
                         !Memory || Memory->fits(F.Of.Peak)});
  stable_sort(Found.All, [](const Suggestion &A, const Suggestion &B) {
    return A.Fits && !B.Fits;
  });
  if (Found.All.empty())
    Found.WhyNone = "none of the changes and pairs of changes tried makes an "
                    "iteration shorter";
  return Found;
}

} // namespace foretrace::explore
