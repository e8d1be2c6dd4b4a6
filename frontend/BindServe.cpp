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

/// Returns the `serve` section of that name, or null.
static const Body *findServe(const Job &J, llvm::StringRef Name) {
  const auto It = llvm::find_if(
      J.Serves, [&](const Body &B) { return B.Label.Text == Name; });
  return It == J.Serves.end() ? nullptr : &*It;
}

/// Reports a pool of several that has caches from none of the others.
static void checkDecode(const Job &J, DiagnosticEngine &Diags) {
  const Body *Decode = findServe(J, "decode");
  if (J.Serves.size() == 1 || !Decode || findServe(J, "prefill"))
    return;
  DiagnosticBuilder B = Diags.report(Decode->Label.Range, diag::DecodeAlone);
  if (const Body *Unnamed = findServe(J, ""))
    B.fix(Unnamed->Keyword.Range, "serve prefill");
}

/// Returns the `serve` section to compile; null if there is none, or several of
/// which none is chosen, which is reported.
const Body *Binder::chooseServe() {
  const std::vector<Body> &All = TheJob.Serves;
  for (const Body &B : All)
    checkName(B.Label, Diags);
  const llvm::StringRef Pool = TheJob.Pool;
  checkDecode(TheJob, Diags);
  if (Pool.empty() && All.size() <= 1)
    return All.empty() ? nullptr : &All.front();
  const Body *Named = findServe(TheJob, Pool);
  if (!Pool.empty() && Named)
    return Named;
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

/// Takes a probability, or a list of them.
void Binder::bindAcceptance(const Field &F, ir::DraftSpec &Out) {
  const std::optional<ExprValue> V = Eval.evaluate(*F.Value, *F.Names);
  if (!V)
    return;
  const auto *List = V->getIf<ListValue>();
  std::string Text;
  for (const ExprValue &Of :
       List ? llvm::ArrayRef(List->Elements) : llvm::ArrayRef(*V)) {
    const std::optional<int64_t> N =
        Reader.checkNumber(F.Key.Text, "Fraction", Of);
    if (!N)
      return;
    Text += (Text.empty() ? "" : " ") + std::to_string(*N);
  }
  Out.Acceptance.state(std::move(Text), F.Value->Range);
}

/// Binds the sections within that of an engine.
void Binder::bindWithin(const Body &Serve, ir::Spec &S) {
  auto Bind = [&](llvm::StringRef Keyword, auto &Out) -> const Body * {
    const Body *Of = Serve.findSection(Keyword);
    if (!Of)
      return nullptr;
    Out.emplace().Range = Of->Keyword.Range;
    bindKeys(*Of, *Out);
    return Of;
  };
  const Body *Draft = Bind("draft", S.Draft), *Lora = Bind("lora", S.Lora);
  if (const Field *F = Draft ? Draft->findField("acceptance") : nullptr)
    bindAcceptance(*F, *S.Draft);
  if (Draft)
    requireKeys(Draft->Keyword, *S.Draft, {Draft});
  DraftsByBranch = S.Draft && S.Draft->Kind.is(ir::DraftKind::Mtp);
  if (Lora)
    requireKeys(Lora->Keyword, *S.Lora, {Lora});
}

void Binder::bindServe(const Body &Of, ir::Spec &S) {
  ir::ServeSpec &Serve = S.Serve.emplace();
  Serve.Name = Of.Label.Text;
  Serve.Range = Of.Keyword.Range;
  const llvm::StringRef Peer = Serve.Name == "prefill"  ? "decode"
                               : Serve.Name == "decode" ? "prefill"
                                                        : "";
  if (!Peer.empty() && findServe(TheJob, Peer))
    Serve.Peer = Peer;
  bindKeys(Of, Serve, {}, {"parallel", "draft", "lora"});
  bindWithin(Of, S);
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
