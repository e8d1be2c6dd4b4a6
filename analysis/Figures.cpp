// SPDX-License-Identifier: Apache-2.0
#include "analysis/Figures.h"
#include "analysis/Bubble.h"
#include "analysis/Caveats.h"
#include "analysis/DeviceMemory.h"
#include "analysis/DeviceRates.h"
#include "analysis/FlopCounter.h"
#include "analysis/Flows.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>
#include <cmath>

using namespace foretrace;
using namespace foretrace::ir;

llvm::StringRef foretrace::getName(FigureUnit U) {
  static constexpr llvm::StringRef Names[] = {
      "text",  "count",      "count",      "flag", "bytes",
      "flops", "millionths", "millionths", "ns"};
  return Names[static_cast<size_t>(U)];
}

llvm::ArrayRef<FigureInfo> foretrace::allFigures() {
  static const std::vector<FigureInfo> Figures = [] {
    std::vector<FigureInfo> All = {
#define STAGE_FIGURE(ENUMERATOR, NAME, UNIT, DOC, EXPRESSION) {NAME, UNIT, DOC},
#include "analysis/Figures.def"
#define JOB_FIGURE(ENUMERATOR, NAME, UNIT, DOC, EXPRESSION) {NAME, UNIT, DOC},
#include "analysis/Figures.def"
    };
    for (llvm::StringRef Group : allGroupNames()) {
      std::string Name = ("messages_" + Group).str();
      std::replace(Name.begin(), Name.end(), '-', '_'); // a word in SQL
      All.push_back({std::move(Name), FigureUnit::Bytes,
                     ("`messages` among the ranks of " + Group).str()});
    }
    return All;
  }();
  return Figures;
}

const FigureInfo &foretrace::getInfo(FigureId Id) {
  return allFigures()[static_cast<size_t>(Id)];
}

/// Returns whether such a program has a figure, if it has the keys that this
/// needs.
static bool isOf(FigureId Id, const Program &P) {
  const bool Serves = P.Spec.Serve.has_value();
  enum { Shared, Own };
  switch (Id) {
#define SERVED(ENUMERATOR, BY)                                                 \
  case FigureId::ENUMERATOR:                                                   \
    return (BY) == Shared || (Serves && P.Facts.contains(Fact::Workspace));
#include "analysis/Figures.def"
  default:
    return !Serves;
  }
}

template <size_t N>
static std::vector<FigureId> figuresOf(const Program &P,
                                       const FigureId (&All)[N]) {
  std::vector<FigureId> Has;
  llvm::copy_if(All, std::back_inserter(Has),
                [&](FigureId Id) { return isOf(Id, P); });
  return Has;
}

std::vector<FigureId> foretrace::stageFiguresOf(const Program &P) {
  static constexpr FigureId All[] = {
#define STAGE_FIGURE(ENUMERATOR, ...) FigureId::ENUMERATOR,
#include "analysis/Figures.def"
  };
  return figuresOf(P, All);
}

std::vector<FigureId> foretrace::jobFiguresOf(const Program &P) {
  static constexpr FigureId All[] = {
#define JOB_FIGURE(ENUMERATOR, ...) FigureId::ENUMERATOR,
#include "analysis/Figures.def"
  };
  return figuresOf(P, All);
}

StageMemories &JobFigures::memories() {
  if (!Memories)
    Memories.emplace(P, For);
  return *Memories;
}

const IterationTime &JobFigures::iteration() {
  if (!Iteration)
    Iteration = estimateIteration(*P);
  return *Iteration;
}

Expr JobFigures::inFlight(const Stage &S) const {
  const auto Kind = static_cast<unsigned>(&S - P->Stages.data());
  return P.at(*P.Sizes.find({KeyId::StageInFlight, Key::NoBlock, Kind}));
}

/// Returns the bytes that a rank of \p S sends in the groups that \p IsMeant.
template <typename FnT>
static Expr sentBy(ExprScope P, const Stage &S, FnT IsMeant) {
  llvm::SmallVector<ExprId, 8> Sizes;
  for (const GroupBytes &G : S.Totals.Messages)
    if (IsMeant(G.Of))
      Sizes.push_back(G.Size.Id);
  return sumOf(P, Sizes);
}

/// The most that \p Of gives for a stage.
template <typename FnT> static Expr mostOfStages(ExprScope P, FnT Of) {
  Expr Most = Of(P->Stages.front());
  for (const Stage &S : llvm::drop_begin(P->Stages))
    Most = max(Most, Of(S));
  return Most;
}

Expr JobFigures::messages(const Stage &S) const {
  return sentBy(P, S, [](const Group &) { return true; });
}

Expr JobFigures::messagesOf(llvm::StringRef Group) const {
  return mostOfStages(P, [&](const Stage &S) {
    return sentBy(P, S, [&](const ir::Group &Of) {
      return Of.name(P->Spec, P->Mesh) == Group;
    });
  });
}

Expr JobFigures::bubble() const { return bubbleShareOf(P); }

std::optional<Expr> JobFigures::cached(std::optional<ExprId> Of) const {
  return Of ? std::optional(P.at(*Of)) : std::nullopt;
}

std::optional<Expr> JobFigures::fits() {
  if (P->Spec.Serve) {
    const std::optional<Expr> Sequences = of(FigureId::Sequences);
    return Sequences ? std::optional(min(*Sequences, numberOf(P, 1)))
                     : std::nullopt;
  }
  const std::optional<DeviceMemory> Memory = deviceMemoryOf(P->Spec);
  if (!Memory)
    return std::nullopt;
  return less(*of(FigureId::Peak), numberOf(P, Memory->usable()) + 1);
}

std::optional<Expr> JobFigures::crossNode() const {
  if (!P->Spec.Cluster ||
      (For == Validity::AnyKeys && isOfJobAlone(FigureId::CrossNode, *P)))
    return std::nullopt;
  return FlowCounter(P, FlowSpan::Iteration).crossNode();
}

bool foretrace::isOfParts(FigureId Id) {
  return Id == FigureId::TimeUpper || Id == FigureId::Exposed;
}

bool foretrace::isOfTime(FigureId Id) {
  return Id == FigureId::Time || Id == FigureId::Mfu ||
         Id == FigureId::TokensPerSecond || isOfParts(Id);
}

/// The number of copies of a token that leave a node depends on the nodes.
bool foretrace::isOfJobAlone(FigureId Id, const Program &P) {
  return isOfTime(Id) || (Id == FigureId::CrossNode &&
                          llvm::any_of(P.Blocks, [](const Block &B) {
                            return B.Copies.has_value();
                          }));
}

bool foretrace::isOfTime(llvm::StringRef Name) {
  const llvm::ArrayRef<FigureInfo> All = allFigures();
  const auto *It =
      llvm::find_if(All, [&](const FigureInfo &F) { return F.Name == Name; });
  return It != All.end() && isOfTime(static_cast<FigureId>(It - All.begin()));
}

bool JobFigures::hasTime() {
  return For == Validity::ThisJob && !isUpdatedByHost(*P) &&
         P->Facts.contains(Fact::Costs) &&
         *P->Spec.Cost.Kind == CostKind::Estimate &&
         !iteration().Total.isOverflow();
}

std::optional<Expr> JobFigures::time() {
  if (!hasTime())
    return std::nullopt;
  return numberOf(P, iteration().Total.value());
}

std::optional<Expr> JobFigures::timeUpper() {
  if (!hasTime())
    return std::nullopt;
  const IterationTime &Of = iteration();
  const double Upper =
      std::ceil(static_cast<double>(Of.Total.value()) * (1 + Of.Uncertainty));
  if (Upper >= static_cast<double>(INT64_MAX))
    return std::nullopt;
  return numberOf(P, static_cast<int64_t>(Upper));
}

static std::optional<Expr> countOf(ExprScope P, __int128 Number) {
  if (Number > INT64_MAX)
    return std::nullopt;
  return numberOf(P, static_cast<int64_t>(Number));
}

const JobFigures::AllWork &JobFigures::work() {
  if (!Done) {
    FlopCounter Flops(P, {});
    Done = {Flops.isOverflow() ? std::nullopt
                               : std::optional(Flops.iteration().model().Value),
            tokensOfIteration(P).Value};
  }
  return *Done;
}

std::optional<Expr> JobFigures::mfu() {
  if (!hasTime())
    return std::nullopt;
  const DeviceRates Rates(*P, iteration().Total.value());
  if (!Rates.isPeakKnown() || !work().ModelFlops)
    return std::nullopt;
  return countOf(P, Rates.shareOfPeak(*work().ModelFlops));
}

std::optional<Expr> JobFigures::tokensPerSecond() {
  if (!hasTime())
    return std::nullopt;
  const DeviceRates Rates(*P, iteration().Total.value());
  return countOf(P, Rates.perSecond(work().Tokens));
}

std::optional<Expr> JobFigures::exposed() {
  if (!hasTime())
    return std::nullopt;
  __int128 Time = 0;
  for (const TimePart &Of : iteration().Parts)
    if (Of.Is == TimePart::Kind::Collective ||
        Of.Is == TimePart::Kind::Messages)
      Time += Of.Time.value();
  return countOf(P, millionths(Time, iteration().Total.value()));
}

Expr JobFigures::of(FigureId Id, const Stage &S) {
  JobFigures &F = *this;
  switch (Id) {
#define STAGE_FIGURE(ENUMERATOR, NAME, UNIT, DOC, EXPRESSION)                  \
  case FigureId::ENUMERATOR:                                                   \
    return EXPRESSION;
#include "analysis/Figures.def"
  default:
    llvm_unreachable("a figure of jobs");
  }
}

std::optional<Expr> JobFigures::of(FigureId Id) {
  if (!isOf(Id, P))
    return std::nullopt;
  JobFigures &F = *this;
  switch (Id) {
#define JOB_FIGURE(ENUMERATOR, NAME, UNIT, DOC, EXPRESSION)                    \
  case FigureId::ENUMERATOR:                                                   \
    return EXPRESSION;
#include "analysis/Figures.def"
  default:
    return mostOfStages(P, [&](const Stage &S) { return of(Id, S); });
  }
}

std::vector<std::optional<ExprId>>
JobFigures::all(llvm::function_ref<bool(size_t)> IsWanted) {
  std::vector<std::optional<ExprId>> All;
  auto Add = [&](auto Make) {
    std::optional<Expr> Made;
    if (IsWanted(All.size()))
      Made = Make();
    All.push_back(Made);
  };
#define STAGE_FIGURE(ENUMERATOR, ...)                                          \
  Add([&] { return of(FigureId::ENUMERATOR); });
#include "analysis/Figures.def"
#define JOB_FIGURE(ENUMERATOR, ...)                                            \
  Add([&] { return of(FigureId::ENUMERATOR); });
#include "analysis/Figures.def"
  for (llvm::StringRef Group : allGroupNames())
    Add([&] { return messagesOf(Group); });
  return All;
}
