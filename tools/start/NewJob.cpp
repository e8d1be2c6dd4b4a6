// SPDX-License-Identifier: Apache-2.0
#include "tools/start/NewJob.h"
#include "analysis/DeviceMemory.h"
#include "backends/figures/Figures.h"
#include "frontend/Format.h"
#include "lang/Library.h"
#include "lang/NumberText.h"
#include "tools/compiler/Compiler.h"
#include "tools/start/LayoutSearch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <numeric>

using namespace llvm;

namespace foretrace::start {

// What holds if neither the request nor the model says otherwise.
static constexpr int64_t DefaultSequence = 4096;
static constexpr int64_t LeastGlobalBatch = 512;
static constexpr int64_t MaxTp = 8; ///< more is rare even in large domains
static constexpr int64_t MaxPp = 64, MaxEp = 64;
/// Layers that these do not divide are balanced over stages.
static constexpr int64_t UsualStages = 4;
static constexpr StringLiteral AssumedMemory = "80 GB";

/// Keys of an imported job that the search chooses, or that depend on them.
static constexpr StringLiteral ChosenKeys[] = {"world",
                                               "tp",
                                               "pp",
                                               "vpp",
                                               "ep",
                                               "etp",
                                               "dp",
                                               "ga",
                                               "zero",
                                               "sequence_parallel",
                                               "layout",
                                               "partition",
                                               "schedule",
                                               "first_stage_layers",
                                               "micro_batch",
                                               "last_stage_layers",
                                               "recompute",
                                               "embedding_as_layer",
                                               "loss_as_layer",
                                               "recompute_modules",
                                               "dp_shard",
                                               "recompute_num_layers",
                                               "micro_batch_group"};

namespace {

class Draft {
public:
  explicit Draft(NewJobRequest Request) : R(std::move(Request)) {}

  Expected<std::string> make();

private:
  Error readCluster();
  Error readModel();
  std::string modelText() const;
  LayoutSpace spaceFor(int64_t World) const;
  std::string sharedTrain(int64_t World) const;
  std::string clusterText(int64_t World) const;
  StringRef condition() const;
  Error nothingFits(const FoundLayout &Least) const;
  std::string reason(const FoundLayout &Of, bool Fits) const;
  std::string layoutLines(const FoundLayout &Of) const;
  std::string finish(const FoundLayout &Of, bool Fits) const;

  std::optional<DeviceMemory> memory() const {
    return Machine ? deviceMemoryOf(Machine->Device) : std::nullopt;
  }
  bool hasMemory() const { return memory().has_value(); }
  bool hasProfile() const {
    return Machine && Machine->Device.Profile.isPresent();
  }

  NewJobRequest R;
  std::optional<ir::ClusterSpec> Machine;
  int64_t World = 0, Sequence = DefaultSequence;
  int64_t Layers = 0, Experts = 1;
  bool IsBalanced = false; ///< as its layers do not divide
};

} // namespace

static Error firstError(const DiagnosticEngine &Diags) {
  for (const Diagnostic &D : Diags.diagnostics())
    if (D.Level == Severity::Error)
      return createStringError(D.text());
  return createStringError("it can't be compiled");
}

Error Draft::readCluster() {
  World = R.World;
  if (R.Cluster.empty())
    return Error::success();
  Compiler Session;
  DiagnosticEngine Diags;
  SmallString<128> Path = StringRef(R.ClusterImport);
  if (!Path.starts_with("clusters/"))
    sys::fs::make_absolute(sys::path::parent_path(R.Path), Path);
  else
    Path = (Twine(LibraryFolder) + "/" + R.ClusterImport).str();
  Machine = Session.readCluster(Path, {}, Diags);
  if (!Machine)
    return createStringError("cluster `" + R.Cluster +
                             "`: " + toString(firstError(Diags)));
  if (World == 0)
    World = Machine->deviceCount();
  return Error::success();
}

std::string Draft::modelText() const {
  if (!R.Imported)
    return "import \"" + R.ModelImport + "\"\n";
  importers::ImportedJob Alone = *R.Imported;
  Alone.Params.clear();
  for (importers::SectionText *S : {&Alone.Train, &Alone.Parallel, &Alone.Emit})
    *S = {};
  std::string Text;
  raw_string_ostream OS(Text);
  Alone.write(OS);
  return Text + "\n";
}

Error Draft::readModel() {
  Compiler Session;
  const CompiledJob &Job = Session.compileModel(R.Path, modelText());
  if (!Job.spec())
    return createStringError(
        "model `" + R.Model +
        "`: " + toString(firstError(const_cast<CompiledJob &>(Job).engine())));
  const ir::ModelSpec &M = Job.spec()->Model;
  if (M.MaxPositions.isStated())
    Sequence = std::min(Sequence, *M.MaxPositions);
  Layers = M.splitLayers();
  IsBalanced = Layers % UsualStages != 0;
  for (const ir::BlockSpec &B : M.Blocks)
    if (const Located<int64_t> *Of = ir::routedExperts(B))
      Experts = std::max(Experts, **Of);
  return Error::success();
}

/// Returns `parallel.tp=1,2,4` with the powers of two up to \p Most that divide
/// \p Of.
static std::string powersOf(StringRef Key, int64_t Most, int64_t Of) {
  std::string Axis = Key.str();
  for (int64_t Value = 1; Value <= Most && Of % Value == 0; Value *= 2)
    Axis += (Value == 1 ? "=" : ",") + std::to_string(Value);
  return Axis;
}

/// The keys of \p S that the search does not choose, a line each.
static std::string keptKeys(const importers::SectionText &S) {
  std::string Text;
  for (const importers::WrittenKey &K : S.Keys)
    if (!is_contained(ChosenKeys, StringRef(K.Key)))
      Text += "  " + K.Key + " = " + K.Text + "\n";
  return Text;
}

/// Keys of `train` that all points share.
std::string Draft::sharedTrain(int64_t Ranks) const {
  importers::SectionText Train;
  if (R.Imported)
    Train = R.Imported->Train;
  std::string Text;
  if (!Train.find("sequence"))
    Text += "  // Tokens per sample.\n  sequence = " +
            (Sequence % 1024 == 0 ? std::to_string(Sequence / 1024) + "Ki"
                                  : std::to_string(Sequence)) +
            "\n";
  if (!Train.find("global_batch"))
    Text += "  // Samples per iteration.\n  global_batch = " +
            std::to_string(divideCeil(LeastGlobalBatch, Ranks) * Ranks) + "\n";
  return Text + keptKeys(Train);
}

std::string Draft::clusterText(int64_t Ranks) const {
  if (!Machine)
    return "";
  return "\ncluster : pod { nodes = " +
         std::to_string(divideCeil(Ranks, *Machine->DevicesPerNode)) + " }\n";
}

LayoutSpace Draft::spaceFor(int64_t Ranks) const {
  LayoutSpace Space;
  Space.Path = R.Path;
  Space.Text = modelText();
  if (Machine)
    Space.Text += "import \"" + R.ClusterImport + "\" as pod\n";
  Space.Text += "\ntrain {\n" + sharedTrain(Ranks) + "}\nparallel {\n";
  if (R.Imported)
    Space.Text += keptKeys(R.Imported->Parallel);
  if (Experts > 1)
    Space.Text += "  etp = 1\n";
  if (IsBalanced)
    Space.Text += "  partition = balanced\n";
  Space.Text += "  sequence_parallel = true   zero = 1\n  world = " +
                std::to_string(Ranks) + "\n}\n" + clusterText(Ranks);
  int64_t Domain = MaxTp;
  if (Machine)
    Domain = std::min(Domain, Machine->Tiers.empty()
                                  ? *Machine->DevicesPerNode
                                  : *Machine->Tiers.front().Devices);
  Space.Axes = {powersOf("parallel.tp", Domain, Ranks),
                powersOf("parallel.pp", std::min(MaxPp, Layers), Ranks)};
  if (Experts > 1)
    Space.Axes.push_back(
        powersOf("parallel.ep", MaxEp, std::gcd(Experts, Ranks)));
  // Each point of a balanced partition is compiled.
  Space.Axes.push_back(IsBalanced ? "train.micro_batch=1"
                                  : "train.micro_batch=1,2");
  Space.Axes.push_back("train.recompute=none,full");
  return Space;
}

StringRef Draft::condition() const {
  return hasMemory() ? "fits" : "peak <= 80 GB";
}

/// `76.6 GiB (tp = 8, pp = 4, recompute = full)`.
static std::string needOf(const FoundLayout &Of) {
  std::string Text = printBytes(static_cast<double>(Of.Peak)) + " per device (";
  for (const auto &[Key, Value] : Of.Keys)
    Text += (&Key == &Of.Keys.front().first ? "" : ", ") +
            StringRef(Key).split('.').second.str() + " = " + Value;
  return Text + ")";
}

/// Says what is missing, and with how many devices it would not be.
Error Draft::nothingFits(const FoundLayout &Least) const {
  std::string Way = "use devices with more memory";
  constexpr int64_t MostTimes = 64;
  for (int64_t Times = 2; Times <= MostTimes; Times *= 2) {
    Expected<std::optional<FoundLayout>> More =
        findLayout(spaceFor(World * Times), condition(), "peak");
    if (!More)
      consumeError(More.takeError());
    else if (*More) {
      Way = "use --world=" + std::to_string(World * Times) +
            ", or devices "
            "with more memory";
      break;
    }
  }
  return createStringError(formatv(
      "no layout of `{0}` on {1} devices fits: the smallest needs {2}, {3} "
      "more than a device of `{4}` has for tensors; {5}",
      R.Model, World, needOf(Least),
      printBytes(static_cast<double>(Least.Peak - memory()->usable())),
      R.Cluster, Way));
}

/// Why the layout was chosen, as lines of a comment.
std::string Draft::reason(const FoundLayout &Of, bool Fits) const {
  const std::string Peak = printBytes(static_cast<double>(Of.Peak));
  if (!Fits)
    return formatv("// None of {0} legal layouts needs at most {1}; this one "
                   "needs the least: {2}\n// per device.",
                   Of.Legal, AssumedMemory, Peak);
  if (!hasMemory())
    return formatv(
        "// The memory of a device is not known: {0} of {1} legal layouts need "
        "at most\n// {2}. Of these, this one has the fewest FLOPs per rank; it "
        "needs {3}.",
        Of.Accepted, Of.Legal, AssumedMemory, Peak);
  std::string Text = formatv(
      "// {0} of {1} legal layouts fit into a device of {2}, {3} of it "
      "reserved;\n// ",
      Of.Accepted, Of.Legal, printBytes(static_cast<double>(memory()->Bytes)),
      printBytes(static_cast<double>(memory()->Reserved)));
  if (!Of.Time)
    return Text +
           formatv("the device has no profile, so that its time is not known: "
                   "this one has the\n// fewest FLOPs per rank. It needs {0}.",
                   Peak)
               .str();
  return Text +
         formatv("this one is the fastest of them by estimated time: {0} "
                 "per iteration.\n// It needs {1} for tensors.",
                 describe(*Of.Time, FigureUnit::Time), Peak)
             .str();
}

std::string Draft::layoutLines(const FoundLayout &Of) const {
  const StringRef Tp = Of.find("parallel.tp"), Pp = Of.find("parallel.pp"),
                  Ep = Of.find("parallel.ep");
  std::string Text;
  if (Tp != "1") {
    Text += "  // tp = " + Tp.str() + ": stays inside ";
    Text += !Machine ? "a node of 8 devices.\n"
            : Machine->Tiers.empty()
                ? "a node.\n"
                : "a domain of " + Machine->Tiers.front().Name +
                      ", which has " +
                      std::to_string(*Machine->Tiers.front().Devices) +
                      " devices.\n";
    Text += "  tp = " + Tp.str() + "   sequence_parallel = true\n";
  }
  int64_t Stages = 1;
  (void)Pp.getAsInteger(10, Stages);
  if (Stages != 1 && IsBalanced)
    Text += formatv("  // pp = {0}: {1} layers do not divide into stages.\n  "
                    "pp = {0}   partition = balanced\n",
                    Pp, Layers);
  else if (Stages != 1)
    Text += formatv("  // pp = {0}: {1} of {2} layers per stage.\n  pp = {0}\n",
                    Pp, Layers / Stages, Layers);
  int64_t Size = 1;
  if (!Ep.getAsInteger(10, Size))
    Text += formatv("  // ep = {0}: {1} of {2} experts per rank.\n  ep = {0}   "
                    "etp = 1\n",
                    Ep, Experts / Size, Experts);
  return Text;
}

std::string Draft::finish(const FoundLayout &Of, bool Fits) const {
  std::string Text = formatv("// {0} on {1} devices{2}{3}.\n", R.Model, World,
                             R.Cluster.empty() ? "" : " of ", R.Cluster);
  if (!Machine)
    Text += "// Without a cluster neither memory nor speed of a device is "
            "known; use\n// `foretrace new --cluster`, and `foretrace list "
            "clusters` for those that there are.\n";
  const std::string Import =
      Machine ? "import \"" + R.ClusterImport + "\" as pod\n" : "";
  Text += R.Imported ? Import + modelText() : modelText() + Import;
  Text += "\ntrain {\n" + sharedTrain(World) +
          "  // Samples per micro-batch; more of them fill a device better and "
          "need more memory.\n  micro_batch = " +
          Of.find("train.micro_batch").str() +
          "\n  recompute = " + Of.find("train.recompute").str() + "\n}\n\n";
  Text += reason(Of, Fits) +
          "\nparallel {\n  world = " + std::to_string(World) + "\n" +
          layoutLines(Of);
  if (R.Imported)
    Text += keptKeys(R.Imported->Parallel);
  Text += "  // Shards the state of the optimizer over dp.\n  zero = 1\n}\n" +
          clusterText(World);
  if (hasProfile())
    Text += "\n// What `foretrace time` and the times of tables rest on.\ncost "
            "estimate { }\n";
  return Text +
         "\n// `foretrace list backends` has the other formats.\nemit simai { "
         "file = \"{model}.txt\" }\n";
}

Expected<std::string> Draft::make() {
  if (Error E = readCluster())
    return E;
  if (Error E = readModel())
    return E;
  Expected<std::optional<FoundLayout>> Best =
      findLayout(spaceFor(World), condition(), hasProfile() ? "time" : "flops");
  if (!Best)
    return Best.takeError();
  const bool Fits = Best->has_value();
  if (!Fits) {
    Best = findLayout(spaceFor(World), "", "peak");
    if (!Best)
      return Best.takeError();
    if (hasMemory())
      return nothingFits(**Best);
  }
  std::string Text = finish(**Best, Fits);
  Compiler Session;
  CompiledJob &Job = Session.compile(R.Path, Text);
  if (!Job.program())
    return firstError(Job.engine());
  SourceFiles Sources;
  DiagnosticEngine Diags;
  const std::optional<std::string> Styled =
      formatFore(Sources.text(Sources.add(Text, R.Path)), Diags);
  return Styled ? *Styled : Text;
}

Expected<std::string> makeNewJob(NewJobRequest Request) {
  return Draft(std::move(Request)).make();
}

} // namespace foretrace::start
