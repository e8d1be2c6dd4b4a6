// SPDX-License-Identifier: Apache-2.0
#include "tools/start/NewJob.h"
#include "analysis/Figures.h"
#include "frontend/Defaults.h"
#include "frontend/Format.h"
#include "lang/NumberText.h"
#include "lang/diagnostics/Frontend.h"
#include "lang/diagnostics/Tools.h"
#include "tools/compiler/Compiler.h"
#include "tools/start/Draft.h"
#include "tools/sweep/Shell.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace foretrace::start {

/// Returns the error that no layout fits, with the number of devices that
/// suffice.
Error Draft::nothingFits(const MeasuredLayout &Least) const {
  std::string Way = "use devices with more memory";
  constexpr int64_t MostTimes = 64;
  for (int64_t Times = 2; Machine && Times <= MostTimes; Times *= 2) {
    ir::Spec Larger = Spec;
    Larger.Parallel.World.setDefault(R.World * Times);
    Expected<LayoutRanking> More = findBest(openJob(R.World * Times), Larger);
    if (!More)
      consumeError(More.takeError());
    else if (!More->Best.empty()) {
      Way = "use --world=" + std::to_string(R.World * Times) +
            ", or devices with more memory";
      break;
    }
  }
  std::string Keys;
  for (const StringRef Set : setKeys(Least.Of))
    if (const auto [Key, Value] = Set.split('='); Value != "true")
      Keys += (Keys.empty() ? "" : ", ") +
              (Key.split('.').second + " = " + Value).str();
  return createStringError(formatv(
      "no layout of `{0}` on {1} devices fits: the smallest needs {2} per "
      "device ({5}), {3} more than a device has for tensors; {4}",
      R.Model, R.World, printBytes(static_cast<double>(Least.Peak)),
      printBytes(static_cast<double>(Least.Peak - memory()->usable())), Way,
      Keys));
}

/// Compiles the job with \p L.
Expected<MeasuredLayout> Draft::measure(const FoundLayout &L) const {
  Expected<MeasuredJob> M = measureJob(openJob(R.World), L.Overrides);
  if (!M)
    return M.takeError();
  return MeasuredLayout{L, M->Peak, M->Time, M->Upper};
}

/// Returns the best layouts that set different keys.
std::vector<MeasuredLayout> Draft::firstOf(const LayoutRanking &Of) const {
  constexpr size_t Shown = 3;
  std::vector<MeasuredLayout> First;
  std::vector<std::vector<std::string>> Known;
  for (const FoundLayout &L : Of.Best) {
    if (First.size() == Shown)
      break;
    std::vector<std::string> Keys = setKeys(L);
    if (is_contained(Known, Keys))
      continue;
    Known.push_back(std::move(Keys));
    if (Expected<MeasuredLayout> M = measure(L))
      First.push_back(std::move(*M));
    else
      consumeError(M.takeError());
  }
  return First;
}

/// Returns the layouts that fit, the best first; if none does, those with the
/// least peak memory.
Expected<LayoutRanking> Draft::search(bool &Fits) {
  Expected<LayoutRanking> Found = findBest(openJob(R.World), Spec);
  Fits = Found && !Found->Best.empty();
  if (!Found || Fits)
    return Found;
  return findLayouts(openJob(R.World), axesOf(Spec), "", "peak");
}

/// Also tries world / 2, / 4, ... and keeps the number of devices with the
/// fewest device hours.
Expected<LayoutRanking> Draft::searchWorlds(bool &Fits) {
  Expected<LayoutRanking> Best = search(Fits);
  if (!R.IsForDeviceHours || !Best || !Fits)
    return Best;
  if (!canBeTimed(Spec)) {
    consumeError(Best.takeError());
    return createStringError("the time of the job can't be estimated, so that "
                             "its device hours are not known");
  }
  int64_t Least = R.World;
  auto CostOf = [&](const LayoutRanking &Of, int64_t World) {
    return static_cast<double>(Of.Best.front().Goal) *
           static_cast<double>(World);
  };
  for (int64_t World = R.World; World % 2 == 0;) {
    World /= 2;
    const int64_t Before = std::exchange(R.World, World);
    Spec.Parallel.World.setDefault(World);
    bool FitsHere = false;
    Expected<LayoutRanking> Fewer = search(FitsHere);
    R.World = Before;
    if (!Fewer || !FitsHere) {
      consumeError(Fewer.takeError());
      break;
    }
    if (CostOf(*Fewer, World) < CostOf(*Best, Least)) {
      Best = std::move(Fewer);
      Least = World;
    }
  }
  R.World = Least;
  Spec.Parallel.World.setDefault(Least);
  return Best;
}

Expected<NewJob> Draft::make() {
  if (Error E = readCluster())
    return E;
  if (Error E = readJob())
    return E;
  bool Fits = false;
  Expected<LayoutRanking> Found = searchWorlds(Fits);
  if (!Found)
    return Found.takeError();
  const std::vector<MeasuredLayout> First = firstOf(*Found);
  if (First.empty())
    return createStringError("no layout is legal");
  if (!Fits && hasMemory())
    return nothingFits(First.front());
  NewJob Out{finish(*Found, First, Fits),
             R.IsExplained ? why(axesOf(Spec), First.front()) : ""};
  Compiler Session;
  CompiledJob &Job = Session.compile(R.Path, Out.Text);
  const ir::Program *P = Job.program();
  if (!P)
    return firstError(Job.engine());
  ir::ExprOverlay Sizes(*P);
  if (JobFigures(Sizes, Validity::ThisJob).of(FigureId::Peak)->value() !=
      First.front().Peak)
    return createStringError("the job has another peak memory than the layout "
                             "that was found; please report this");
  if (std::optional<std::string> Styled = formatText(Out.Text))
    Out.Text = std::move(*Styled);
  return Out;
}

Expected<std::vector<std::string>> takeOverrides(std::vector<std::string> Given,
                                                 NewJobRequest &To) {
  std::vector<std::string> Others;
  for (std::string &Override : Given) {
    const auto [Key, Value] = StringRef(Override).split('=');
    const StringRef Section = Key.split('.').first;
    if (Key == "parallel.world" && !Value.getAsInteger(10, To.World))
      continue;
    if (Section == Key)
      Others.push_back(std::move(Override));
    else if (is_contained({"parallel", "model"}, Section) ||
             is_contained(To.Engine.empty()
                              ? ArrayRef<StringRef>({"train"})
                              : ArrayRef<StringRef>({"requests", "serve"}),
                          Section))
      To.Overrides.push_back(std::move(Override));
    else
      return createStringError(
          "-D takes keys of " +
          Twine(To.Engine.empty() ? "`train`" : "`requests`, `serve`") +
          ", `parallel` and `model`; set `" + Key +
          "` in the job that is written");
  }
  return Others;
}

Expected<NewJob> makeNewJob(NewJobRequest Request) {
  const bool Serves = !Request.Engine.empty();
  Draft D(std::move(Request));
  return Serves ? D.makeServer() : D.make();
}

/// Returns whether \p S is a model on a cluster, as a job without a layout.
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
  if (!Found) // reading the job reports why it is illegal
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
