// SPDX-License-Identifier: Apache-2.0
#include "tools/diff/Keys.h"
#include "ir/model/Spellings.h"
#include "ir/text/TextWriter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::diff;
using llvm::StringRef;

StringRef diff::getName(How H) {
  static constexpr llvm::StringLiteral Names[] = {"absent", "default",
                                                  "derived", "stated"};
  return Names[static_cast<size_t>(H)];
}

static std::string textOf(int64_t V) { return std::to_string(V); }
static std::string textOf(bool V) { return V ? "true" : "false"; }
static std::string textOf(const std::string &V) { return V; }
template <typename EnumT, typename = std::enable_if_t<std::is_enum_v<EnumT>>>
static std::string textOf(EnumT V) {
  return getSpelling(V).str();
}

namespace {

/// Operations on a `Located<T>`, which \p Field points to.
struct FieldType {
  /// The text of the value, how the field has it, and where it is stated.
  std::optional<KeyValue> (*Read)(const void *Field);
  void (*Copy)(void *To, const void *From);
};

template <typename T>
constexpr FieldType TypeOf = {
    [](const void *Field) -> std::optional<KeyValue> {
      const auto &F = *static_cast<const Located<T> *>(Field);
      if (!F.isPresent())
        return std::nullopt;
      return KeyValue{"", textOf(F.Value), static_cast<How>(F.From),
                      F.isStated() ? F.Range : SourceRange()};
    },
    [](void *To, const void *From) {
      *static_cast<Located<T> *>(To) = *static_cast<const Located<T> *>(From);
    }};

/// A field of a spec.
struct FieldRef {
  std::string Path;
  Key Id;
  const void *Field;
  const FieldType *Type;
};

/// Lists the fields of a spec in the order of ir/model/Spec.def.
class FieldLister {
public:
  explicit FieldLister(const Spec &S);
  std::vector<FieldRef> Fields;

private:
  template <typename T>
  void add(StringRef Section, StringRef Word, KeyId Id, const Located<T> &F,
           unsigned Block = Key::NoBlock) {
    addField(Section, Word, {Id, Block}, &F, TypeOf<T>);
  }
  void addField(StringRef Section, StringRef Word, Key Id, const void *Field,
                const FieldType &Type) {
    Fields.push_back({(Section + "." + Word).str(), Id, Field, &Type});
  }
  void addBlock(const BlockSpec &B, unsigned Index);
  void addDevice(const DeviceSpec &D, const std::string &Path);
  void addMachine(const Spec &S);
};

} // namespace

#define ADD(PATH, OBJECT, SECTION, MEMBER, KEY, ...)                           \
  add(PATH, KEY, KeyId::SECTION##MEMBER, (OBJECT).MEMBER, ##__VA_ARGS__);

void FieldLister::addBlock(const BlockSpec &B, unsigned Index) {
  const std::string Path = "model." + B.Name, Attention = Path + ".attention",
                    Ffn = Path + ".ffn";
#define ATTENTION_FIELD(TYPE, MEMBER, KEY, ...)                                \
  ADD(Attention, B.Attention, Attention, MEMBER, KEY, Index)
#define FFN_FIELD(TYPE, MEMBER, KEY, ...)                                      \
  ADD(Ffn, B.Ffn, Ffn, MEMBER, KEY, Index)
#define BLOCK_FIELD(TYPE, MEMBER, KEY, ...)                                    \
  ADD(Path, B, Block, MEMBER, KEY, Index)
#include "ir/model/Spec.def"
  if (!B.Moe)
    return;
#define MOE_FIELD(TYPE, MEMBER, KEY, ...)                                      \
  ADD(Path, *B.Moe, Moe, MEMBER, KEY, Index)
#include "ir/model/Spec.def"
}

void FieldLister::addDevice(const DeviceSpec &D, const std::string &Path) {
#define DEVICE_FIELD(TYPE, MEMBER, KEY, ...) ADD(Path, D, Device, MEMBER, KEY)
#include "ir/model/Spec.def"
}

/// Adds the cost model of the job, and the cluster.
void FieldLister::addMachine(const Spec &S) {
#define COST_FIELD(TYPE, MEMBER, KEY, ...)                                     \
  ADD("cost", S.Cost, Cost, MEMBER, KEY)
#include "ir/model/Spec.def"
  addDevice(S.Cost.Device, "cost.device");
  for (const LinkSpec &L : S.Cost.Links) {
    const std::string Path = ("cost.links." + ir::getName(L.Axis)).str();
#define LINK_FIELD(TYPE, MEMBER, KEY, ...) ADD(Path, L, Link, MEMBER, KEY)
#include "ir/model/Spec.def"
  }
  if (!S.Cluster)
    return;
#define CLUSTER_FIELD(TYPE, MEMBER, KEY, ...)                                  \
  ADD("cluster", *S.Cluster, Cluster, MEMBER, KEY)
#include "ir/model/Spec.def"
  addDevice(S.Cluster->Device, "cluster.device");
  for (const TierSpec &T : S.Cluster->Tiers) {
    const std::string Path = "cluster.tiers." + T.Name;
#define TIER_FIELD(TYPE, MEMBER, KEY, ...) ADD(Path, T, Tier, MEMBER, KEY)
#include "ir/model/Spec.def"
  }
}

FieldLister::FieldLister(const Spec &S) {
#define MODEL_FIELD(TYPE, MEMBER, KEY, ...)                                    \
  ADD("model", S.Model, Model, MEMBER, KEY)
#define TRAIN_FIELD(TYPE, MEMBER, KEY, ...)                                    \
  ADD("train", S.Train, Train, MEMBER, KEY)
#define PARALLEL_FIELD(TYPE, MEMBER, KEY, ...)                                 \
  ADD("parallel", S.Parallel, Parallel, MEMBER, KEY)
#include "ir/model/Spec.def"
  for (unsigned I = 0; I < S.Model.Blocks.size(); ++I)
    addBlock(S.Model.Blocks[I], I);
  addMachine(S);
}
#undef ADD

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
  for (FieldRef &F : FieldLister(S).Fields)
    if (std::optional<KeyValue> Value = F.Type->Read(F.Field)) {
      Value->Path = std::move(F.Path);
      Value->Id = F.Id;
      Keys.push_back(std::move(*Value));
    }
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
  const std::vector<FieldRef> Others = FieldLister(From).Fields;
  for (const FieldRef &Field : FieldLister(In).Fields)
    for (const FieldRef &Other : Others)
      if (Field.Path == Path && Other.Path == Path &&
          Field.Type == Other.Type) {
        Field.Type->Copy(const_cast<void *>(Field.Field), Other.Field);
        IsDone = true;
      }
  return IsDone;
}
