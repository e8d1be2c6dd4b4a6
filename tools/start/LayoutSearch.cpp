// SPDX-License-Identifier: Apache-2.0
#include "tools/start/LayoutSearch.h"
#include "analysis/Figures.h"
#include "lang/diagnostics/Tools.h"
#include "tools/sweep/Report.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace foretrace::start {

StringRef FoundLayout::find(StringRef Key) const {
  const auto *Found = llvm::find_if(
      ArrayRef(Keys), [&](const auto &Row) { return Row.first == Key; });
  return Found == ArrayRef(Keys).end() ? StringRef() : Found->second;
}

/// The disk with the job on it.
static IntrusiveRefCntPtr<sweep::FrozenFiles>
diskWith(const LayoutSpace &Space) {
  auto Given = makeIntrusiveRefCnt<vfs::InMemoryFileSystem>();
  const auto Real = vfs::getRealFileSystem();
  if (auto Folder = Real->getCurrentWorkingDirectory())
    (void)Given->setCurrentWorkingDirectory(*Folder);
  Given->addFile(Space.Path, /*ModificationTime=*/0,
                 MemoryBuffer::getMemBuffer(Space.Text));
  auto All = makeIntrusiveRefCnt<vfs::OverlayFileSystem>(Real);
  All->pushOverlay(std::move(Given));
  return makeIntrusiveRefCnt<sweep::FrozenFiles>(std::move(All));
}

static Error failureOf(const DiagnosticEngine &Diags) {
  for (const Diagnostic &D : Diags.diagnostics())
    if (D.Level == Severity::Error)
      return createStringError(D.text());
  return createStringError("the job can't be swept");
}

/// The sweep of \p Space; its first point can be compiled as far as that is not
/// a matter of its values.
static Expected<sweep::Sweep> makeSweep(Compiler &Session,
                                        const LayoutSpace &Space,
                                        StringRef Where, StringRef Metric) {
  SweepRequest Request = sweep::makeRequest();
  for (const std::string &Axis : Space.Axes)
    Request.Entries.push_back({"sweep", Axis});
  if (!Where.empty())
    Request.Entries.push_back({"where", Where.str()});
  Request.Entries.push_back({"minimize", Metric.str()});
  Request.Entries.push_back({"fits", "any"}); // \p Where says what must fit
  DiagnosticEngine Diags;
  std::optional<SweepSpec> Spec =
      Session.readSweep(Space.Path, {}, Request, Diags);
  if (!Spec)
    return failureOf(Diags);
  Expected<sweep::Space> Points = sweep::Space::make(std::move(*Spec));
  if (!Points)
    return Points.takeError();
  sweep::Sweep S = {Space.Path, {}, {}, std::move(*Points)};
  CompiledJob &First = sweep::replay(Session, S, 0);
  if (!sweep::canBeSwept(First, Session.sources()))
    return failureOf(First.engine());
  return S;
}

/// Why points are refused, as most of them are.
static Error refusalOf(Compiler &Session, const sweep::Sweep &S,
                       const sweep::Summary &Done) {
  const auto Most =
      max_element(Done.Rejected, [](const auto &A, const auto &B) {
        return A.second.Count < B.second.Count;
      });
  if (Most == Done.Rejected.end())
    return createStringError("no layout is legal");
  const sweep::PointVerdict V = sweep::judge(Session, S, Most->second.Example);
  const Diagnostic *First = sweep::firstError(V);
  return createStringError("no layout is legal: " +
                           (First ? First->text() : "it is refused"));
}

Expected<std::optional<FoundLayout>>
findLayout(const LayoutSpace &Space, StringRef Where, StringRef Metric) {
  const IntrusiveRefCntPtr<sweep::FrozenFiles> Files = diskWith(Space);
  Compiler Session(PassRunner(), Files);
  Expected<sweep::Sweep> S = makeSweep(Session, Space, Where, Metric);
  if (!S)
    return S.takeError();
  S->Files = Files;
  Expected<sweep::Summary> Done = sweep::runSweep(
      *S, /*DB=*/nullptr, /*Threads=*/0, [](const sweep::Summary &) {});
  if (!Done)
    return Done.takeError();
  FoundLayout Found;
  Found.Accepted = Found.Legal = Done->Accepted;
  for (const auto &[Why, Of] : Done->Rejected)
    if (Why.Reported == diag::WhereFailed)
      Found.Legal += Of.Count;
  if (Found.Legal == 0)
    return refusalOf(Session, *S, *Done);
  if (Found.Accepted == 0)
    return std::nullopt;
  const int64_t Best = Done->Best.kept().front().Id;
  for (const std::string &Override : S->Space.overridesOf(Best)) {
    const auto [Key, Value] = StringRef(Override).split('=');
    Found.Keys.emplace_back(Key, Value);
  }
  const sweep::PointVerdict V = sweep::judge(Session, *S, Best);
  Found.Peak = V.Metrics[static_cast<size_t>(FigureId::Peak)];
  if (Metric == "time")
    Found.Time = V.Metrics[static_cast<size_t>(FigureId::Time)];
  return Found;
}

} // namespace foretrace::start
