// SPDX-License-Identifier: Apache-2.0
//
// A new job that serves: the fewest devices on which its requests fit.
#include "analysis/Figures.h"
#include "backends/figures/Figures.h"
#include "frontend/Format.h"
#include "tools/compiler/Compiler.h"
#include "tools/start/Draft.h"
#include "tools/start/LayoutSweep.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace foretrace::start {

/// Returns layouts of \p World ranks with \p Pp stages: tp stays within
/// \p Domain ranks, as vLLM's guide says (docs/serving/parallelism_scaling.md).
/// Keys of \p Stated do not vary.
static LayoutAxes axesOfServer(int64_t World, int64_t Pp, int64_t Domain,
                               ArrayRef<std::string> Stated) {
  LayoutAxes Axes;
  auto Add = [&](StringRef Key, int64_t First, int64_t Last) {
    LayoutAxes::Number N{Key.str(), {}, {}};
    for (int64_t Size = First; Size <= Last; Size *= 2) {
      N.First.push_back(N.Values.size());
      N.Values.push_back(Size);
    }
    Axes.Numbers.push_back(std::move(N));
  };
  Add("parallel.pp", Pp, Pp);
  Add("parallel.tp", 1, std::min(World, Domain));
  Add("parallel.ep", 1, World);
  erase_if(Axes.Numbers, [&](const LayoutAxes::Number &N) {
    return any_of(Stated,
                  [&](StringRef O) { return O.split('=').first == N.Key; });
  });
  return Axes;
}

/// Returns the job without a layout, and what it lacks of requests.
OpenJob Draft::openServer(int64_t World) {
  for (const StringRef Key : {"requests.input", "requests.output"})
    if (none_of(R.Overrides,
                [&](StringRef O) { return O.split('=').first == Key; }))
      R.Overrides.push_back((Key + "=1Ki").str());
  OpenJob Job{R.Path, modelText(), {}};
  Job.Text += "import \"" + R.ClusterImport +
              "\" as pod\nserve { engine = " + R.Engine + " }\n" +
              clusterText(World);
  Job.Options.Overrides = R.Overrides;
  // Models with pictures have no other step.
  append_range(Job.Options.Overrides,
               std::initializer_list<std::string>{"parallel.world=" +
                                                      std::to_string(World),
                                                  "serve.step=largest"});
  return Job;
}

/// Returns the text of the job with a layout.
std::string Draft::serverText(const FoundLayout &Of, int64_t World,
                              StringRef Reason) const {
  std::string Text = formatv("// {0} served by {1} on {2} devices of {3}.\n",
                             R.Model, R.Engine, World, R.Cluster);
  const std::string Import = "import \"" + R.ClusterImport + "\" as pod\n";
  Text += R.Imported ? Import + modelText() : modelText() + Import;
  std::string Model;
  for (const StringRef O : R.Overrides)
    Model += keyOfModel(O);
  if (!Model.empty())
    Text += "\nmodel server : " + Spec.Model.Name + " {\n" + Model + "}\n";
  return Text + "\nrequests {\n" + section("requests", Of) +
         "}\nserve {\n  engine = " + R.Engine + "\n" + section("serve", Of) +
         "}\n\n" + Reason.str() +
         "parallel {\n  world = " + std::to_string(World) + "\n" +
         section("parallel", Of) + "}\n" + clusterText(World) +
         "\nemit memory { }\n";
}

/// Returns the job with the layout \p Of, and why it has it.
Expected<NewJob> Draft::finishServer(const RegionResult &Of, int64_t World) {
  const FoundLayout &Best = Of.Best.front();
  Compiler Session;
  OpenJob Job = openServer(World);
  append_range(Job.Options.Overrides, Best.Overrides);
  Session.setText(Job.Path, Job.Text);
  const ir::Program *P =
      Session.read(Job.Path, std::move(Job.Options)).program();
  if (!P)
    return createStringError("the job that was found is illegal; please report "
                             "this");
  Spec = P->Spec;
  ir::ExprOverlay Sizes(*P);
  const std::string Reason = formatv(
      "// The fewest devices on which {0} requests fit: a replica has room for "
      "{1} sequences of\n// input + output tokens. Of layouts with as few "
      "stages, this one sends the least in\n// its largest step: {2} per "
      "rank.\n",
      *Spec.Requests->Concurrency,
      JobFigures(Sizes, Validity::ThisJob).of(FigureId::Sequences)->value(),
      describe(Best.Goal, FigureUnit::Bytes));
  // Models with pictures have no step of decode.
  Compiler Plain;
  if (!Plain.compile(R.Path, serverText(Best, World, "")).program())
    R.Overrides.push_back("serve.step=largest");
  NewJob Out{serverText(Best, World, Reason), ""};
  if (std::optional<std::string> Styled = formatText(Out.Text))
    Out.Text = std::move(*Styled);
  return Out;
}

namespace {

/// The layout that comes closest to what is looked for.
struct NearMiss {
  FoundLayout Of;
  int64_t World;
};

} // namespace

/// Sets \p Nearest to the best layout of \p Of if that lacks less, or the same
/// with more devices, which show that these do not help.
static void takeNearest(const LayoutSweep &Of, int64_t World,
                        std::optional<NearMiss> &Nearest) {
  Expected<RegionResult> Found = Of.run({});
  if (!Found) {
    consumeError(Found.takeError());
    return;
  }
  if (!Found->Best.empty() &&
      (!Nearest || std::pair(Found->Best.front().Goal, -World) <
                       std::pair(Nearest->Of.Goal, -Nearest->World)))
    Nearest = {std::move(Found->Best.front()), World};
}

/// Returns the size of an instance and the other keys that are not 1: `world =
/// 4, tp = 4`.
static std::string keysOf(const NearMiss &Of) {
  std::string Keys = "world = " + std::to_string(Of.World);
  for (const StringRef O : Of.Of.Overrides)
    if (const auto [Key, Value] = O.split('='); Value != "1")
      Keys += (", " + Key.split('.').second + " = " + Value).str();
  return Keys;
}

Expected<NewJob> Draft::makeServer() {
  if (Error E = readCluster())
    return E;
  if (!Machine || !deviceMemoryOf(Machine->Device))
    return createStringError("new --serve: expected --cluster, of devices "
                             "whose memory is known");
  const std::string Room = "sequences * parallel.dp >= requests.concurrency",
                    Lacking = "requests.concurrency - sequences * parallel.dp";
  if (any_of(R.Overrides,
             [](StringRef O) { return O.starts_with("serve.replicas="); }))
    return createStringError("new --serve: looks for one instance; set "
                             "`serve.replicas` in the job that is written");
  std::vector<int64_t> Worlds;
  for (int64_t World = 1; World < R.World; World *= 2)
    Worlds.push_back(World);
  Worlds.push_back(R.World);
  std::string Why;
  std::optional<NearMiss> Nearest;
  for (const int64_t World : Worlds)
    for (int64_t Pp = 1; Pp <= World; ++Pp) {
      if (World % Pp != 0)
        continue;
      const OpenJob Job = openServer(World);
      const LayoutAxes Axes =
          axesOfServer(World, Pp, Machine->domainSize(), R.Overrides);
      Expected<RegionResult> Found =
          LayoutSweep{Job, Axes, Room, "messages"}.run({}, true);
      if (!Found && Pp != 1)
        consumeError(Found.takeError());
      else if (!Found)
        Why = toString(Found.takeError());
      else if (!Found->Best.empty())
        return finishServer(*Found, World);
      else
        takeNearest(LayoutSweep{Job, Axes, "", Lacking}, World, Nearest);
    }
  if (Nearest)
    Why = formatv(
        "no layout has room for the requests at once: with {0} there is none "
        "for {1} of them; use more devices, a smaller `requests.concurrency`, "
        "a larger `serve.max_sequences` or `serve.kv_precision=fp8`",
        keysOf(*Nearest), Nearest->Of.Goal);
  return createStringError(
      formatv("`{0}` on up to {1} devices: {2}", R.Model, R.World, Why));
}

} // namespace foretrace::start
