// SPDX-License-Identifier: Apache-2.0
#include "tools/start/ModelLayout.h"
#include "frontend/Defaults.h"
#include "lang/diagnostics/Frontend.h"
#include "lang/diagnostics/Tools.h"
#include "tools/start/Draft.h"
#include "tools/sweep/Shell.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::start {

/// Whether \p S is a model on a cluster, as a job without a layout.
static bool lacksLayout(const ir::Spec &S) {
  const ir::ParallelSpec &P = S.Parallel;
  const bool IsModel =
      S.Train.MicroBatch.isPresent() && !S.Train.MicroBatch.isStated();
  return IsModel && S.Cluster && *P.World > 1 && P.Layout.empty() &&
         none_of(
             std::initializer_list<const Located<int64_t> *>{
                 &P.Tp, &P.Cp, &P.Pp, &P.Vpp, &P.Ep, &P.Dp, &P.Ga, &P.Zero},
             [](const Located<int64_t> *Key) { return Key->isStated(); });
}

void chooseLayout(Compiler &Session, StringRef Path, FrontendOptions &Options,
                  DiagnosticEngine &Diags) {
  if (none_of(Options.Overrides,
              [](StringRef O) { return O.starts_with("cluster="); }))
    return;
  const CompiledJob &Read = Session.read(Path, Options, Diags.cloneForTrial());
  std::optional<ir::Spec> S;
  if (Read.spec() && lacksLayout(*Read.spec()))
    S = *Read.spec();
  Session.forget(Read);
  if (!S)
    return;
  std::vector<std::string> Assumed = assumedKeys(*S);
  erase_if(Assumed,
           [](StringRef Key) { return Key.starts_with("train.micro_batch="); });
  if (!S->Train.GlobalBatch.isStated()) {
    S->Train.GlobalBatch.setDefault(usualBatch(*S->Parallel.World));
    Assumed.push_back("train.global_batch=" +
                      std::to_string(*S->Train.GlobalBatch));
  }
  OpenJob Job{Path.str(), "", Options};
  append_range(Job.Options.Overrides, Assumed);
  Expected<LayoutRanking> Found = findBest(Job, *S);
  if (!Found) // who reads the job reports why it is not legal
    return consumeError(Found.takeError());
  if (Found->Best.empty()) {
    Diags.report({}, diag::NoLayoutFits, Path, *S->Parallel.World);
    return;
  }
  append_range(Assumed, setKeys(Found->Best.front()));
  append_range(Options.Overrides, Assumed);
  reportAssumed(Assumed, Path, Diags, [](StringRef Text) {
    return sweep::quoted(Text);
  })->note({}, diag::LayoutOfNew);
}

} // namespace foretrace::start
