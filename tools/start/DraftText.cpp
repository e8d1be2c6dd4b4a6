// SPDX-License-Identifier: Apache-2.0
//
// Writes a new job, and why it has its layout.
#include "backends/figures/Figures.h"
#include "tools/start/Draft.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace foretrace::start {

/// Returns whether \p Key has no effect in \p Of: it is of an axis of size 1.
static bool isIdle(StringRef Key, const FoundLayout &Of) {
  const bool IsAlone = Of.find("parallel.tp") == "1";
  if (Key == "parallel.sequence_parallel" || Key == "parallel.tp_comm_overlap")
    return IsAlone;
  if (Key == "parallel.cp_comm")
    return Of.find("parallel.cp") == "1";
  if (Key == "parallel.embedding_as_layer" || Key == "parallel.loss_as_layer")
    return Of.find("parallel.pp") == "1";
  return Key == "parallel.etp" && IsAlone && Of.find("parallel.ep") == "1" &&
         Of.find(Key) == "1";
}

/// Returns whether \p Value is the default of \p Key.
static bool isDefault(StringRef Key, StringRef Value, const FoundLayout &Of) {
  static constexpr StringLiteral AreOne[] = {"parallel.tp", "parallel.cp",
                                             "parallel.pp", "parallel.vpp",
                                             "parallel.ep"};
  return isIdle(Key, Of) || Value == "none" ||
         (Value == "1" && is_contained(AreOne, Key));
}

std::vector<std::string> setKeys(const FoundLayout &Of) {
  std::vector<std::string> Keys;
  for (const StringRef O : Of.Overrides)
    if (const auto [Key, Value] = O.split('='); !isDefault(Key, Value, Of))
      Keys.push_back(O.str());
  return Keys;
}

std::string differences(const FoundLayout &From, const FoundLayout &To) {
  std::vector<std::string> Keys;
  for (const StringRef O : To.Overrides)
    if (const auto [Key, Value] = O.split('=');
        From.find(Key) != Value && !isIdle(Key, To))
      Keys.push_back((Key.rsplit('.').second + " = " + Value).str());
  for (const StringRef O : From.Overrides)
    if (const StringRef Key = O.split('=').first;
        To.find(Key).empty() && !isIdle(Key, From))
      Keys.push_back(("without " + Key.rsplit('.').second).str());
  return join(Keys, ", ");
}

/// `0.7 % slower, 3 GiB less`.
static std::string beside(const MeasuredLayout &Of,
                          const MeasuredLayout &Best) {
  std::string Text;
  if (Of.Time && Best.Time) {
    const double Share =
        100 *
        (static_cast<double>(*Of.Time) / static_cast<double>(*Best.Time) - 1);
    Text = formatv("{0:f1} % {1}, ", std::abs(Share),
                   Share < 0 ? "faster" : "slower");
  }
  const int64_t More = Of.Peak - Best.Peak;
  if (More == 0)
    return Text + "as much memory";
  return Text + printBytes(static_cast<double>(std::abs(More))) +
         (More < 0 ? " less" : " more");
}

/// Returns a line for each layout that differs from \p Best in one key.
std::string Draft::why(const LayoutAxes &Axes,
                       const MeasuredLayout &Best) const {
  std::string Text;
  raw_string_ostream OS(Text);
  for (const FoundLayout &L : variationsOf(Axes, Best.Of)) {
    const std::string Keys = differences(Best.Of, L);
    if (Keys.empty())
      continue;
    Expected<MeasuredLayout> M = measure(L);
    if (!M)
      OS << formatv("{0,-34} {1}: {2}\n", "not legal", Keys,
                    toString(M.takeError()));
    else
      OS << formatv("{0,-34} {1}\n",
                    memory() && !memory()->fits(M->Peak)
                        ? "does not fit: " +
                              printBytes(static_cast<double>(M->Peak))
                        : beside(*M, Best),
                    Keys);
  }
  return Text;
}

/// Returns why the layout was chosen, as lines of a comment.
std::string Draft::reason(const LayoutRanking &Of,
                          ArrayRef<MeasuredLayout> First, bool Fits) const {
  const MeasuredLayout &Best = First.front();
  const std::string Need = printBytes(static_cast<double>(Best.Peak));
  if (!Fits)
    return formatv("// None of {0} legal layouts needs at most {1}; this one "
                   "needs the least: {2}\n// per device.",
                   Of.Legal, AssumedMemory, Need);
  if (!hasMemory())
    return formatv(
        "// The memory of a device is not known: {0} of {1} legal layouts need "
        "at most\n// {2}. Of these, this one has the fewest FLOPs per rank; it "
        "needs {3}.",
        Of.Accepted, Of.Legal, AssumedMemory, Need);
  std::string Text = formatv(
      "// {0} of {1} legal layouts that were tried fit into a device of {2}, "
      "{3} of it\n// reserved; ",
      Of.Accepted, Of.Legal, printBytes(static_cast<double>(memory()->Bytes)),
      printBytes(static_cast<double>(memory()->Reserved)));
  if (!Best.Time)
    return Text +
           formatv("the device has no profile, so that its time is not known: "
                   "this one\n// has the fewest FLOPs per rank. It needs {0}.",
                   Need)
               .str();
  Text += formatv("this one is the fastest of them by the upper end of its "
                  "estimate:\n// {0} per iteration, at most {1} in nine of ten "
                  "runs. It needs {2} for tensors.",
                  describe(*Best.Time, FigureUnit::Time),
                  describe(*Best.Upper, FigureUnit::Time), Need);
  for (const MeasuredLayout &Next : First.drop_front())
    Text += "\n// Next, " + beside(Next, Best) + ": " +
            differences(Best.Of, Next.Of) + ".";
  return Text;
}

std::string Draft::commentOf(StringRef Key, const FoundLayout &Of) const {
  const int64_t Layers = Spec.Model.splitLayers();
  if (Key == "train.sequence")
    return "  // Tokens per sample.\n";
  if (Key == "train.global_batch")
    return "  // Samples per iteration.\n";
  if (Key == "train.micro_batch")
    return "  // Samples per micro-batch; more of them fill a device better "
           "and "
           "need more memory.\n";
  int64_t Value = 1;
  if (Of.find(Key).getAsInteger(10, Value) || Value == 0)
    return "";
  if (Key == "parallel.tp")
    return formatv("  // tp = {0}: stays inside {1}.\n", Value,
                   !Spec.Cluster ? "a node of 8 devices"
                   : Spec.Cluster->Tiers.empty()
                       ? "a node"
                       : formatv("a domain of {0}, which has {1} devices",
                                 Spec.Cluster->Tiers.front().Name,
                                 Spec.Cluster->domainSize())
                             .str());
  if (Key == "parallel.pp" && Layers % Value == 0)
    return formatv("  // pp = {0}: {1} of {2} layers per stage.\n", Value,
                   Layers / Value, Layers);
  if (Key == "parallel.zero" && Value == 1)
    return "  // Shards the state of the optimizer over dp.\n";
  return "";
}

/// Returns the keys of a section that the request or the layout sets, as lines.
std::string Draft::section(StringRef Keyword, const FoundLayout &Of) const {
  std::string Text;
  if (R.Imported)
    Text +=
        keptKeys(Keyword == "train" ? R.Imported->Train : R.Imported->Parallel,
                 R.Overrides);
  for (const std::vector<std::string> &Keys :
       {R.Overrides, Assumed, setKeys(Of)})
    for (const StringRef O : Keys)
      if (const auto [Key, Value] = O.split('=');
          Key.split('.').first == Keyword)
        Text += (commentOf(Key, Of) + "  " + Key.split('.').second + " = " +
                 Value + "\n")
                    .str();
  return Text;
}

std::string keyOfModel(StringRef Override) {
  const auto [Key, Value] = Override.split('=');
  SmallVector<StringRef, 3> Path;
  Key.split(Path, '.');
  if (Path.front() != "model")
    return "";
  return Path.size() == 2
             ? formatv("  {0} = {1}\n", Path[1], Value).str()
             : formatv("  block {0} {{ {1} = {2} }\n", Path[1], Path[2], Value)
                   .str();
}

std::string Draft::finish(const LayoutRanking &Of,
                          ArrayRef<MeasuredLayout> First, bool Fits) const {
  const FoundLayout &Best = First.front().Of;
  std::string Text = formatv("// {0} on {1} devices{2}{3}.\n", R.Model, R.World,
                             R.Cluster.empty() ? "" : " of ", R.Cluster);
  if (!Spec.Cluster)
    Text += "// Without a cluster neither memory nor speed of a device is "
            "known; use\n// `foretrace new --cluster`, and `foretrace list "
            "clusters` for those that there are.\n";
  const std::string Import =
      Machine ? "import \"" + R.ClusterImport + "\" as pod\n" : "";
  Text += R.Imported ? Import + modelText() : modelText() + Import;
  std::string Model;
  for (const std::vector<std::string> &Keys : {R.Overrides, setKeys(Best)})
    for (const StringRef O : Keys)
      Model += keyOfModel(O);
  if (!Model.empty())
    Text += formatv("\nmodel {0}_job : {0} {{\n{1}}\n", Spec.Model.Name, Model);
  Text += "\ntrain {\n" + section("train", Best) + "}\n\n" +
          reason(Of, First, Fits) + "\nparallel {\n";
  if (R.World != 0)
    Text += "  world = " + std::to_string(R.World) + "\n";
  Text += section("parallel", Best) + "}\n" + clusterText(R.World);
  if (canBeTimed(Spec) && !Spec.Cost.Kind.isStated())
    Text += "\n// What `foretrace time` and the times of tables rest on.\ncost "
            "estimate { }\n";
  return Text +
         "\n// `foretrace list backends` has the other formats.\nemit simai { "
         "file = \"{model}.txt\" }\n";
}

} // namespace foretrace::start
