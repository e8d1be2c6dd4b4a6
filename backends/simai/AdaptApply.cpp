// SPDX-License-Identifier: Apache-2.0
#include "backends/simai/AdaptRules.h"
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace foretrace;
using namespace foretrace::simai;

namespace {

/// Applies one adaptation to one folded table: a body is changed once, and
/// counts for as many rows as it represents.
class Applier {
public:
  Applier(const Adaptation &A, Adapted &Out, DiagnosticEngine &Diags)
      : A(A), Out(Out), Diags(Diags) {}

  void run();

private:
  void requireMatches();
  bool canKeep(const StatedCount &Kept, RowCount Of);
  /// Notes how many rows have gone since there were \p Before.
  void noteGone(const StatedCount &Kept, RowCount Before) {
    note(Kept, RowCount(orMost(Before) - orMost(Out.Table.rowCount())));
  }
  void keepMicroBatches(const StatedCount &Kept);
  void keepLastLayers(const StatedCount &Kept);
  RowCount layersIn(const Period &P) const;
  WorkloadPart cutPart(const WorkloadPart &P, int64_t Layers) const;
  void adaptBody(std::vector<WorkloadRow> &Body, RowCount Times);
  bool isDropped(const WorkloadRow &R, RowCount Times);
  void adaptRow(WorkloadRow &R, int64_t Occurrence, RowCount Times);
  void adaptCell(WorkloadRow &R, unsigned Column, const Edit &E, size_t Place,
                 RowCount Times);
  bool isRaised(const WorkloadRow &R, unsigned Column, int64_t Size) const;
  void adaptHeader();
  void countNumbered();

  /// Counts \p Times changes by \p Set; returns its effect if this is the
  /// first, to keep as an example.
  OptionEffect *note(const Setting &Set, RowCount Times) {
    OptionEffect &C = Out.Changes[Set.Option];
    C.Count += Times;
    return C.Row.empty() ? &C : nullptr;
  }
  /// Returns whether nothing was reported of this setting so far.
  bool isFirst(const Setting &Set) {
    return Reported.insert(Set.Range.start()).second;
  }

  const Adaptation &A;
  Adapted &Out;
  DiagnosticEngine &Diags;
  llvm::SmallSet<SourceLocation, 4> Reported;
};

} // namespace

/// A `rows` section that no row answers to is a misspelt one.
void Applier::requireMatches() {
  std::vector<llvm::StringRef> Names;
  for (const std::vector<WorkloadRow> &Body : Out.Table.Bodies)
    for (const WorkloadRow &R : Body)
      if (!llvm::is_contained(Names, R.Name))
        Names.push_back(R.Name);
  for (const RowSection &Section : A.Sections) {
    if (llvm::any_of(Names, [&](auto Name) { return Section.matches(Name); }))
      continue;
    DiagnosticBuilder D = Diags.report(Section.Range, diag::SimaiAdaptNoRow,
                                       llvm::join(Names, ", "));
    llvm::StringRef Nearest = nearestWord(Section.Label, Names);
    if (!Nearest.empty())
      D.note(Section.Range, diag::DidYouMean, Nearest);
  }
}

static bool isLayer(const std::vector<WorkloadRow> &Body) {
  return !Body.empty() && Body.back().EndsLayer;
}

RowCount Applier::layersIn(const Period &P) const {
  RowCount Layers;
  for (const Run &R : P.Runs)
    if (isLayer(Out.Table.Bodies[R.Body]))
      Layers += RowCount(R.Repeat);
  return Layers;
}

/// \p P with its first \p Layers layers, and what is in no layer.
WorkloadPart Applier::cutPart(const WorkloadPart &P, int64_t Layers) const {
  WorkloadPart Cut;
  Cut.IsMicroBatch = true;
  for (const Period &Whole : P.Periods) {
    const int64_t InPeriod = orMost(layersIn(Whole));
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

/// Returns whether there is as much as \p Kept; reports it if not.
bool Applier::canKeep(const StatedCount &Kept, RowCount All) {
  const int64_t Of = orMost(All);
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
  RowCount All;
  for (const WorkloadPart &P : Out.Table.Parts)
    if (P.IsMicroBatch)
      All += RowCount(P.Repeat);
  if (!canKeep(Kept, All))
    return;
  const RowCount Before = Out.Table.rowCount();
  int64_t Left = Kept.Value;
  for (WorkloadPart &P : Out.Table.Parts)
    if (P.IsMicroBatch) {
      P.Repeat = std::min(P.Repeat, Left);
      Left -= P.Repeat;
    }
  noteGone(Kept, Before);
}

/// Cuts the last micro-batch: takes it out of the part of equal ones and adds
/// it behind that part.
void Applier::keepLastLayers(const StatedCount &Kept) {
  std::vector<WorkloadPart> &Parts = Out.Table.Parts;
  auto Last = llvm::find_if(llvm::reverse(Parts), [](const WorkloadPart &P) {
    return P.IsMicroBatch && P.Repeat > 0;
  });
  if (Last == Parts.rend())
    return;
  RowCount Layers;
  for (const Period &P : Last->Periods)
    Layers += layersIn(P) * P.Repeat;
  if (!canKeep(Kept, Layers))
    return;
  const RowCount Before = Out.Table.rowCount();
  --Last->Repeat;
  Parts.insert(Last.base(), cutPart(*Last, Kept.Value));
  noteGone(Kept, Before);
}

/// Returns whether `min_size` replaces a size of \p Size and a fraction.
bool Applier::isRaised(const WorkloadRow &R, unsigned Column,
                       int64_t Size) const {
  const Edit *Floor = A.find(R.Name, EditKey::MinSize, Column);
  return Floor && (R.*Columns[Column].Member).Comm != Comm::None &&
         !Floor->IsList && Floor->Values.front() > Size;
}

/// Changes a cell under \p E, which has a value at \p Place.
void Applier::adaptCell(WorkloadRow &R, unsigned Column, const Edit &E,
                        size_t Place, RowCount Times) {
  if (!E.Values[Place]) // `keep`
    return;
  WorkloadCell &C = R.*Columns[Column].Member;
  int64_t &Number = isOfTime(E.Key) ? C.Time : C.Size;
  const int64_t Old = Number, Value = *E.Values[Place];
  const bool Sends = C.Comm != Comm::None;
  const bool IsRaised =
      E.Key == EditKey::DivideSizes && isRaised(R, Column, Old / Value);
  std::optional<int64_t> New;
  switch (E.Key) {
#define EDIT(ENUMERATOR, KEY, LEAST, NEW)                                      \
  case EditKey::ENUMERATOR:                                                    \
    New = NEW;                                                                 \
    break;
#include "backends/simai/AdaptKeys.def"
  }
  if (!New) {
    if (!isFirst(E))
      return;
    if (E.Key == EditKey::MultiplySizes)
      Diags.report(E.Range, diag::SimaiAdaptOverflow, Old, Value, R.Name);
    else
      Diags.report(E.Range, diag::SimaiAdaptInexact, Old, R.Name, Value);
    return;
  }
  if (*New == Old)
    return;
  if (OptionEffect *First = note(E, Times))
    *First = {First->Count, R.Name, Columns[Column].Name.str(), Old, *New};
  C.IsFloat &= isOfTime(E.Key); // the generator's size is gone
  Number = *New;
}

/// Keys go from times to sizes in the order of AdaptKeys.def, each on what
/// those before it left. A list has a value for each row of that name in a
/// layer.
void Applier::adaptRow(WorkloadRow &R, int64_t Occurrence, RowCount Times) {
  for (unsigned Column = 0; Column != std::size(Columns); ++Column)
    for (EditKey Key = EditKey::Time; isOfCell(Key);
         Key = static_cast<EditKey>(static_cast<unsigned>(Key) + 1)) {
      const Edit *E = A.find(R.Name, Key, Column);
      if (!E)
        continue;
      const size_t Place = E->IsList ? static_cast<size_t>(Occurrence) : 0;
      if (Place < E->Values.size())
        adaptCell(R, Column, *E, Place, Times);
      else if (isFirst(*E))
        Diags.report(E->Range, diag::SimaiAdaptOccurrence, E->Values.size(),
                     Occurrence + 1, R.Name);
    }
}

/// A row that communicates, but only in messages below the limit.
bool Applier::isDropped(const WorkloadRow &R, RowCount Times) {
  const Edit *Limit = A.find(R.Name, EditKey::DropBelow);
  if (!Limit)
    return false;
  std::optional<int64_t> Largest; // none is the least
  for (const Column &Column : Columns)
    if ((R.*Column.Member).Comm != Comm::None)
      Largest = std::max(Largest, std::optional((R.*Column.Member).Size));
  if (!Largest || *Largest >= Limit->value())
    return false;
  if (OptionEffect *First = note(*Limit, Times))
    *First = {First->Count, R.Name, "", *Largest, nullptr};
  return true;
}

void Applier::adaptBody(std::vector<WorkloadRow> &Body, RowCount Times) {
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
    OptionEffect &C = *note(New, RowCount(1));
    C.Old = Field->Get(H);
    Field->Set(H, New.Value);
    C.New = Field->IsFlag ? llvm::json::Value(New.Value != 0)
                          : llvm::json::Value(New.Value);
  }
}

static std::vector<RowCount> timesOfBodies(const WorkloadTable &T) {
  std::vector<RowCount> Times(T.Bodies.size());
  forEachRun(T,
             [&](const Run &R, RowCount Repeat) { Times[R.Body] += Repeat; });
  return Times;
}

/// Names get their numbers when they are written; here they are counted.
void Applier::countNumbered() {
  llvm::StringSet<> Seen;
  for (auto [Body, Times] :
       llvm::zip(Out.Table.Bodies, timesOfBodies(Out.Table)))
    for (const WorkloadRow &R : Body) {
      const Numbering Which = A.numbering(R.Name);
      if (Which == Numbering::None || Times == RowCount(0))
        continue;
      const bool IsRepeat = Which == Numbering::Repeats;
      const bool IsFirst = Seen.insert(R.Name).second;
      const int64_t Renamed = orMost(Times) - (IsRepeat && IsFirst);
      if (Renamed == 0)
        continue;
      if (OptionEffect *First =
              note(*A.find(R.Name, EditKey::Number), RowCount(Renamed)))
        *First = {First->Count, R.Name, "", R.Name,
                  R.Name + (IsRepeat ? "_2" : "_1")};
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
    if (Times != RowCount(0))
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
