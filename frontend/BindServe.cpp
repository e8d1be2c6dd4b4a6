// SPDX-License-Identifier: Apache-2.0
//
// Binds what a job serves, and with which engine.
#include "frontend/Bind.h"
#include "lang/diagnostics/Frontend.h"

using namespace foretrace;

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

/// Returns the `serve` section to compile; null if there is none, or several of
/// which none is chosen, which is reported.
const Body *Binder::chooseServe() {
  if (TheJob.Serves.empty())
    return nullptr;
  const auto It = llvm::find_if(TheJob.Serves, [&](const Body &B) {
    return B.Label.Text == TheJob.Pool;
  });
  if (It != TheJob.Serves.end())
    return &*It;
  if (TheJob.Pool.empty() && TheJob.Serves.size() == 1)
    return &TheJob.Serves.front();
  llvm::SmallVector<llvm::StringRef> Names;
  for (const Body &B : TheJob.Serves)
    Names.push_back(B.Label.Text);
  Diags.report(TheJob.Serves.front().Keyword.Range, diag::UnknownPool,
               TheJob.Pool, joinWords(Names));
  return nullptr;
}

void Binder::bindServe(const Body &Of, ir::Spec &S) {
  ir::ServeSpec &Serve = S.Serve.emplace();
  Serve.Name = Of.Label.Text;
  Serve.Range = Of.Keyword.Range;
  bindKeys(Of, Serve, {}, {"parallel"});
  ir::RequestsSpec &Requests = S.Requests.emplace();
  Requests.Range = TheJob.Requests.Keyword.Range;
  bindKeys(TheJob.Requests, Requests);
  if (!TheJob.Requests.Keyword.Text.empty())
    requireKeys(TheJob.Requests.Keyword, Requests, {&TheJob.Requests});
  if (!TheJob.Train.Keyword.Text.empty())
    Diags.report(TheJob.Train.Keyword.Range, diag::TrainAndServe);
}
