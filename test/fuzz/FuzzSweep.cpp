// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a job with a `sweep` section: it says which jobs there are, or
// there is a diagnostic; some of them are compiled, and held against what it
// wants.
#include "lang/DiagnosticClient.h"
#include "tools/sweep/Verdict.h"
#include "llvm/ADT/STLExtras.h"
#include <cstdlib>

using namespace foretrace;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  Compiler Session;
  Session.setText("job.fore", {reinterpret_cast<const char *>(Data), Size});
  DiagnosticEngine Diags;
  std::optional<SweepSpec> Spec =
      Session.readSweep("job.fore", {}, sweep::makeRequest(), Diags);
  if (Spec.has_value() == Diags.hasErrors())
    std::abort();
  showAll(Diags, Session.sources(), *makeTextClient(llvm::nulls()));
  if (!Spec)
    return 0;
  llvm::Expected<sweep::Space> Space = sweep::Space::make(std::move(*Spec));
  if (!Space) {
    llvm::consumeError(Space.takeError());
    return 0;
  }
  const sweep::Sweep S = {"job.fore", {}, {}, std::move(*Space), {}, {}};
  constexpr int64_t MaxPoints = 8;
  const int64_t Step = std::max<int64_t>(1, S.Space.size() / MaxPoints);
  for (int64_t Point = 0; Point < S.Space.size(); Point += Step) {
    const sweep::PointVerdict V = sweep::judge(Session, S, Point);
    if (V.Metrics.empty() == (V.Job.engine().firstError() == nullptr))
      std::abort();
    Session.forget(V.Job);
  }
  return 0;
}
