// SPDX-License-Identifier: Apache-2.0
//
// Binds what a job serves, and with which engine.
#include "frontend/Bind.h"
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Frontend.h"

using namespace foretrace;

/// Reports a name that no `serve` section has.
static void checkName(const ast::Word &Name, DiagnosticEngine &Diags) {
  static constexpr llvm::StringRef Names[] = {"", "prefill", "decode",
                                              "rollout", "reward"};
  if (!llvm::is_contained(Names, Name.Text))
    suggest(Diags.report(Name.Range, diag::PoolName, Name.Text), Name.Range,
            Name.Text, llvm::ArrayRef(Names).drop_front());
}

/// Finds the `serve` section of that name, or makes it.
Body &foretrace::serveOf(Job &J, llvm::StringRef Name) {
  for (Body &B : J.Serves)
    if (B.Label.Text == Name)
      return B;
  return J.Serves.emplace_back();
}

/// `-D serve.decode.replicas=4` is of the section of that name, `-D
/// serve.replicas=4` of all.
void foretrace::overrideServe(Job &J, const Override &O, BodyBuilder &Bodies) {
  if (J.Serves.empty())
    serveOf(J, "").Keyword = O.Top;
  for (Body &B : J.Serves) {
    Override Of = O;
    const bool IsNamed = !O.Sections.empty() && !B.Label.Text.empty() &&
                         llvm::any_of(J.Serves, [&](const Body &Other) {
                           return Other.Label.Text == O.Sections.front().Text;
                         });
    if (IsNamed && O.Sections.front().Text != B.Label.Text)
      continue;
    if (IsNamed)
      Of.Sections.erase(Of.Sections.begin());
    Bodies.override(B, Of);
  }
}

void foretrace::overrideOwnParallel(Job &J, const Override &O,
                                    BodyBuilder &Bodies) {
  for (Body &B : J.Serves) {
    const Body *Own =
        O.Top.Text == "parallel" ? B.findSection("parallel") : nullptr;
    if (!Own || !Own->findField(O.Key.Key.Text))
      continue;
    Override Of = O;
    Of.Sections.insert(Of.Sections.begin(), O.Top);
    Bodies.override(B, Of);
  }
}

/// Returns the `serve` section to compile; null if there is none, or several of
/// which none is chosen, which is reported.
const Body *Binder::chooseServe() {
  const std::vector<Body> &All = TheJob.Serves;
  for (const Body &B : All)
    checkName(B.Label, Diags);
  const llvm::StringRef Pool = TheJob.Pool;
  if (Pool.empty() && All.size() <= 1)
    return All.empty() ? nullptr : &All.front();
  const auto It =
      llvm::find_if(All, [&](const Body &B) { return B.Label.Text == Pool; });
  if (!Pool.empty() && It != All.end())
    return &*It;
  llvm::SmallVector<llvm::StringRef> Names;
  for (const Body &B : All)
    Names.push_back(B.Label.Text.empty() ? "one without a name"
                                         : llvm::StringRef(B.Label.Text));
  const SourceRange At = All.empty() ? TheJob.Start : All.front().Keyword.Range;
  if (Pool.empty())
    Diags.report(At, diag::SeveralPools, joinWords(Names));
  else
    Diags.report(At, diag::UnknownPool, Pool,
                 Names.empty() ? "none" : joinWords(Names));
  return nullptr;
}

void Binder::bindServe(const Body &Of, ir::Spec &S) {
  ir::ServeSpec &Serve = S.Serve.emplace();
  Serve.Name = Of.Label.Text;
  Serve.Range = Of.Keyword.Range;
  bindKeys(Of, Serve, {}, {"parallel"});
  if (const Field *F = Of.findField("routing"))
    bindRouting(*F, Serve.Routing);
  ir::RequestsSpec &Requests = S.Requests.emplace();
  Requests.Range = TheJob.Requests.Keyword.Range;
  bindKeys(TheJob.Requests, Requests);
  if (const Field *F = TheJob.Requests.findField("from"))
    bindTrace(*F, Requests);
  if (!TheJob.Requests.Keyword.Text.empty())
    requireKeys(TheJob.Requests.Keyword, Requests, {&TheJob.Requests});
  if (!TheJob.Train.Keyword.Text.empty())
    Diags.report(TheJob.Train.Keyword.Range, diag::TrainAndServe);
}
