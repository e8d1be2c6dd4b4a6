// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/GenerateJob.h"
#include "backends/Backends.h"
#include "ir/model/SpecFields.h"
#include "lang/ShippedLayers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"
#include <random>

using namespace foretrace;
using llvm::StringRef;

namespace {

struct WordRow {
  StringRef Type, Word;
};
constexpr WordRow WordRows[] = {
#define SPEC_ENUM(TYPE, ENUMERATOR, SPELLING) {#TYPE, SPELLING},
#include "ir/model/Spec.def"
};

/// Where arithmetic goes wrong.
constexpr StringRef Recipes[] = {"fp8",         "fp8_block",  "mxfp8", "nvfp4",
                                 "deepseek_v3", "torchtitan", "none"};

constexpr StringRef Extremes[] = {"0",
                                  "-1",
                                  "3",
                                  "7",
                                  "65537",
                                  "(1Ki * 1Ki * 1Ki)",
                                  "2147483647",
                                  "2147483648",
                                  "4294967295",
                                  "4294967296",
                                  "1Ti",
                                  "1099511627777",
                                  "9007199254740993",
                                  "3037000500",
                                  "4611686018427387904",
                                  "9223372036854775807"};

class Generator {
public:
  explicit Generator(llvm::ArrayRef<uint8_t> Choices) : Choices(Choices) {}

  std::string run();

private:
  unsigned upTo(unsigned Most);
  bool oneIn(unsigned N) { return upTo(N - 1) == N - 1; }
  int64_t power(unsigned MostBits) { return int64_t(1) << upTo(MostBits); }
  template <typename RangeT> const auto &pick(const RangeT &From) {
    return From[upTo(static_cast<unsigned>(std::size(From)) - 1)];
  }

  std::string number(int64_t Usual);
  std::string valueOf(StringRef Type);
  void key(StringRef Key, const llvm::Twine &Value);
  void keys(StringRef Section);
  void keysOf(StringRef Layer);
  void open(const llvm::Twine &Head);
  void close() { OS << "}\n"; }

  void chooseLayout();
  std::string perLayer(int64_t Usual);
  std::string channels(int64_t Units);
  void ownLayer();
  void laterLayer();
  void later();
  void mixer();
  void branch();
  void attention();
  void network(StringRef Head);
  void experts();
  void layers();
  void model();
  void train();
  void parallel();
  void device();
  void link(StringRef Axis);
  void cost();
  void cluster();
  void sweep();
  void emit(const Backend &B);

  llvm::ArrayRef<uint8_t> Choices;
  std::string Text;
  llvm::raw_string_ostream OS{Text};
  llvm::StringSet<> Written; ///< keys of the section that is open
  std::string Names;         ///< lets and params, which may follow their use
  unsigned NumNames = 0;

  int64_t Tp = 1, Cp = 1, Pp = 1, Vpp = 1, Dp = 1, Ep = 1, Ga = 1;
  int64_t MicroBatch = 1, Heads = 1, Layers = 1;
  bool HasExperts = false;
  bool HasOwnLayer = false;
  bool PassesValue = false; ///< from that layer to another one
  bool IsCalm = true;       ///< no number is an extreme one
};

} // namespace

/// 0 once there are no more bytes.
unsigned Generator::upTo(unsigned Most) {
  if (Choices.empty())
    return 0;
  const uint8_t Byte = Choices.front();
  Choices = Choices.drop_front();
  return Byte % (Most + 1);
}

/// \p Usual in one of the ways to write it, or now and then another number.
std::string Generator::number(int64_t Usual) {
  const std::string Plain = std::to_string(Usual);
  switch (upTo(23)) {
  case 18:
    return "((" + Plain + " + 3) - 3)";
  case 19:
    return "min(" + Plain + ", " + Plain + " * 2)";
  case 20:
    return "(if 1 < 2 then " + Plain + " else 1 / 0)";
  case 21:
  case 22: {
    const std::string Name = "n" + std::to_string(NumNames++);
    Names += (oneIn(2) ? "param " : "let ") + Name + " = " + Plain + "\n";
    return Name;
  }
  case 23:
    return IsCalm ? Plain : pick(Extremes).str();
  default:
    return Plain;
  }
}

std::string Generator::valueOf(StringRef Type) {
  llvm::SmallVector<StringRef> Words;
  for (const WordRow &W : WordRows)
    if (W.Type == Type)
      Words.push_back(W.Word);
  if (!Words.empty())
    return pick(Words).str();
  if (Type == "Bool")
    return oneIn(2) ? "true" : "false";
  if (Type == "Text")
    return "\"none\"";
  static constexpr std::pair<StringRef, StringRef> Units[] = {
      {"ByteSize", "GiB"},
      {"FlopRate", "TFLOP/s"},
      {"DataRate", "GB/s"},
      {"Duration", "us"}};
  const std::string N = number(power(12));
  for (auto [Of, Unit] : Units)
    if (Type == Of)
      return N + " * 1 " + Unit.str();
  return N;
}

void Generator::key(StringRef Key, const llvm::Twine &Value) {
  if (Written.insert(Key).second)
    OS << "  " << Key << " = " << Value << '\n';
}

/// Some of the keys of a section that were not written so far.
void Generator::keys(StringRef Section) {
  for (const ir::FieldRow &Row : ir::FieldRows)
    if (Row.Section == Section && Row.Name != "kind" && oneIn(40))
      key(Row.Name, valueOf(Row.Type));
}

/// The same of the keys that a layer of the library declares.
void Generator::keysOf(StringRef Layer) {
  for (const ir::LayerKey &K : ir::LayerUse::of(*findShippedLayer(Layer)).Keys)
    if (!K.IsOfBlock && oneIn(12))
      key(K.Name,
          K.words().empty() ? valueOf(K.type()) : pick(K.words()).str());
}

void Generator::open(const llvm::Twine &Head) {
  Written.clear();
  OS << Head << " {\n";
}

void Generator::chooseLayout() {
  IsCalm = !oneIn(2);
  Tp = power(3);
  Cp = oneIn(4) ? power(2) : 1;
  Pp = power(4);
  Vpp = Pp > 1 && oneIn(3) ? power(2) : 1;
  Dp = power(5);
  HasExperts = oneIn(3);
  HasOwnLayer = oneIn(4);
  PassesValue = HasOwnLayer && oneIn(3);
  Ep = HasExperts ? std::min(power(3), Dp) : 1;
  MicroBatch = power(2);
  Ga = Pp * power(2);
  Heads = Tp * Cp * power(2);
  Layers = Pp * Vpp * (1 + upTo(3));
}

/// A number that may differ from layer to layer.
std::string Generator::perLayer(int64_t Usual) {
  const std::string One = number(Usual), Other = number(Usual * 2);
  switch (upTo(15)) {
  case 14:
    return "if layer % " + number(2) + " == 0 then " + One + " else " + Other;
  case 15: {
    std::string List = "[" + One;
    for (int64_t I = 1; I < Layers; ++I)
      List += ", " + (oneIn(2) ? One : Other);
    return List + "]";
  }
  default:
    return One;
  }
}

/// Dimensions of a layer, most of which fit.
std::string Generator::channels(int64_t Units) {
  static constexpr StringRef Kinds[] = {"heads", "heads", "heads", "ffn",
                                        "own",   "whole", "none"};
  const std::string Plain =
      (pick(Kinds) + "(" + number(Units) + ", width)").str();
  switch (upTo(7)) {
  case 6:
    return Plain + " or gather";
  case 7:
    return Plain + " or whole";
  default:
    return Plain;
  }
}

/// A layer of the job, with a mixer of its own.
void Generator::ownLayer() {
  if (oneIn(2))
    OS << "dim own" << (oneIn(2) ? " over tp" : "") << '\n';
  OS << "layer mine(x) -> out" << (PassesValue ? ", kept" : "")
     << " {\n  key heads in 1.., width = 64, flag = " << valueOf("Bool")
     << "\n  let q = heads(heads, width)\n  let k = "
     << channels(oneIn(3) ? 1 : Heads) << '\n';
  if (oneIn(4))
    OS << "  require heads % parallel.tp == 0 or flag, \"{heads} heads\"\n";
  OS << "  n = " << (oneIn(4) ? "op detach(x)" : "norm(x) as norm") << '\n'
     << "  y = linear(n, to = pack(q, k, k), bias = flag) as in_proj\n";
  const bool IsModule = oneIn(2), IsShared = oneIn(4);
  if (IsModule)
    OS << "  part \"own\"\n  module own" << (oneIn(2) ? " until z" : "")
       << " {\n";
  mixer();
  OS << (IsModule ? "  }\n" : "") << (IsShared ? "  shared own {\n" : "")
     << "  z = linear(mixed, to = hidden) as out_proj\n"
     << (IsShared ? "  }\n" : "");
  if (oneIn(4))
    OS << "  if flag {\n    z = op activation(z) as out_proj\n  }\n";
  if (PassesValue)
    OS << (oneIn(2) ? "  kept = mixed\n"
                    : "  kept i32 [seq, batch, whole(4)] = op opaque(n, rate = "
                      "1) as kept\n");
  OS << "  out = " << (oneIn(12) ? "z" : "residual(x, z)") << "\n}\n";
  if (PassesValue)
    laterLayer();
}

/// A layer that reads what the other one makes, and may make it anew.
void Generator::laterLayer() {
  OS << "layer later(x, kept) -> out" << (oneIn(4) ? ", kept" : "")
     << " {\n  key heads in 1.., width = 64\n  n = norm(x) as norm\n"
        "  q = linear(n, to = heads(heads, width)) as q\n"
        "  mixed [seq, batch, heads(heads, width)] = op opaque(q, kept, rate = "
        "2) as mixer\n  y = linear(mixed, to = hidden) as out_proj\n"
        "  out = residual(x, y)\n}\n";
}

/// The attention of a block, if it is not that of the model.
void Generator::later() {
  if (PassesValue && oneIn(2))
    OS << "  attention later { heads = " << number(Heads) << " }\n";
}

/// What is between the projections of the layer.
void Generator::mixer() {
  OS << "  query [seq, batch, q], key [kv_seq, batch, k], value [kv_seq, "
        "batch, "
        "k] = op split(y) as in_proj\n";
  switch (upTo(5)) {
  case 0:
    OS << "  mixed [seq, batch, q] = op opaque(query, rate = " << number(16)
       << ") as mixer\n";
    return;
  case 1:
    OS << "  all [full_seq, batch, cp_heads(q)] = op exchange(query) as mixer\n"
          "  param taps [cp_heads(q), whole("
       << number(4)
       << ")]\n  all = op conv(all, taps) as mixer\n"
          "  mixed [seq, batch, q] = op exchange(all) as mixer\n";
    return;
  case 2:
    OS << "  param scale [head_dim(width)]\n"
          "  mixed = op norm(query, scale) as mixer\n";
    return;
  case 3:
    OS << "  mixed [seq, batch, q], state fp32 [seq, batch, q] = op "
          "scan(query, "
          "rate = "
       << number(8) << ") as mixer\n";
    return;
  default:
    OS << "  mixed = core_attention(query, key, value, heads = heads, to = q, "
          "repeats = units(k) != heads, window = "
       << number(oneIn(2) ? 0 : 64) << ")\n";
  }
}

void Generator::branch() {
  open("branch mtp");
  key("depths", number(power(2)));
  key("shared", valueOf("Bool"));
  key("layers", HasExperts ? "experts" : "dense");
  close();
}

void Generator::attention() {
  if (HasOwnLayer) {
    open("attention mine");
    key("heads", perLayer(Heads));
    if (oneIn(4))
      key("flag", valueOf("Bool"));
    close();
    return;
  }
  static constexpr StringRef Kinds[] = {"mha", "mha", "mha",
                                        "gqa", "mqa", "mla"};
  const StringRef Kind = pick(Kinds);
  open("attention " + Kind);
  key("heads", perLayer(Heads));
  if (Kind == "gqa")
    key("kv_heads", number(Tp * Cp));
  if (Kind == "mla")
    for (StringRef Key : {"q_lora", "kv_lora", "rope_dim", "nope_dim", "v_dim"})
      key(Key, number(64 * power(2)));
  keysOf(Kind);
  close();
}

void Generator::network(StringRef Head) {
  open(Head);
  key("intermediate", perLayer(Tp * 64 * power(3)));
  keysOf("dense");
  close();
}

void Generator::experts() {
  const int64_t Experts = Ep * power(4);
  open("block experts");
  later();
  key("experts", number(Experts));
  key("topk", number(std::min(Experts, power(3))));
  keys("Block");
  for (const ir::LayerKey &K :
       ir::LayerUse::of(*findShippedLayer("experts")).Keys)
    if (K.IsOfBlock && oneIn(20))
      key(K.Name,
          K.words().empty() ? valueOf(K.type()) : pick(K.words()).str());
  network("ffn");
  close();
}

void Generator::layers() {
  if (!HasExperts && !oneIn(4)) {
    OS << "  layers = " << number(Layers) << '\n';
    return;
  }
  open("block dense");
  if (oneIn(4))
    later();
  keys("Block");
  close();
  if (HasExperts)
    experts();
  if (oneIn(4))
    branch();
  const StringRef Other = HasExperts ? "experts" : "dense";
  OS << "  layers = ";
  if (Layers % 2 == 0 && oneIn(2))
    OS << number(Layers / 2) << " * (dense + " << number(1) << " * " << Other
       << ")\n";
  else if (Layers > 1)
    OS << number(1) << " * dense + " << number(Layers - 1) << " * " << Other
       << '\n';
  else
    OS << number(Layers) << " * " << Other << '\n';
}

void Generator::model() {
  open("model m");
  key("vocab", number(1000 * power(6)));
  key("hidden", number(Heads * 64));
  keys("Model");
  attention();
  if (oneIn(2) || HasExperts)
    network("ffn");
  layers();
  close();
}

void Generator::train() {
  open("train");
  key("sequence", number(2 * Tp * Cp * 64 * power(4)));
  key("micro_batch", number(MicroBatch));
  key("global_batch", number(MicroBatch * Dp * Ga));
  if (oneIn(6))
    key("recipe", pick(Recipes));
  keys("Train");
  close();
}

void Generator::parallel() {
  open("parallel");
  key("world", number(Tp * Cp * Pp * Dp));
  key("tp", number(Tp));
  if (Cp > 1)
    key("cp", number(Cp));
  key("pp", number(Pp));
  if (Vpp > 1)
    key("vpp", number(Vpp));
  if (HasExperts) {
    key("ep", number(Ep));
    key("etp", number(1));
    key("sequence_parallel", "true");
  }
  if (oneIn(8)) {
    // One after the other: compilers differ in the order of operands.
    std::string Chunks = "[" + number(Layers - Pp * Vpp + 1);
    Chunks += "] + " + number(Pp * Vpp - 1);
    Chunks += " * [" + number(1) + "]";
    key("layout", Chunks);
  }
  keys("Parallel");
  close();
}

void Generator::device() {
  open("device");
  for (StringRef Key : {"peak_flops", "peak_bf16", "peak_fp32"})
    key(Key, valueOf("FlopRate"));
  key("memory_bandwidth", valueOf("DataRate"));
  keys("Device");
  close();
}

void Generator::link(StringRef Axis) {
  open(Axis);
  key("latency", valueOf("Duration"));
  key("bandwidth", valueOf("DataRate"));
  close();
}

void Generator::cost() {
  switch (upTo(2)) {
  case 0:
    open("cost roofline");
    device();
    break;
  case 1:
    open("cost profile");
    open("times");
#define SECTION(ELEMENTS, OP, NAME) key(NAME, valueOf("Duration"));
#include "analysis/ProfileSections.def"
    close();
    break;
  default:
    open("cost calibrated");
    open("times");
#define MEASURED_TIME(ENUMERATOR, NAME, DOC) key(NAME, valueOf("Duration"));
#include "ir/model/MeasuredTimes.def"
    close();
    open("links");
    for (StringRef Axis : {"tp", "dp", "pp", "ep"})
      if (oneIn(2))
        link(Axis);
    close();
  }
  close();
}

void Generator::cluster() {
  open("cluster c");
  key("nodes", number(Cp * Pp * Dp));
  key("devices_per_node", number(Tp));
  key("nics", number(1));
  key("nic_bandwidth", valueOf("DataRate"));
  keys("Cluster");
  device();
  open("tiers");
  open("inside");
  key("devices", number(Tp));
  for (StringRef Key : {"bandwidth", "latency"})
    key(Key, valueOf(Key == "latency" ? "Duration" : "DataRate"));
  keys("Tier");
  close();
  open("outside");
  key("latency", valueOf("Duration"));
  keys("Tier");
  close();
  close();
  close();
}

void Generator::sweep() {
  open("sweep");
  OS << "  parallel.tp in {1, " << number(2) << ", " << number(4) << "}\n"
     << "  train.micro_batch in {" << number(1) << " .. " << number(4) << "}\n"
     << "  where tp * micro_batch <= " << number(8) << '\n';
  close();
}

void Generator::emit(const Backend &B) {
  open("emit " + B.Name);
  for (const EmitOption &O : B.options()) {
    if (!oneIn(20))
      continue;
    const llvm::ArrayRef<StringRef> Words = O.Words();
    key(O.Name, Words.empty() ? number(power(4)) : pick(Words).str());
  }
  close();
}

std::string Generator::run() {
  chooseLayout();
  if (HasOwnLayer)
    ownLayer();
  model();
  train();
  parallel();
  if (oneIn(4))
    cost();
  if (oneIn(4))
    cluster();
  if (oneIn(8))
    sweep();
  for (unsigned I = upTo(2); I != 0; --I)
    emit(pick(allBackends()));
  return Text + Names;
}

std::string foretrace::generateJob(llvm::ArrayRef<uint8_t> Choices) {
  return Generator(Choices).run();
}

std::string foretrace::generateJob(uint64_t Number) {
  std::mt19937_64 Random(Number);
  std::vector<uint8_t> Bytes(2000);
  for (uint8_t &B : Bytes)
    B = static_cast<uint8_t>(Random());
  return generateJob(Bytes);
}
