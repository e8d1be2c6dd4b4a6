// SPDX-License-Identifier: Apache-2.0
//
// Reads what a new job is made of.
#include "tools/start/Draft.h"
#include "lang/DidYouMean.h"
#include "lang/Library.h"
#include "tools/compiler/Compiler.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace::start {

Expected<std::string> importFor(StringRef Name, StringRef Folder,
                                StringRef Extension, StringRef Job) {
  const std::string Shipped = (Folder + "/" + Name + "." + Extension).str();
  std::vector<StringRef> Known;
  for (const LibraryModel &M : libraryModels())
    if (Folder == "models")
      Known.push_back(M.Title);
  if (const LibraryModel *M =
          Folder == "models" ? findNamedModel(Name) : nullptr)
    return ("models/" + M->Title + ".fore").str();
  for (const LibraryFile &F : libraryFiles())
    if (Folder == "clusters" && sys::path::parent_path(F.Path) == Folder) {
      Known.push_back(sys::path::stem(F.Path));
      if (F.Path == Shipped)
        return Shipped;
    }
  if (sys::fs::is_regular_file(Name)) {
    SmallString<128> Path = Name;
    if (!sys::path::parent_path(Job).empty())
      if (const std::error_code EC = sys::fs::make_absolute(Path))
        return createStringError(EC, "`" + Name + "`: " + EC.message());
    return Path.str().str();
  }
  return createStringError("`" + Name +
                           "` is neither a file nor one of `foretrace list " +
                           Folder + "`" + didYouMean(Name, Known));
}

/// Samples per iteration if neither the request nor the job sets them.
static constexpr int64_t LeastGlobalBatch = 512;

/// Keys of an imported job that the search chooses, or that depend on them.
static constexpr StringLiteral ChosenKeys =
    "world tp cp pp vpp ep etp dp ga zero sequence_parallel layout "
    "partition schedule first_stage_layers micro_batch "
    "last_stage_layers recompute embedding_as_layer loss_as_layer "
    "recompute_modules dp_shard recompute_num_layers micro_batch_group";

Error Draft::readCluster() {
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
  if (R.World == 0)
    R.World = Machine->deviceCount();
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

std::string keptKeys(const importers::SectionText &S,
                     ArrayRef<std::string> Overrides) {
  std::string Text;
  for (const importers::WrittenKey &K : S.Keys)
    if (!is_contained(split(ChosenKeys, ' '), K.Key) &&
        none_of(Overrides, [&](StringRef O) {
          return O.split('=').first.ends_with("." + K.Key);
        }))
      Text += "  " + K.Key + " = " + K.Text + "\n";
  return Text;
}

std::string Draft::clusterText(int64_t World) const {
  if (!Machine)
    return "";
  return "\ncluster : pod { nodes = " +
         std::to_string(divideCeil(World, *Machine->DevicesPerNode)) + " }\n";
}

OpenJob Draft::openJob(int64_t World) const {
  OpenJob Job{R.Path, modelText(), {}};
  if (Machine)
    Job.Text += "import \"" + R.ClusterImport + "\" as pod\n";
  if (R.Imported)
    Job.Text += "\ntrain {\n" + keptKeys(R.Imported->Train, R.Overrides) +
                "}\nparallel {\n" +
                keptKeys(R.Imported->Parallel, R.Overrides) + "}\n";
  Job.Text += clusterText(World);
  Job.Options.Overrides = R.Overrides;
  append_range(Job.Options.Overrides, Assumed);
  if (World != 0)
    Job.Options.Overrides.push_back("parallel.world=" + std::to_string(World));
  return Job;
}

int64_t usualBatch(int64_t World) {
  return divideCeil(LeastGlobalBatch, World) * World;
}

/// Reads the job without a layout, and assumes the other keys that it lacks.
Error Draft::readJob() {
  Compiler Session;
  OpenJob Job = openJob(R.World);
  Job.Options.IsOfModel = [](ArrayRef<ir::EmitSpec>) { return true; };
  Session.setText(Job.Path, Job.Text);
  CompiledJob &Read = Session.read(Job.Path, Job.Options);
  if (!Read.spec())
    return createStringError("model `" + R.Model +
                             "`: " + toString(firstError(Read.engine())));
  Spec = *Read.spec();
  if (R.World == 0 && Spec.Parallel.World.isStated())
    R.World = *Spec.Parallel.World;
  if (R.World == 0 && Spec.Cluster)
    R.World = Spec.Cluster->deviceCount();
  if (R.World == 0)
    return createStringError("new: expected --world or --cluster");
  Spec.Parallel.World.setDefault(R.World);
  if (!Spec.Train.Sequence.isStated()) {
    const int64_t Tokens = *Spec.Train.Sequence;
    Assumed.push_back("train.sequence=" +
                      (Tokens % 1024 == 0 ? std::to_string(Tokens / 1024) + "Ki"
                                          : std::to_string(Tokens)));
  }
  if (!Spec.Train.GlobalBatch.isStated()) {
    Spec.Train.GlobalBatch.setDefault(usualBatch(R.World));
    Assumed.push_back("train.global_batch=" +
                      std::to_string(*Spec.Train.GlobalBatch));
  }
  return Error::success();
}

} // namespace foretrace::start
