// SPDX-License-Identifier: Apache-2.0
#include "passes/Structure.h"
#include "ir/model/SpecKeys.h"
#include "passes/GradientBuffers.h"
#include "passes/Passes.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Returns the number that a job states, or none.
static ExprId numberOf(Program &P, const Located<int64_t> &F) {
  return F.isPresent() ? exprOf(P, F) : ir::numberOf(P, 0);
}

bool Structure::isRefusal() const {
  const Check &Last = P.Checks.back();
  return !P.Facts.contains(Fact::Complete) ||
         !Last.passes(P.Sizes.value(Last.Of));
}

bool foretrace::hasUnlikeLayers(const TrainSpec &T) {
  return T.RecomputeNumLayers.isPresent() || T.OffloadNumLayers.isPresent();
}

/// Returns the keys on which a program depends although no check reads them:
/// each chunk has its own reductions (`sync`).
static llvm::SmallVector<const Located<int64_t> *, 4>
decidingNumbers(const Program &P) {
  const ParallelSpec &Of = P.Spec.Parallel;
  if (!hasUnlikeLayers(P.Spec.Train))
    return {&Of.Vpp};
  return {&Of.Pp, &Of.Vpp, &Of.FirstStageLayers, &Of.LastStageLayers};
}

std::optional<Structure> Structure::of(const Program &Given) {
  // Text does not say checks; without them everything would be legal.
  if (Given.Checks.empty())
    return std::nullopt;
  // Which layers there are then depends on numbers in ways that no check says,
  // and so does the load of experts.
  // Neither do other blocks than those of the step say what the cache has.
  const TrainSpec &T = Given.Spec.Train;
  const bool LacksBranch =
      Given.Stated && Given.Stated->Model.Branch && !Given.Spec.Model.Branch;
  if (T.ExpertLoad.isPresent() || LacksBranch ||
      llvm::any_of(Given.Spec.Model.Blocks, [](const BlockSpec &B) {
        return !B.Receives.empty() || !B.Shares.empty();
      }))
    return std::nullopt;
  Structure S(Given);
  for (const Located<int64_t> *F : decidingNumbers(S.P)) {
    const ExprId Of = ::numberOf(S.P, *F);
    S.P.Checks.insert(S.P.Checks.begin(),
                      {Check::Kind::Decision, Of, S.P.Sizes.value(Of)});
  }
  const ParallelSpec &Par = Given.Spec.Parallel;
  if (Given.Facts.contains(Fact::Sync) && hasFsdpBuffers(Given))
    return std::nullopt;
  if (Given.Facts.contains(Fact::Sync) && *Par.Zero == 1 &&
      Par.OverlapGradReduce.is(true)) {
    const Expr Rests = GradientBuffers(S.P).rests();
    if (Rests.value() != 0) // how buckets are filled is no expression
      return std::nullopt;
    S.P.Checks.insert(S.P.Checks.begin(),
                      {Check::Kind::Decision, ExprId(Rests), 0});
  }
  std::vector<ExprId> Wanted;
  for (const Check &C : S.P.Checks)
    Wanted.push_back(C.Of);
  if (S.isRefusal()) {
    S.Legality = ExprCode(S.P.Sizes, Wanted);
    return S;
  }
  if (!Given.Facts.contains(Fact::Totalled) ||
      *Given.Spec.Parallel.Partition == PartitionKind::Balanced)
    return std::nullopt;
  for (Located<int64_t> *F : StageSplitter::numbersOf(S.P.Spec.Parallel))
    Wanted.push_back(::numberOf(S.P, *F));
  for (const Axis A : allAxes())
    Wanted.push_back(sizeOf(S.P, A));
  S.Legality = ExprCode(S.P.Sizes, Wanted);
  return S;
}

std::array<Located<int64_t> *, NumSplitNumbers>
StageSplitter::numbersOf(ParallelSpec &P) {
  return {&P.Pp,
          &P.Vpp,
          &P.Ga,
          &P.MicroBatchGroup,
          &P.FirstStageLayers,
          &P.LastStageLayers};
}

StageSplitter::StageSplitter(const Structure &S, const ExprCode &Figures,
                             std::shared_ptr<StageSplits> Known)
    : Known(std::move(Known)) {
  if (S.isRefusal())
    return;
  const Program &P = S.program();
  Scratch.Spec = P.Spec;
  Scratch.Layers = P.Layers;
  SplitNumbers Own;
  for (const auto &[F, Number] :
       llvm::zip_equal(numbersOf(Scratch.Spec.Parallel), Own))
    Number = F->isPresent() ? **F : 0;
  Expected = split(Own)->Counts;
  auto AddRead = [&](llvm::ArrayRef<StageCount> Counts, size_t First) {
    for (const auto &[Index, Count] : llvm::enumerate(Counts))
      if (const auto Leaf = Figures.findLeaf(Count.first)) {
        Read.push_back(First + Index);
        Leaves.push_back(*Leaf);
      }
  };
  AddRead(Expected, 0);
  if (!P.Spec.Cluster)
    return;
  const LinkCounter OfLinks(P);
  const size_t NumRead = Read.size();
  AddRead(OfLinks.count(sendsOfStages(P), P.Mesh), Expected.size());
  if (Read.size() != NumRead)
    Links.emplace(OfLinks);
}

/// Drops kept results if there are too many.
template <typename MapT> static void limit(MapT &Kept) {
  constexpr size_t MaxKept = size_t(1) << 14;
  if (Kept.size() >= MaxKept)
    Kept.clear();
}

const std::optional<StageSplit> &StageSplitter::split(const SplitNumbers &Of) {
  limit(*Known);
  const auto [It, IsNew] = Known->try_emplace(Of);
  if (!IsNew)
    return It->second;
  for (const auto &[F, Value] :
       llvm::zip_equal(numbersOf(Scratch.Spec.Parallel), Of))
    F->Value = Value;
  Scratch.Stages.clear();
  DiagnosticEngine Ignored;
  if (buildSchedule(Scratch, Ignored) && assignStages(Scratch, Ignored))
    It->second = {countStages(Scratch), sendsOfStages(Scratch)};
  return It->second;
}

std::optional<std::vector<int64_t>> StageSplitter::valuesOf(const Numbers &Of) {
  const std::optional<StageSplit> &Split = split(Of.first);
  if (!Split || !llvm::equal(llvm::make_first_range(Split->Counts),
                             llvm::make_first_range(Expected)))
    return std::nullopt;
  std::vector<StageCount> OfLinks;
  if (Links) {
    Mesh M;
    M.Size = Of.second;
    OfLinks = Links->count(Split->Sends, M);
  }
  std::vector<int64_t> Out;
  for (const size_t Index : Read)
    Out.push_back(Index < Expected.size()
                      ? Split->Counts[Index].second
                      : OfLinks[Index - Expected.size()].second);
  return Out;
}

const std::vector<int64_t> *StageSplitter::find(const SplitNumbers &Of,
                                                const MeshNumbers &M) {
  Numbers All = {Of, {}};
  if (Links) // without links the mesh does not matter
    All.second = M;
  auto It = Values.find(All);
  if (It == Values.end()) {
    limit(Values);
    It = Values.emplace(All, valuesOf(All)).first;
  }
  return It->second ? &*It->second : nullptr;
}

void StructureRow::set(Key K, int64_t Value) {
  if (const auto Leaf = S.legality().findLeaf(K))
    Legality.set(*Leaf, Value);
}

/// The first of \p Checks that the jobs of \p Legality do not pass, as a row of
/// it says.
static size_t findViolated(llvm::ArrayRef<Check> Checks,
                           RowEvaluator &Legality) {
  size_t Index = 0;
  while (Index < Checks.size() && Checks[Index].passes(Legality.value(Index)))
    ++Index;
  return Index;
}

/// Returns the verdict on a job whose first failing check is \p Violated.
static Verdict verdictOf(const Structure &S, size_t Violated) {
  const llvm::ArrayRef<Check> Checks = S.program().Checks;
  if (Violated == Checks.size())
    return S.isRefusal() ? Verdict::Foreign : Verdict::Accepted;
  return Checks[Violated].Is == Check::Kind::Decision ? Verdict::Foreign
                                                      : Verdict::Rejected;
}

Verdict StructureRow::check() {
  Legality.restart();
  Violated = findViolated(S.program().Checks, Legality);
  return verdictOf(S, Violated);
}

StructureColumns::StructureColumns(const Structure &S, const ExprCode &Of,
                                   std::shared_ptr<StageSplits> Known,
                                   const ColumnStorage &In)
    : S(S), Of(Of), Stages(S, Of, std::move(Known)),
      Legality(S.legality(), In.Legality), Figures(Of, In.Figures),
      One(S.legality()), Only(Of.leaves().size()) {
  for (const auto &[Index, L] : llvm::enumerate(Of.leaves())) {
    Shared.push_back(S.legality().findLeaf(L.Key));
    if (!Shared.back()) {
      Only[Index] = std::make_unique<ir::ColumnEvaluator::Column>();
      Only[Index]->fill(L.Value);
    }
  }
}

llvm::MutableArrayRef<int64_t> StructureColumns::column(Key K) {
  if (const auto Leaf = S.legality().findLeaf(K))
    return Legality.leaf(*Leaf);
  if (const auto Leaf = Of.findLeaf(K))
    return *Only[*Leaf];
  return {};
}

/// The first check that a job does not pass, whatever numbers it lacks.
size_t StructureColumns::checkOne(size_t Job) {
  for (size_t Leaf = 0; Leaf < S.legality().leaves().size(); ++Leaf)
    One.set(Leaf, Legality.valuesOfLeaf(Leaf)[Job]);
  One.restart();
  return findViolated(S.program().Checks, One);
}

/// Sets which check is the first that a job does not pass.
void StructureColumns::check(size_t Count) {
  const llvm::ArrayRef<Check> Checks = S.program().Checks;
  std::fill_n(Violated.begin(), Count, static_cast<uint32_t>(Checks.size()));
  // The first one is the last that is written.
  for (size_t C = Checks.size(); C-- > 0;) {
    const llvm::ArrayRef<int64_t> Values = Legality.values(C);
    const auto Index = static_cast<uint32_t>(C);
    switch (Checks[C].Is) {
    case Check::Kind::Decision:
      for (size_t I = 0; I < Count; ++I)
        Violated[I] = Values[I] == Checks[C].Decided ? Violated[I] : Index;
      break;
    case Check::Kind::Condition:
      for (size_t I = 0; I < Count; ++I)
        Violated[I] = Values[I] > 0 ? Violated[I] : Index;
      break;
    case Check::Kind::Existence: // jobs that lack numbers come below
      break;
    }
  }
  for (size_t I = 0; I < Count; ++I)
    if (!Legality.exists(I))
      Violated[I] = static_cast<uint32_t>(checkOne(I));
}

/// Sets the verdicts of checks, without those of figures.
void StructureColumns::judge(size_t Count) {
  check(Count);
  for (size_t I = 0; I < Count; ++I)
    Verdicts[I] = verdictOf(S, Violated[I]);
}

/// Puts the leaves of accepted jobs side by side; how many there are.
size_t StructureColumns::gather(size_t Count) {
  const Program &P = S.program();
  const size_t FirstNumber = P.Checks.size();
  std::array<size_t, BlockSize> Jobs;
  size_t Accepted = 0;
  SplitNumbers Last = {};
  MeshNumbers LastMesh = {};
  const std::vector<int64_t> *Counts = nullptr;
  for (size_t I = 0; I < Count; ++I) {
    if (Verdicts[I] != Verdict::Accepted)
      continue;
    SplitNumbers Numbers;
    for (size_t N = 0; N < Numbers.size(); ++N)
      Numbers[N] = Legality.values(FirstNumber + N)[I];
    MeshNumbers M;
    for (size_t N = 0; N < M.size(); ++N)
      M[N] = Legality.values(FirstNumber + Numbers.size() + N)[I];
    if (!Counts || Numbers != Last ||
        M != LastMesh) // neighbours are often alike
      Counts = Stages.find(Numbers, M);
    Last = Numbers;
    LastMesh = M;
    if (!Counts) {
      Verdicts[I] = Verdict::Foreign;
      continue;
    }
    for (const auto &[Leaf, Value] : llvm::zip_equal(Stages.leaves(), *Counts))
      Figures.leaf(Leaf)[Accepted] = Value;
    Places[I] = static_cast<uint32_t>(Accepted);
    Jobs[Accepted++] = I;
  }
  for (size_t Leaf = 0; Leaf < Shared.size(); ++Leaf) {
    const KeyId Id = Of.leaves()[Leaf].Key.Id;
    if (isOfStage(Id))
      continue;
    const llvm::ArrayRef<int64_t> From =
        Shared[Leaf] ? Legality.valuesOfLeaf(*Shared[Leaf])
                     : llvm::ArrayRef<int64_t>(*Only[Leaf]);
    llvm::MutableArrayRef<int64_t> To = Figures.leaf(Leaf);
    for (size_t I = 0; I < Accepted; ++I)
      To[I] = From[Jobs[I]];
  }
  return Accepted;
}

void StructureColumns::run(size_t Count) {
  Legality.run(Count);
  judge(Count);
  Figures.run(gather(Count));
  for (size_t I = 0; I < Count; ++I)
    if (Verdicts[I] == Verdict::Accepted && !Figures.exists(Places[I]))
      Verdicts[I] = Verdict::Overflow;
}
