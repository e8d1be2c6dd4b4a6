// SPDX-License-Identifier: Apache-2.0
#include "tools/diff/Keys.h"
#include "ir/model/Spellings.h"
#include "ir/text/TextWriter.h"
#include "passes/vary/Keys.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::diff;
using namespace foretrace::vary;
using llvm::StringRef;

StringRef diff::getName(How H) {
  static constexpr llvm::StringLiteral Names[] = {"absent", "default",
                                                  "derived", "stated"};
  return Names[static_cast<size_t>(H)];
}

static std::string layersOf(const ModelSpec &M,
                            llvm::ArrayRef<LayerRun> Layers) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  printPattern(M, Layers, OS);
  return Text;
}

/// The axes that split a declared dimension.
static std::string axesOf(const DimInfo &D) {
  return llvm::join(llvm::map_range(D.ActivationAxes, getSpelling<Axis>), ",");
}

static std::string layoutOf(const ParallelSpec &P) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << '[';
  llvm::interleaveComma(P.Layout, OS, [&](auto &L) { OS << L.Value; });
  OS << ']';
  return Text;
}

/// Returns the steps as in the file, a line per stage, separated by `/`.
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

std::vector<KeyValue> diff::keysOf(const Spec &S) {
  std::vector<KeyValue> Keys;
  visitPaths(S, [&](std::string Path, Key Id, const FieldRow &, const auto &F) {
    if (F.isPresent())
      Keys.push_back({std::move(Path), spell(*F), static_cast<How>(F.From),
                      F.isStated() ? F.Range : SourceRange(), Id});
  });
  auto Add = [&](StringRef Path, std::string Text, SourceRange Range) {
    Keys.push_back({Path.str(), std::move(Text), How::Stated, Range});
  };
  if (!S.Model.Layers.empty())
    Add(LayersPath, layersOf(S.Model, S.Model.Layers), S.Model.LayersRange);
  if (S.Model.Branch)
    Add(BranchPath, layersOf(S.Model, S.Model.Branch->Layers),
        S.Model.Branch->LayersRange);
  for (const DimInfo &D : S.Dims)
    Add("dim " + D.Name, axesOf(D), SourceRange());
  if (!S.Parallel.Layout.empty())
    Add(LayoutPath, layoutOf(S.Parallel), S.Parallel.LayoutRange);
  if (!S.Parallel.Steps.empty())
    Add(StepsPath, stepsOf(S.Parallel), S.Parallel.Schedule.Range);
  for (const KernelParameter &K : S.Cost.Kernels) {
    std::string Number;
    llvm::raw_string_ostream OS(Number);
    printReal(K.Value, OS);
    Add(("cost.kernels." + getInfo(K.Id).Name).str(), std::move(Number),
        K.Range);
  }
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
