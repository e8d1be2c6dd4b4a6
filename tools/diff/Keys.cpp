// SPDX-License-Identifier: Apache-2.0
#include "tools/diff/Keys.h"
#include "ir/model/SpecFields.h"
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

/// Calls \p Visit with the path, the key and the member of every field of a
/// spec, in the order of ir/model/Spec.def.
template <typename SpecT, typename VisitT>
static void visitPaths(SpecT &S, VisitT Visit) {
  auto Under = [&](std::string Path, unsigned Block = Key::NoBlock) {
    return
        [&Visit, Path = std::move(Path), Block](const FieldRow &Row, auto &F) {
          Visit((Path + "." + Row.Name).str(), Key{Row.Id, Block}, F);
        };
  };
  visitJob(S, [&](const FieldRow &Row, auto &F) {
    Visit(pathOf(Row.Id).str(), Key{Row.Id}, F);
  });
  for (unsigned I = 0; I < S.Model.Blocks.size(); ++I) {
    auto &B = S.Model.Blocks[I];
    const std::string Path = "model." + B.Name;
    visitFields(B.Attention, Under(Path + ".attention", I));
    visitFields(B.Ffn, Under(Path + ".ffn", I));
    visitFields(B, Under(Path, I));
    if (B.Moe)
      visitFields(*B.Moe, Under(Path, I));
  }
  visitFields(S.Cost, Under("cost"));
  visitFields(S.Cost.Device, Under("cost.device"));
  for (auto &L : S.Cost.Links)
    visitFields(L, Under(("cost.links." + ir::getName(L.Axis)).str()));
  if (!S.Cluster)
    return;
  visitFields(*S.Cluster, Under("cluster"));
  visitFields(S.Cluster->Device, Under("cluster.device"));
  for (auto &T : S.Cluster->Tiers)
    visitFields(T, Under("cluster.tiers." + T.Name));
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
  visitPaths(S, [&](std::string Path, Key Id, const auto &F) {
    if (F.isPresent())
      Keys.push_back({std::move(Path), spell(*F), static_cast<How>(F.From),
                      F.isStated() ? F.Range : SourceRange(), Id});
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
  visitPaths(In, [&](const std::string &Of, Key, auto &F) {
    if (Of != Path)
      return;
    visitPaths(From, [&](const std::string &Other, Key, const auto &Value) {
      if constexpr (std::is_same_v<std::decay_t<decltype(F)>,
                                   std::decay_t<decltype(Value)>>)
        if (Other == Path) {
          F = Value;
          IsDone = true;
        }
    });
  });
  return IsDone;
}
