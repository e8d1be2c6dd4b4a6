// SPDX-License-Identifier: Apache-2.0
#include "ir/model/Schedule.h"
#include "ir/model/SpecFields.h"
#include "ir/model/Spellings.h"
#include "passes/Recomputation.h"
#include "tools/start/LayoutSearch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <numeric>

using namespace llvm;

namespace foretrace::start {

// Larger values are rare in published layouts.
static constexpr int64_t MaxTp = 8, MaxCp = 16, MaxPp = 64, MaxVpp = 32,
                         MaxMicroBatch = 16;
/// The largest value of any number, even of experts or ranks.
static constexpr int64_t MaxValue = 4096;
/// With fewer tokens per rank, the exchange of context parallelism costs more
/// than it saves.
static constexpr int64_t LeastTokens = 2048;
/// Up to this sequence length, cp > 2 is tried only once layouts are found.
static constexpr int64_t UsualSequence = 8192;

bool LayoutAxes::Option::sets(StringRef Key) const {
  return any_of(Overrides,
                [&](StringRef O) { return O.split('=').first == Key; });
}

static bool isPowerOf2(int64_t Value) { return isPowerOf2_64(Value); }

namespace {

class AxisMaker {
public:
  /// With \p IsAround around the layout that \p S has.
  AxisMaker(const ir::Spec &S, bool IsAround);

  LayoutAxes make();
  LayoutAxes makeAround(bool OfMemory);

private:
  void addNumber(StringRef Key, int64_t Most,
                 function_ref<bool(int64_t)> IsValue,
                 function_ref<bool(int64_t)> IsFirst = isPowerOf2);
  void addChoice(std::vector<LayoutAxes::Option> Options);
  void addUsual();
  void addRecomputation();
  void addSavings();
  void addExperts();
  void addEnds();
  std::optional<LayoutAxes::Option> unevenLayout(int64_t Pp, int64_t Vpp) const;
  std::optional<std::string> valueOf(StringRef Key) const;
  bool isFixed(StringRef Key) const {
    return !IsAround && valueOf(Key).has_value();
  }

  const ir::Spec &S;
  const bool IsAround;
  const int64_t World, Layers;
  int64_t Experts = 1;
  LayoutAxes Out;
};

} // namespace

AxisMaker::AxisMaker(const ir::Spec &S, bool IsAround)
    : S(S), IsAround(IsAround), World(*S.Parallel.World),
      Layers(S.Model.splitLayers()) {
  for (const ir::BlockSpec &B : S.Model.Blocks)
    for (const ir::LayerUse *Use : {&B.Mixer, &B.Network})
      if (const auto *Of = Use->find<int64_t>("experts"); Of && Of->isPresent())
        Experts = std::max(Experts, **Of);
}

/// Returns the value of \p Key, `parallel.tp`, if the job sets it, or if it is
/// about the job's own layout, also one that follows.
std::optional<std::string> AxisMaker::valueOf(StringRef Key) const {
  if (Key == "parallel.layout" && !S.Parallel.Layout.empty())
    return "";
  std::optional<std::string> Value;
  ir::visitJob(S, [&](const ir::FieldRow &Row, const auto &Member) {
    if (ir::isAt(Row, Key) &&
        (IsAround ? Member.isPresent() : Member.isStated()))
      Value = ir::spell(*Member);
  });
  return Value;
}

/// Adds a number with the values up to \p Most that \p IsValue accepts, of
/// which those that \p IsFirst does, too, are tried first.
void AxisMaker::addNumber(StringRef Key, int64_t Most,
                          function_ref<bool(int64_t)> IsValue,
                          function_ref<bool(int64_t)> IsFirst) {
  if (isFixed(Key))
    return;
  int64_t Now = 0;
  if (IsAround &&
      (!valueOf(Key) || StringRef(*valueOf(Key)).getAsInteger(10, Now)))
    return;
  LayoutAxes::Number N{Key.str(), {}, {}};
  auto Add = [&](int64_t Value) {
    if (IsAround ? Value == Now : Value == 1 || IsFirst(Value))
      N.First.push_back(N.Values.size());
    N.Values.push_back(Value);
  };
  const int64_t Last = std::min(Most, MaxValue);
  for (int64_t Value = 1; Value <= Last; ++Value)
    if (Value == Now || IsValue(Value))
      Add(Value);
  if (Now > Last)
    Add(Now);
  Out.Numbers.push_back(std::move(N));
}

/// Adds a choice between \p Options, without those whose first key the job sets
/// to another value, and without keys that it sets; around a layout between it
/// and what differs from it.
void AxisMaker::addChoice(std::vector<LayoutAxes::Option> Options) {
  std::vector<LayoutAxes::Option> Free;
  if (IsAround)
    Free.emplace_back();
  for (LayoutAxes::Option &O : Options) {
    if (!O.Overrides.empty() && !IsAround) {
      const auto [Key, Value] = StringRef(O.Overrides.front()).split('=');
      if (const auto Stated = valueOf(Key); Stated && *Stated != Value)
        continue;
    }
    erase_if(O.Overrides, [&](StringRef Set) {
      const auto [Key, Value] = Set.split('=');
      const auto Has = valueOf(Key);
      return Has && (!IsAround || *Has == Value);
    });
    const auto Known = find_if(Free, [&](const LayoutAxes::Option &F) {
      return F.Overrides == O.Overrides;
    });
    if (Known == Free.end())
      Free.push_back(std::move(O));
    else
      Known->IsForRefinement &= O.IsForRefinement;
  }
  if (Free.size() > 1 || (Free.size() == 1 && !Free.front().Overrides.empty()))
    Out.Choices.push_back(std::move(Free));
}

/// The modules are those that recipes of Megatron-Bridge recompute.
void AxisMaker::addRecomputation() {
  auto Selective = [](StringRef Modules, StringRef Graphs = "true") {
    return LayoutAxes::Option{
        {"train.recompute=selective",
         ("train.recompute_modules=\"" + Modules + "\"").str(),
         ("train.cuda_graphs=" + Graphs).str()}};
  };
  const bool IsLatent = any_of(S.Model.Blocks, [](const ir::BlockSpec &B) {
    return B.Mixer.Kind == "mla";
  });
  std::vector<LayoutAxes::Option> Options = {
      {{"train.recompute=none", "train.cuda_graphs=true"}},
      {{"train.recompute=full"}}};
  if (IsLatent) {
    Options.push_back(Selective("mla_up_proj"));
    Options.back().IsForRefinement = true;
    Options.push_back(Selective("mla_up_proj mlp"));
    Options.back().IsForRefinement = true;
  }
  if (Experts > 1) {
    Options.push_back(Selective("layernorm moe_act"));
    Options.back().IsForRefinement = true;
    Options.push_back(Selective("moe layernorm core_attn moe_act", "false"));
    Options.back().IsForRefinement = true;
  } else {
    Options.push_back(Selective("mlp"));
    Options.back().IsForRefinement = true;
  }
  if (IsAround)
    for (const StringRef Module : recomputeModules(S))
      Options.push_back(
          {{"train.recompute=selective",
            ("train.recompute_modules=\"" + Module + "\"").str()}});
  const int64_t MostLayers =
      Experts > 1 && !IsAround ? 0 : std::min<int64_t>(Layers, 32);
  for (int64_t Number = 1; Number < MostLayers; Number *= 2)
    Options.push_back({{"train.recompute=full",
                        formatv("train.recompute_num_layers={0}", Number)},
                       /*IsForRefinement=*/true});
  addChoice(std::move(Options));
}

void AxisMaker::addExperts() {
  addChoice({{{"parallel.etp=1"}},
             {{"parallel.etp=2"}, true},
             {{"parallel.etp=4"}, true},
             {{"parallel.etp=8"}, true}});
  addChoice({{{}, true},
             {{"parallel.vpp=1"}},
             {{"parallel.overlap_moe_expert_parallel_comm=true"}}});
  LayoutAxes::Option Flex; // alltoall is the default
  for (const ir::BlockSpec &B : S.Model.Blocks)
    for (const ir::LayerUse *Use : {&B.Mixer, &B.Network})
      if (const auto *Of = Use->find<std::string>("dispatcher");
          Of && !Of->isStated())
        Flex.Overrides.push_back("model." + B.Name + ".dispatcher=flex");
  Flex.IsForRefinement = true;
  addChoice({Flex, {}});
}

/// Layers of each chunk where they do not divide: the last one has fewer, then
/// the first one, as these also have the head and the embedding.
std::optional<LayoutAxes::Option> AxisMaker::unevenLayout(int64_t Pp,
                                                          int64_t Vpp) const {
  const int64_t Chunks = Pp * Vpp, Each = divideCeil(Layers, Chunks);
  const int64_t Spare = Each * Chunks - Layers, OfLast = std::min(Each, Spare);
  if (Spare == 0 || Spare - OfLast > Each || Chunks < 3)
    return std::nullopt;
  return LayoutAxes::Option{
      {formatv("parallel.pp={0}", Pp), formatv("parallel.vpp={0}", Vpp),
       formatv("parallel.layout=[{0}] + {1} * [{2}] + [{3}]",
               Each - (Spare - OfLast), Chunks - 2, Each, Each - OfLast)}};
}

/// Adds ways to split layers whose number is not a multiple of the chunks.
void AxisMaker::addEnds() {
  constexpr int64_t UsualChunks = 4;
  std::vector<LayoutAxes::Option> Options = {{{}}};
  const bool IsEven = Layers % UsualChunks == 0,
             IsEvenWithEnds = (Layers + 2) % UsualChunks == 0;
  if (IsEvenWithEnds)
    Options.push_back(
        {{"parallel.embedding_as_layer=true", "parallel.loss_as_layer=true"}});
  if (!IsEven && !IsEvenWithEnds && !isFixed("parallel.pp") &&
      !isFixed("parallel.vpp") && !isFixed("parallel.layout"))
    for (int64_t Pp = 2; Pp <= std::min(MaxPp, Layers); Pp *= 2)
      for (int64_t Vpp = 1; World % Pp == 0 && Pp * Vpp <= Layers + 2; Vpp *= 2)
        if ((Layers + 2) % (Pp * Vpp) != 0)
          if (std::optional<LayoutAxes::Option> O = unevenLayout(Pp, Vpp)) {
            O->IsForRefinement = Vpp != 1 && Vpp != UsualChunks;
            Options.push_back(std::move(*O));
          }
  addChoice(std::move(Options));
}

void AxisMaker::addUsual() {
  int64_t Domain = MaxTp;
  if (S.Cluster)
    Domain = std::min(Domain, S.Cluster->domainSize());
  const int64_t Sequence = *S.Train.Sequence;
  auto DividesWorld = [&](int64_t V) { return World % V == 0; };
  addNumber("parallel.tp", Domain, DividesWorld);
  addNumber(
      "parallel.cp", MaxCp,
      [&](int64_t V) {
        return isPowerOf2(V) && DividesWorld(V) &&
               (V == 1 ||
                (Sequence % (2 * V) == 0 && Sequence / V >= LeastTokens));
      },
      [&](int64_t V) { return V <= 2 || Sequence > UsualSequence; });
  addNumber("parallel.pp", std::min(MaxPp, Layers + 2), DividesWorld);
  addNumber(
      "parallel.vpp", MaxVpp,
      [&](int64_t V) {
        return Layers % V == 0 || (Layers + 1) % V == 0 ||
               (Layers + 2) % V == 0;
      },
      [&](int64_t V) {
        return Experts == 1 ? Layers % V == 0 : V <= 8 && isPowerOf2(V);
      });
  const int64_t Batch =
      S.Train.GlobalBatch.isPresent() ? *S.Train.GlobalBatch : 0;
  addNumber(
      "train.micro_batch", MaxMicroBatch,
      [&](int64_t V) { return isPowerOf2(V) && Batch % V == 0; },
      [](int64_t V) { return V <= 2; });
  addChoice(
      {{{"parallel.sequence_parallel=true", "parallel.tp_comm_overlap=true"}}});
  addChoice({{{"parallel.cp_comm=p2p"}},
             {{"parallel.cp_comm=a2a"}, true},
             {{"parallel.cp_comm=all_gather"}, true}});
  addChoice({{{"parallel.zero=1", "parallel.overlap_grad_reduce=true",
               "parallel.overlap_param_gather=true"}},
             {{"parallel.zero=3", "parallel.pp=1", "parallel.vpp=1"}, true}});
  addRecomputation();
  if (Experts > 1) {
    addNumber(
        "parallel.ep", Experts,
        [&](int64_t V) { return std::gcd(Experts, World) % V == 0; },
        [](int64_t V) { return isPowerOf2(V) && Log2_64(V) % 2 == 0; });
    addExperts();
  }
  addEnds();
}

LayoutAxes AxisMaker::make() {
  addUsual();
  return std::move(Out);
}

/// Adds options that cost time and are worth it only if memory is short, the
/// cheapest first.
void AxisMaker::addSavings() {
  addNumber("parallel.dp_shard", *S.Parallel.Dp,
            [&](int64_t V) { return *S.Parallel.Dp % V == 0; });
  addChoice({{{"parallel.partition=balanced", "parallel.balance=memory"}}});
  addChoice({{{"train.offload_activations=true"}}});
  addChoice(
      {{{"train.offload_optimizer=true", "train.optimizer=precision_aware"}},
       {{"train.optimizer=precision_aware"}, false, true},
       {{"train.optimizer=precision_aware", "train.moment_precision=bf16"},
        false,
        true},
       {{"train.optimizer=adam_8bit"}, false, true}});
}

LayoutAxes AxisMaker::makeAround(bool OfMemory) {
  addUsual();
  addChoice(
      {{{"parallel.zero=1"}}, {{"parallel.zero=2"}}, {{"parallel.zero=3"}}});
  addChoice({{{"train.attention_backend=fused"}}});
  addChoice({{{"train.fused_loss=te"}}});
  addChoice({{{"train.cuda_graphs=true"}}});
  static constexpr ir::ScheduleKind Kinds[] = {
#define SCHEDULE(ENUMERATOR, ...) ir::ScheduleKind::ENUMERATOR,
#include "ir/model/Schedules.def"
  };
  std::vector<LayoutAxes::Option> Schedules;
  // A job of a release runs what that has.
  auto HasSchedule = [&](ir::ScheduleKind K) {
    return K == ir::ScheduleKind::OneFOneB ||
           K == ir::ScheduleKind::Interleaved ||
           !S.Parallel.Megatron.isStated();
  };
  for (const ir::ScheduleKind K : Kinds)
    if (K != ir::ScheduleKind::None && K != ir::ScheduleKind::File &&
        HasSchedule(K)) {
      const ir::ScheduleInfo &Of = ir::getInfo(K);
      Schedules.push_back({{"parallel.schedule=" + ir::spell(K)}});
      if (Of.LeastVpp == Of.MostVpp)
        Schedules.back().Overrides.push_back("parallel.vpp=" +
                                             std::to_string(Of.LeastVpp));
    }
  addChoice(std::move(Schedules));
  if (OfMemory)
    addSavings();
  return std::move(Out);
}

LayoutAxes axesOf(const ir::Spec &S) { return AxisMaker(S, false).make(); }

LayoutAxes axesAround(const ir::Spec &S, bool OfMemory) {
  return AxisMaker(S, true).makeAround(OfMemory);
}

} // namespace foretrace::start
