// SPDX-License-Identifier: Apache-2.0
#include "backends/simai/AdaptRules.h"
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace foretrace;
using namespace foretrace::simai;

// The record counts cells, and there may be several to each of 2^63 rows: what
// can't be counted must not wrap around.
static int64_t saturatingMultiply(int64_t A, int64_t B) {
  return llvm::checkedMul(A, B).value_or(INT64_MAX);
}
static int64_t saturatingAdd(int64_t A, int64_t B) {
  return llvm::checkedAdd(A, B).value_or(INT64_MAX);
}

static int64_t orMost(RowCount Rows) {
  return Rows.isOverflow() ? INT64_MAX : Rows.value();
}

namespace {

/// Applies one adaptation to one table, folded as it is: a body is changed
/// once, and counts for as many rows as it stands for.
class Applier {
public:
  Applier(const Adaptation &A, Adapted &Out, DiagnosticEngine &Diags)
      : A(A), Out(Out), Diags(Diags) {}

  void run();

private:
  void requireMatches();
  bool canKeep(const StatedCount &Kept, int64_t Of);
  void keepMicroBatches(const StatedCount &Kept);
  void keepLastLayers(const StatedCount &Kept);
  int64_t layersIn(const Period &P) const;
  WorkloadPart cutPart(const WorkloadPart &P, int64_t Layers) const;
  void adaptBody(std::vector<WorkloadRow> &Body, int64_t Times);
  bool isDropped(const WorkloadRow &R, int64_t Times);
  void adaptRow(WorkloadRow &R, int64_t Occurrence, int64_t Times);
  /// The new value of a cell under \p E, or nothing if it stays.
  std::optional<int64_t> change(const Edit &E, const WorkloadRow &R,
                                unsigned Column, int64_t Value);
  bool isRaised(const WorkloadRow &R, unsigned Column, int64_t Size) const;
  void adaptHeader();
  void countNumbered();

  /// Counts \p Times changes by \p Option; keeps the first as an example.
  OptionEffect &note(unsigned Option, int64_t Times);
  void noteCell(const Edit &E, int64_t Times, llvm::StringRef Row,
                llvm::StringRef Column, int64_t Old, int64_t New);
  /// Whether nothing was reported of this setting so far.
  bool isFirst(SourceRange Range) {
    return Reported.insert(Range.start()).second;
  }

  const Adaptation &A;
  Adapted &Out;
  DiagnosticEngine &Diags;
  llvm::SmallSet<SourceLocation, 4> Reported;
};

} // namespace

OptionEffect &Applier::note(unsigned Option, int64_t Times) {
  OptionEffect &C = Out.Changes[Option];
  C.Count = saturatingAdd(C.Count, Times);
  return C;
}

void Applier::noteCell(const Edit &E, int64_t Times, llvm::StringRef Row,
                       llvm::StringRef Column, int64_t Old, int64_t New) {
  OptionEffect &C = note(E.Option, Times);
  if (!C.Row.empty())
    return;
  C.Row = Row;
  C.Column = Column;
  C.Old = Old;
  C.New = New;
}

/// A `rows` section that no row answers to is a misspelt one.
void Applier::requireMatches() {
  std::vector<llvm::StringRef> Names;
  for (const std::vector<WorkloadRow> &Body : Out.Table.Bodies)
    for (const WorkloadRow &R : Body)
      if (!llvm::is_contained(Names, R.Name))
        Names.push_back(R.Name);
  for (const RowRule &Rule : A.Rules) {
    if (llvm::any_of(Names, [&](auto Name) { return Rule.matches(Name); }))
      continue;
    DiagnosticBuilder D = Diags.report(Rule.Range, diag::SimaiAdaptNoRow,
                                       llvm::join(Names, ", "));
    llvm::StringRef Nearest = nearestWord(Rule.Label, Names);
    if (!Nearest.empty())
      D.note(Rule.Range, diag::DidYouMean, Nearest);
  }
}

static bool isLayer(const std::vector<WorkloadRow> &Body) {
  return !Body.empty() && Body.back().EndsLayer;
}

int64_t Applier::layersIn(const Period &P) const {
  int64_t Layers = 0;
  for (const Run &R : P.Runs)
    if (isLayer(Out.Table.Bodies[R.Body]))
      Layers = saturatingAdd(Layers, R.Repeat);
  return Layers;
}

/// \p P with its first \p Layers layers, and what is in no layer.
WorkloadPart Applier::cutPart(const WorkloadPart &P, int64_t Layers) const {
  WorkloadPart Cut;
  Cut.IsMicroBatch = true;
  for (const Period &Whole : P.Periods) {
    const int64_t InPeriod = layersIn(Whole);
    if (InPeriod == 0) {
      Cut.Periods.push_back(Whole);
      continue;
    }
    const int64_t Periods = std::min(Whole.Repeat, Layers / InPeriod);
    if (Periods > 0)
      Cut.Periods.push_back({Whole.Runs, Periods});
    Layers -= Periods * InPeriod;
    if (Periods == Whole.Repeat)
      continue;
    for (const Run &R : Whole.Runs) {
      const bool HasLayers = isLayer(Out.Table.Bodies[R.Body]);
      const int64_t Kept = HasLayers ? std::min(R.Repeat, Layers) : R.Repeat;
      if (Kept == 0)
        continue;
      Cut.add({R.Body, Kept});
      Layers -= HasLayers ? Kept : 0;
    }
  }
  return Cut;
}

/// Reports \p Kept if there is not that much; notes the rows that went.
bool Applier::canKeep(const StatedCount &Kept, int64_t Of) {
  if (Kept.Value <= Of) {
    OptionEffect &C = Out.Changes[Kept.Option];
    C.Old = Of;
    C.New = Kept.Value;
    return true;
  }
  Diags.report(Kept.Range, diag::SimaiAdaptTruncation, A.Options[Kept.Option],
               Kept.Value, Of);
  return false;
}

void Applier::keepMicroBatches(const StatedCount &Kept) {
  int64_t All = 0;
  for (const WorkloadPart &P : Out.Table.Parts)
    if (P.IsMicroBatch)
      All = saturatingAdd(All, P.Repeat);
  if (!canKeep(Kept, All))
    return;
  const int64_t Before = orMost(Out.Table.rowCount());
  int64_t Left = Kept.Value;
  for (WorkloadPart &P : Out.Table.Parts)
    if (P.IsMicroBatch) {
      P.Repeat = std::min(P.Repeat, Left);
      Left -= P.Repeat;
    }
  note(Kept.Option, Before - orMost(Out.Table.rowCount()));
}

/// The last micro-batch is one of many that are alike: it is taken out of their
/// part and stands after it, cut.
void Applier::keepLastLayers(const StatedCount &Kept) {
  std::vector<WorkloadPart> &Parts = Out.Table.Parts;
  auto Last = llvm::find_if(llvm::reverse(Parts), [](const WorkloadPart &P) {
    return P.IsMicroBatch && P.Repeat > 0;
  });
  if (Last == Parts.rend())
    return;
  int64_t Layers = 0;
  for (const Period &P : Last->Periods)
    Layers = saturatingAdd(Layers, saturatingMultiply(P.Repeat, layersIn(P)));
  if (!canKeep(Kept, Layers))
    return;
  const int64_t Before = orMost(Out.Table.rowCount());
  --Last->Repeat;
  Parts.insert(Last.base(), cutPart(*Last, Kept.Value));
  note(Kept.Option, Before - orMost(Out.Table.rowCount()));
}

/// Whether `min_size` replaces a size of \p Size and a fraction.
bool Applier::isRaised(const WorkloadRow &R, unsigned Column,
                       int64_t Size) const {
  const Edit *Floor = A.find(R.Name, EditKey::MinSize, Column);
  return Floor && (R.*Columns[Column].Member).Comm != Comm::None &&
         !Floor->IsList && Floor->Values.front() > Size;
}

std::optional<int64_t> Applier::change(const Edit &E, const WorkloadRow &R,
                                       unsigned Column, int64_t Value) {
  const WorkloadCell &C = R.*Columns[Column].Member;
  const int64_t Old = isOfTime(E.Key) ? C.Time : C.Size;
  const bool Communicates = C.Comm != Comm::None;
  switch (E.Key) {
  case EditKey::Time:
    return Value;
  case EditKey::MinTime:
    return std::max(Old, Value);
  case EditKey::FillSize:
    return Communicates && Old == 0 ? Value : Old;
  case EditKey::MinSize:
    return Communicates ? std::max(Old, Value) : Old;
  case EditKey::MultiplySizes:
    if (std::optional<int64_t> New = llvm::checkedMul(Old, Value))
      return New;
    if (isFirst(E.Range))
      Diags.report(E.Range, diag::SimaiAdaptOverflow, Old, Value, R.Name);
    return std::nullopt;
  case EditKey::DivideSizes:
    if (Old % Value == 0 || isRaised(R, Column, Old / Value))
      return Old / Value;
    if (isFirst(E.Range))
      Diags.report(E.Range, diag::SimaiAdaptInexact, Old, R.Name, Value);
    return std::nullopt;
  case EditKey::DropBelow:
  case EditKey::Number:
    break;
  }
  llvm_unreachable("those of rows change no cell");
}

/// Keys go from times to sizes in the order of AdaptKeys.def, each on what
/// those before it left. A list has a value for each row of that name in a
/// layer.
void Applier::adaptRow(WorkloadRow &R, int64_t Occurrence, int64_t Times) {
  for (auto [Index, Column] : llvm::enumerate(Columns))
    for (EditKey Key = EditKey::Time; isOfCell(Key);
         Key = static_cast<EditKey>(static_cast<unsigned>(Key) + 1)) {
      const Edit *E = A.find(R.Name, Key, Index);
      if (!E)
        continue;
      const size_t Place = E->IsList ? static_cast<size_t>(Occurrence) : 0;
      if (Place >= E->Values.size()) {
        if (isFirst(E->Range))
          Diags.report(E->Range, diag::SimaiAdaptOccurrence, E->Values.size(),
                       Occurrence + 1, R.Name);
        continue;
      }
      if (!E->Values[Place])
        continue;
      WorkloadCell &C = R.*Column.Member;
      int64_t &Number = isOfTime(Key) ? C.Time : C.Size;
      std::optional<int64_t> New = change(*E, R, Index, *E->Values[Place]);
      if (!New || *New == Number)
        continue;
      noteCell(*E, Times, R.Name, Column.Name, Number, *New);
      C.IsFloat &= isOfTime(Key); // the generator's size is gone
      Number = *New;
    }
}

/// A row that communicates, but only in messages below the limit.
bool Applier::isDropped(const WorkloadRow &R, int64_t Times) {
  const Edit *Limit = A.find(R.Name, EditKey::DropBelow);
  if (!Limit)
    return false;
  std::optional<int64_t> Largest; // none is the least
  for (const Column &Column : Columns)
    if ((R.*Column.Member).Comm != Comm::None)
      Largest = std::max(Largest, std::optional((R.*Column.Member).Size));
  if (!Largest || *Largest >= Limit->value())
    return false;
  OptionEffect &C = note(Limit->Option, Times);
  if (C.Row.empty()) {
    C.Row = R.Name;
    C.Old = *Largest;
  }
  return true;
}

void Applier::adaptBody(std::vector<WorkloadRow> &Body, int64_t Times) {
  llvm::StringMap<int64_t> Seen; // rows of that name in this layer
  std::vector<WorkloadRow> Kept;
  for (WorkloadRow &R : Body) {
    adaptRow(R, Seen[R.Name]++, Times);
    // By its new sizes, and after it was counted as an occurrence.
    if (!isDropped(R, Times))
      Kept.push_back(std::move(R));
  }
  Body = std::move(Kept);
}

void Applier::adaptHeader() {
  Header &H = Out.Table.Header;
  for (const auto &[Field, New] : A.Header) {
    OptionEffect &C = note(New.Option, 1);
    C.Old = Field->Get(H);
    Field->Set(H, New.Value);
    C.New = C.Old.kind() == llvm::json::Value::Boolean
                ? llvm::json::Value(New.Value != 0)
                : llvm::json::Value(New.Value);
  }
}

static std::vector<int64_t> timesOfBodies(const WorkloadTable &T) {
  std::vector<int64_t> Times(T.Bodies.size());
  forEachRun(T, [&](const Run &R, RowCount Repeat) {
    Times[R.Body] = saturatingAdd(Times[R.Body], orMost(Repeat));
  });
  return Times;
}

/// Names get their numbers when they are written; here they are counted.
void Applier::countNumbered() {
  llvm::StringMap<int64_t> Seen;
  for (auto [Body, Times] :
       llvm::zip(Out.Table.Bodies, timesOfBodies(Out.Table)))
    for (const WorkloadRow &R : Body) {
      const Edit *Number = A.find(R.Name, EditKey::Number);
      const auto Which =
          Number ? static_cast<Numbering>(Number->value()) : Numbering::None;
      if (Which == Numbering::None || Times == 0)
        continue;
      const bool IsRepeat = Which == Numbering::Repeats;
      const bool IsFirst = Seen[R.Name] == 0;
      Seen[R.Name] = saturatingAdd(Seen[R.Name], Times);
      const int64_t Renamed = Times - (IsRepeat && IsFirst);
      if (Renamed == 0)
        continue;
      OptionEffect &C = note(Number->Option, Renamed);
      if (!C.Row.empty())
        continue;
      C.Row = R.Name;
      C.Old = R.Name;
      C.New = R.Name + (IsRepeat ? "_2" : "_1");
    }
}

void Applier::run() {
  requireMatches();
  if (A.MicroBatches)
    keepMicroBatches(*A.MicroBatches);
  if (A.LastLayers)
    keepLastLayers(*A.LastLayers);
  for (auto [Body, Times] :
       llvm::zip(Out.Table.Bodies, timesOfBodies(Out.Table)))
    if (Times > 0)
      adaptBody(Body, Times);
  adaptHeader();
  countNumbered();
}

Adapted foretrace::simai::apply(const Adaptation &A, const WorkloadTable &T,
                                DiagnosticEngine &Diags) {
  Adapted Out{T, std::vector<OptionEffect>(A.Options.size())};
  Applier(A, Out, Diags).run();
  return Out;
}
