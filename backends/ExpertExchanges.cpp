// SPDX-License-Identifier: Apache-2.0
#include "backends/ExpertExchanges.h"
#include "analysis/ExpertLoads.h"
#include "lang/diagnostics/Backends.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::ir;

/// Arguments of diagnostics have 64 bits.
static int64_t narrow(__int128 Bytes) {
  return static_cast<int64_t>(std::min(Bytes, __int128(INT64_MAX)));
}

static void reportUneven(FlowCounter &Counter, llvm::StringRef Format,
                         DiagnosticEngine &Diags) {
  const Program &P = Counter.program();
  if (!P.Spec.Train.ExpertLoad.isPresent() || P.Mesh[Axis::Ep] == 1)
    return;
  __int128 Least = 0, Most = 0;
  bool HasAny = false;
  for (unsigned Stage = 0; Stage < P.Stages.size(); ++Stage)
    for (const RankExchange &R : expertExchanges(Counter, Stage)) {
      Least = HasAny ? std::min(Least, R.Sent) : R.Sent;
      Most = std::max(Most, R.Sent);
      HasAny = true;
    }
  std::string Exchanged; // the same by all, if ranks gather all tokens
  if (Most > 0)
    Exchanged = llvm::formatv("; in the job, ranks send {0} "
                              "to {1} bytes to experts and back per iteration",
                              narrow(Least), narrow(Most));
  Diags.report(P.Spec.Train.Routing.Range, diag::UnevenExperts, Format,
               Exchanged);
}

static void reportCopies(FlowCounter &Counter, llvm::StringRef Format,
                         SourceRange At, DiagnosticEngine &Diags) {
  __int128 Shared = 0, Apart = 0;
  for (const Flow &F : Counter.flows())
    if (F.Copies) {
      Shared += Counter.trafficOf(F).CrossNode;
      Apart += Counter.trafficOfExchange(F).CrossNode;
    }
  if (Shared != Apart)
    Diags.report(At, diag::SharedCopies, Format, narrow(Apart), narrow(Shared));
}

void foretrace::reportExpertExchanges(const EmitRequest &Request,
                                      llvm::StringRef Format,
                                      DiagnosticEngine &Diags) {
  ExprOverlay Sizes(Request.Program);
  FlowCounter Counter(Sizes, FlowSpan::Iteration);
  reportUneven(Counter, Format, Diags);
  reportCopies(Counter, Format, Request.Emit.Range, Diags);
}
