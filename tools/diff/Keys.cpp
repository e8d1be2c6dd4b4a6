// SPDX-License-Identifier: Apache-2.0
#include "tools/diff/Keys.h"
#include "ir/Spellings.h"
#include "ir/TextWriter.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::diff;
using llvm::StringRef;

StringRef diff::getName(How H) {
  static constexpr llvm::StringLiteral Names[] = {"absent", "default",
                                                  "derived", "stated"};
  return Names[static_cast<size_t>(H)];
}

namespace {

/// Where a field stands in a spec.
struct FieldPlace {
  std::string Section;
  StringRef Word;
  Key Id;

  std::string path() const { return (Section + "." + Word).str(); }
};

} // namespace

#define VISIT(PATH, OBJECT, SECTION, MEMBER, KEY, BLOCK)                       \
  Visit(FieldPlace{PATH, KEY, {KeyId::SECTION##MEMBER, BLOCK}},                \
        (OBJECT).MEMBER);

/// Calls \p Visit with every field of a block.
template <typename BlockT, typename VisitT>
static void visitBlock(BlockT &B, unsigned Index, VisitT Visit) {
  const std::string Path = "model." + B.Name;
#define ATTENTION_FIELD(TYPE, MEMBER, KEY, ...)                                \
  VISIT(Path + ".attention", B.Attention, Attention, MEMBER, KEY, Index)
#define FFN_FIELD(TYPE, MEMBER, KEY, ...)                                      \
  VISIT(Path + ".ffn", B.Ffn, Ffn, MEMBER, KEY, Index)
#define BLOCK_FIELD(TYPE, MEMBER, KEY, ...)                                    \
  VISIT(Path, B, Block, MEMBER, KEY, Index)
#include "ir/Spec.def"
  if (!B.Moe)
    return;
#define MOE_FIELD(TYPE, MEMBER, KEY, ...)                                      \
  VISIT(Path, *B.Moe, Moe, MEMBER, KEY, Index)
#include "ir/Spec.def"
}

template <typename DeviceT, typename VisitT>
static void visitDevice(DeviceT &D, StringRef Of, VisitT Visit) {
#define DEVICE_FIELD(TYPE, MEMBER, KEY, ...)                                   \
  VISIT((Of + ".device").str(), D, Device, MEMBER, KEY, Key::NoBlock)
#include "ir/Spec.def"
}

/// What a job costs, and the machine that it runs on.
template <typename SpecT, typename VisitT>
static void visitMachine(SpecT &S, VisitT Visit) {
#define COST_FIELD(TYPE, MEMBER, KEY, ...)                                     \
  VISIT("cost", S.Cost, Cost, MEMBER, KEY, Key::NoBlock)
#include "ir/Spec.def"
  visitDevice(S.Cost.Device, "cost", Visit);
  for (auto &L : S.Cost.Links) {
#define LINK_FIELD(TYPE, MEMBER, KEY, ...)                                     \
  VISIT(("cost.links." + ir::getName(L.Axis)).str(), L, Link, MEMBER, KEY,     \
        Key::NoBlock)
#include "ir/Spec.def"
  }
  if (!S.Cluster)
    return;
#define CLUSTER_FIELD(TYPE, MEMBER, KEY, ...)                                  \
  VISIT("cluster", *S.Cluster, Cluster, MEMBER, KEY, Key::NoBlock)
#include "ir/Spec.def"
  visitDevice(S.Cluster->Device, "cluster", Visit);
  for (auto &T : S.Cluster->Tiers) {
#define TIER_FIELD(TYPE, MEMBER, KEY, ...)                                     \
  VISIT("cluster.tiers." + T.Name, T, Tier, MEMBER, KEY, Key::NoBlock)
#include "ir/Spec.def"
  }
}

/// Calls \p Visit with every field, and where it stands.
template <typename SpecT, typename VisitT>
static void visitFields(SpecT &S, VisitT Visit) {
#define MODEL_FIELD(TYPE, MEMBER, KEY, ...)                                    \
  VISIT("model", S.Model, Model, MEMBER, KEY, Key::NoBlock)
#define TRAIN_FIELD(TYPE, MEMBER, KEY, ...)                                    \
  VISIT("train", S.Train, Train, MEMBER, KEY, Key::NoBlock)
#define PARALLEL_FIELD(TYPE, MEMBER, KEY, ...)                                 \
  VISIT("parallel", S.Parallel, Parallel, MEMBER, KEY, Key::NoBlock)
#include "ir/Spec.def"
  for (unsigned I = 0; I < S.Model.Blocks.size(); ++I)
    visitBlock(S.Model.Blocks[I], I, Visit);
  visitMachine(S, Visit);
}
#undef VISIT

static std::string textOf(int64_t V) { return std::to_string(V); }
static std::string textOf(bool V) { return V ? "true" : "false"; }
static std::string textOf(const std::string &V) { return V; }
template <typename EnumT, typename = std::enable_if_t<std::is_enum_v<EnumT>>>
static std::string textOf(EnumT V) {
  return getSpelling(V).str();
}

static std::string layersOf(const ModelSpec &M) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  llvm::interleave(
      M.Layers, OS,
      [&](const LayerRun &R) {
        printPeriods(R.Periods, R.Items, OS, [&](const LayerRun::Item &I) {
          printName(M.Blocks[I.Block].Name, OS);
        });
      },
      " + ");
  return Text;
}

static std::string layoutOf(const ParallelSpec &P) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << '[';
  llvm::interleaveComma(P.Layout, OS, [&](auto &L) { OS << L.Value; });
  OS << ']';
  return Text;
}

/// As in the file, a line a stage; `/` between them.
static std::string stepsOf(const ParallelSpec &P) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  llvm::interleave(
      P.Steps, OS,
      [&](const std::vector<ScheduleSteps> &Stage) {
        llvm::interleave(
            Stage, OS, [&](const ScheduleSteps &At) { OS << At.Entry; }, ",");
      },
      " / ");
  return Text;
}

static constexpr char LayersPath[] = "model.layers";
static constexpr char LayoutPath[] = "parallel.layout";
static constexpr char SchedulePath[] = "parallel.schedule";
static constexpr char StepsPath[] = "parallel.steps";

std::vector<KeyValue> diff::keysOf(const Spec &S) {
  std::vector<KeyValue> Keys;
  visitFields(S, [&](const FieldPlace &At, const auto &F) {
    if (F.isPresent())
      Keys.push_back({At.path(), textOf(F.Value), static_cast<How>(F.From),
                      F.isStated() ? F.Range : SourceRange(), At.Id});
  });
  auto Add = [&](StringRef Path, std::string Text, SourceRange Range) {
    Keys.push_back({Path.str(), std::move(Text), How::Stated, Range});
  };
  if (!S.Model.Layers.empty())
    Add(LayersPath, layersOf(S.Model), S.Model.LayersRange);
  if (!S.Parallel.Layout.empty())
    Add(LayoutPath, layoutOf(S.Parallel), S.Parallel.LayoutRange);
  if (!S.Parallel.Steps.empty())
    Add(StepsPath, stepsOf(S.Parallel), S.Parallel.Schedule.Range);
  for (const ProfileTime &T : S.Cost.Profile) {
    std::string Micros;
    llvm::raw_string_ostream OS(Micros);
    printReal(T.Microseconds, OS);
    Add("cost.times." + T.Section, std::move(Micros), T.Range);
  }
  return Keys;
}

bool KeyChange::isCause() const {
  auto Follows = [](const std::optional<KeyValue> &K) {
    return !K || K->Is == How::Derived;
  };
  return !Follows(Before) || !Follows(After);
}

static const KeyValue *find(llvm::ArrayRef<KeyValue> In, StringRef Path) {
  const auto It =
      llvm::find_if(In, [&](const KeyValue &K) { return K.Path == Path; });
  return It == In.end() ? nullptr : It;
}

std::vector<KeyChange> diff::compareKeys(const Spec &Before, const Spec &After,
                                         bool AreDerived) {
  const std::vector<KeyValue> Old = keysOf(Before), New = keysOf(After);
  auto Counts = [&](const KeyValue &Alone) {
    return AreDerived || Alone.Is == How::Stated;
  };
  std::vector<KeyChange> Changes;
  for (const KeyValue &K : Old) {
    const KeyValue *Other = find(New, K.Path);
    if (Other && Other->Text != K.Text)
      Changes.push_back({K, *Other});
    else if (!Other && Counts(K))
      Changes.push_back({K, std::nullopt});
  }
  for (const KeyValue &K : New)
    if (Counts(K) && !find(Old, K.Path))
      Changes.push_back({std::nullopt, K});
  llvm::stable_sort(Changes, [](const KeyChange &A, const KeyChange &B) {
    return A.isCause() && !B.isCause();
  });
  return Changes;
}

static bool haveSameBlocks(const ModelSpec &A, const ModelSpec &B) {
  return llvm::equal(
      A.Blocks, B.Blocks,
      [](const BlockSpec &L, const BlockSpec &R) { return L.Name == R.Name; });
}

bool diff::replaceKey(Spec &In, StringRef Path, const Spec &From) {
  if (Path == LayersPath) {
    In.Model.Layers = From.Model.Layers; // by the numbers of blocks
    return haveSameBlocks(In.Model, From.Model);
  }
  if (Path == LayoutPath) {
    In.Parallel.Layout = From.Parallel.Layout;
    return true;
  }
  if (Path == StepsPath)
    Path = SchedulePath;
  if (Path == SchedulePath)
    In.Parallel.Steps = From.Parallel.Steps;
  bool IsDone = false;
  visitFields(In, [&](const FieldPlace &At, auto &Field) {
    if (At.path() != Path)
      return;
    visitFields(From, [&](const FieldPlace &Of, const auto &Other) {
      if constexpr (std::is_same_v<std::decay_t<decltype(Field)>,
                                   std::decay_t<decltype(Other)>>)
        if (Of.path() == Path) {
          Field = Other;
          IsDone = true;
        }
    });
  });
  return IsDone;
}
