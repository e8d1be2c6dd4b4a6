// SPDX-License-Identifier: Apache-2.0
#include "tools/explore/Suggestions.h"
#include "analysis/DeviceMemory.h"

using namespace llvm;

namespace foretrace::explore {

/// Returns why there is no search around \p Job; nothing if there is one.
static std::optional<Suggestions> refuse(Expected<start::MeasuredJob> &Job) {
  if (!Job) {
    consumeError(Job.takeError());
    return Suggestions{"the job has errors", {}};
  }
  if (Job->Spec.Serve)
    return Suggestions{"changes of a job that serves are not searched; "
                       "`foretrace new --serve` finds its layout, and a sweep "
                       "compares keys",
                       {}};
  return std::nullopt;
}

static Suggestions suggest(Expected<start::JobChanges> Of, StringRef WhyNone) {
  if (!Of)
    return {toString(Of.takeError()), {}};
  return {Of->Found.empty() ? WhyNone.str() : "", std::move(Of->Found)};
}

Suggestions suggestFitting(const start::OpenJob &Job) {
  Expected<start::MeasuredJob> Now = start::measureJob(Job, {});
  if (std::optional<Suggestions> No = refuse(Now))
    return *No;
  const std::optional<DeviceMemory> Memory = deviceMemoryOf(Now->Spec);
  if (!Memory)
    return {"the job has no `cluster` with the `memory` of its devices", {}};
  if (Memory->fits(Now->Peak))
    return {"the job fits", {}};
  return suggest(start::findFitting(Job, Memory->usable()),
                 "none of the changes tried makes the job fit");
}

Suggestions suggestFaster(const start::OpenJob &Job) {
  Expected<start::MeasuredJob> Now = start::measureJob(Job, {});
  if (std::optional<Suggestions> No = refuse(Now))
    return *No;
  if (!Now->Upper)
    return {"the time of an iteration is not estimated; add a `cluster` with a "
            "profiled device, and no `cost` of another kind",
            {}};
  return suggest(start::findFaster(Job),
                 "none of the changes tried makes an iteration shorter of a "
                 "job that fits");
}

} // namespace foretrace::explore
