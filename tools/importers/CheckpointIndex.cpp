// SPDX-License-Identifier: Apache-2.0
#include "tools/importers/Importers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace llvm;
namespace path = llvm::sys::path;

namespace foretrace::importers {

/// The bytes of a parameter, by the configuration; 0 if weights have several
/// types or it does not say.
static int64_t bytesOfParameter(const json::Object &Config) {
  if (Config.get("quantization_config"))
    return 0;
  for (const char *Part : {"text_config", "llm_config", "language_config"})
    if (const json::Object *Text = Config.getObject(Part))
      if (const int64_t Bytes = bytesOfParameter(*Text))
        return Bytes;
  for (const char *Key : {"torch_dtype", "dtype"})
    if (const auto Type = Config.getString(Key))
      return StringSwitch<int64_t>(*Type)
          .Cases("bfloat16", "float16", 2)
          .Case("float32", 4)
          .Default(0);
  return 0;
}

/// The number of parameters that the index states, or that follow from its
/// bytes.
static std::optional<int64_t> parametersOf(const json::Object &Index,
                                           const json::Object &Config) {
  const json::Object *About = Index.getObject("metadata");
  if (!About)
    return std::nullopt;
  if (const auto Stated = About->getInteger("total_parameters"))
    return Stated;
  const auto Size = About->getInteger("total_size");
  const int64_t Bytes = bytesOfParameter(Config);
  if (!Size || Bytes == 0 || *Size % Bytes != 0)
    return std::nullopt;
  return *Size / Bytes;
}

/// A name up to the number of a layer, and that number if there is one.
static std::pair<StringRef, std::optional<size_t>> splitName(StringRef Name) {
  for (size_t At = 0; At < Name.size();) {
    const StringRef Part = Name.substr(At).split('.').first;
    size_t Number;
    if (!Part.getAsInteger(10, Number))
      return {Name.take_front(At), Number};
    At += Part.size() + 1;
  }
  return {Name, std::nullopt};
}

/// The starts of names of weights that are not of the text model, whose layers
/// are those that most names belong to.
static std::vector<std::string> namesOfOthers(const json::Object &Weights,
                                              size_t Layers) {
  MapVector<StringRef, size_t> OfStart;
  for (const auto &W : Weights)
    if (const auto [Start, Number] = splitName(W.first); Number)
      ++OfStart[Start];
  if (OfStart.empty())
    return {};
  const StringRef Main = max_element(OfStart, [](const auto &L, const auto &R) {
                           return L.second < R.second;
                         })->first;
  // `model.` of `model.layers.`, whose other weights are its embedding and norm
  const StringRef Model = Main.drop_back(1).rsplit('.').second.empty()
                              ? StringRef()
                              : Main.drop_back(1).rsplit('.').first;
  std::vector<std::string> Others;
  for (const auto &W : Weights) {
    const StringRef Name = W.first;
    const auto [Start, Number] = splitName(Name);
    if (Number && Start == Main) {
      if (*Number >= Layers)
        Others.push_back((Start + Twine(*Number) + ".").str());
    } else if (Number) {
      Others.push_back(Start.str());
    } else if (!Name.starts_with(Model) && !Name.starts_with("lm_head") &&
               !Name.contains(".lm_head")) {
      Others.push_back((Name.rsplit('.').first + ".").str());
    }
  }
  sort(Others);
  Others.erase(unique(Others), Others.end());
  return Others;
}

/// Returns nothing if it is damaged, or has NaN, which is not in JSON.
static std::optional<json::Value> parse(StringRef Text) {
  Expected<json::Value> Read = json::parse(Text);
  if (Read)
    return std::move(*Read);
  consumeError(Read.takeError());
  return std::nullopt;
}

std::optional<CheckpointIndex>
readCheckpointIndex(StringRef Config, size_t Layers, ImportRequest &Request) {
  SmallString<128> Path(Config);
  if (Config == "-")
    return std::nullopt;
  if (!sys::fs::is_directory(Config))
    path::remove_filename(Path);
  path::append(Path, "model.safetensors.index.json");
  if (!sys::fs::is_regular_file(Path))
    return std::nullopt;
  const std::optional<SourceText> Text = Request.read(Path);
  const std::optional<SourceText> OfModel = Request.read(
      sys::fs::is_directory(Config) ? (Config + "/config.json").str()
                                    : Config.str());
  if (!Text || !OfModel)
    return std::nullopt;
  const std::optional<json::Value> Index = parse(Text->str()),
                                   Model = parse(OfModel->str());
  if (!Index || !Model)
    return std::nullopt;
  const json::Object *Root = Index->getAsObject(), *Keys = Model->getAsObject();
  const auto Parameters =
      Root && Keys ? parametersOf(*Root, *Keys) : std::nullopt;
  if (!Parameters)
    return std::nullopt;
  const json::Object *Weights = Root->getObject("weight_map");
  return CheckpointIndex{Text->range().atStart(), *Parameters,
                         Weights ? namesOfOthers(*Weights, Layers)
                                 : std::vector<std::string>()};
}

} // namespace foretrace::importers
