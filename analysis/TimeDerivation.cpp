// SPDX-License-Identifier: Apache-2.0
#include "analysis/TimeDerivation.h"
#include "analysis/Derivation.h"
#include "analysis/LayerCounts.h"
#include "ir/model/Boundary.h"
#include "ir/model/Measure.h"
#include "ir/ranks/StepOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace llvm;

namespace foretrace {

TimeMaker::TimeMaker(const ir::Program &Of)
    : Of(Of), P(Of), Sizes(Of.Spec, P.Sizes) {
  if (*Of.Spec.Cost.Kind == ir::CostKind::Estimate && Of.Spec.Cluster)
    Places.emplace(Of);
}

static DerivedOperand timeOf(const ir::ProfileTime &T) {
  return makeStated(T.Section, T.nanoseconds().value(), "ns",
                    T.Value.isValid() ? T.Value : T.Range);
}

Derivation TimeMaker::measured(StringRef Name) const {
  const ir::ProfileTime *T = P->Spec.Cost.findTime(Name);
  return T ? makeDerivation("$0", {timeOf(*T)}) : makeDerivation("0", {});
}

static Derivation nothing(std::string Why) {
  Derivation D = makeDerivation("0", {});
  D.Note = std::move(Why);
  return D;
}

Derivation TimeMaker::none(const ir::Op &O) const {
  if (*P->Spec.Cost.Kind == ir::CostKind::Uncosted)
    return nothing("the job has no `cost`");
  if (isView(O.Kind))
    return nothing("it moves nothing");
  const bool IsProfile = *P->Spec.Cost.Kind == ir::CostKind::Profile;
  const StringRef Name = IsProfile ? sectionOf(O) : "optimizer";
  return nothing(Name.empty() ? "no measured time is of it"
                              : ("`" + Name + "` is not measured").str());
}

/// Derives the share of a measured time: what the ops before \p O leave of it.
Derivation TimeMaker::share(const ir::Op &O, const OpTime &T) {
  const bool IsBackward = O.Phase != ir::Phase::Forward;
  const std::vector<const ir::Op *> Ops = sharersOf(blockOf(Of, O), IsBackward);
  const auto Place = static_cast<size_t>(find(Ops, &O) - Ops.begin());
  if (T.By == TimeRule::EqualPart) {
    Derivation D = makeDerivation("floor($0*" + std::to_string(Place + 1) +
                                      "," + std::to_string(Ops.size()) +
                                      ")-floor($0*" + std::to_string(Place) +
                                      "," + std::to_string(Ops.size()) + ")",
                                  {timeOf(*T.Measured)});
    D.Note = "in equal parts, since no op of the pass has FLOPs";
    return D;
  }
  SmallVector<ir::ExprId, 16> Before, All;
  for (const auto &[Index, Other] : enumerate(Ops)) {
    if (!Other->Work.Id.isValid())
      continue;
    All.push_back(Other->Work.Id);
    if (Index < Place)
      Before.push_back(Other->Work.Id);
  }
  const ir::ExprId Own =
      O.Work.Id.isValid() ? O.Work.Id : ir::ExprId(ir::numberOf(P, 0));
  return makeDerivation("floor($0*($1+$2),$3)-floor($0*$1,$3)",
                        {timeOf(*T.Measured),
                         Sizes.part("before", ir::sumOf(P, Before), "FLOPs"),
                         Sizes.part("work", Own, "FLOPs"),
                         Sizes.part("all", ir::sumOf(P, All), "FLOPs")});
}

/// Derives the time of \p Amount at \p Rate, an amount per second.
static Derivation atRate(DerivedOperand Amount, DerivedOperand Rate) {
  return makeDerivation("ceil($0*1000000000,$1)",
                        {std::move(Amount), std::move(Rate)});
}

static int64_t valueAtRate(const Derivation &D) {
  return timeAtRate(D.Operands[0].Value, D.Operands[1].Value).value();
}

Derivation TimeMaker::roofline(const ir::Op &O, const OpTime &T) {
  const ir::DeviceSpec &D = P->Spec.Cost.Device;
  Derivation Memory = atRate(Sizes.part("touched", T.Touched.Id, "bytes"),
                             makeStated("memory_bandwidth", *D.MemoryBandwidth,
                                        "B/s", D.MemoryBandwidth.Range));
  if (!O.Work.Id.isValid())
    return Memory;
  const ir::DeviceSpec::Peak &Peak = peakOf(blockOf(Of, O), O);
  const Located<ir::FlopRate> &Rate = D.*Peak.Member;
  Derivation Compute =
      atRate(Sizes.part("work", O.Work.Id, "FLOPs"),
             makeStated(Peak.Key.data(), *Rate, "FLOP/s", Rate.Range));
  const int64_t OfCompute = valueAtRate(Compute);
  const int64_t OfMemory = valueAtRate(Memory);
  return makeDerivation(
      "max($0,$1)",
      {makeDerived("compute", OfCompute, "ns", std::move(Compute)),
       makeDerived("memory", OfMemory, "ns", std::move(Memory))});
}

Derivation TimeMaker::estimate(const OpTime &T) {
  Derivation D = Sizes.derive(T.Law.Id);
  D.Note = "by the law of its kernel (docs/time.md)";
  return D;
}

Derivation TimeMaker::collective(const ir::Op &O, const OpTime &T) {
  Derivation D = Sizes.derive(T.Law.Id);
  D.Note = "by the law of its collective (docs/time.md), " +
           Places->describe(O) +
           "; ZeRO sends what it gathers or reduces of a layer as one message";
  if (const int64_t Count = messageCount(O); Count > 1)
    D.Note += "; this is the sum of " + std::to_string(Count) + " buckets";
  return D;
}

Derivation TimeMaker::collective(ir::OpKind Kind, const ir::Group &G,
                                 int64_t Size) {
  if (!Places)
    return nothing("the job has no cluster");
  ir::Op Like; // those that are ops may share copies of tokens; this does not
  Like.Kind = Kind;
  Like.Group = G;
  Derivation D =
      Sizes.derive(CollectiveLaws(P, *Places)
                       .timeOf(ir::Block(), Like, ir::numberOf(P, Size)));
  D.Note =
      "by the law of its collective (docs/time.md), " + Places->describe(Like);
  return D;
}

Derivation TimeMaker::derive(const ir::Op &O) {
  const ir::Block &B = blockOf(Of, O);
  auto [It, IsNew] = Known.try_emplace(&B);
  if (IsNew)
    It->second = timesOf(P, B, Places ? &*Places : nullptr);
  const OpTime &T = It->second[static_cast<size_t>(&O - &*B.Ops.begin())];
  assert(T.Time == O.Time && "of another cost");
  switch (T.By) {
  case TimeRule::None:
    return none(O);
  case TimeRule::Section:
    return makeDerivation("$0", {timeOf(*T.Measured)});
  case TimeRule::Share:
  case TimeRule::EqualPart:
    return share(O, T);
  case TimeRule::PerMillion: {
    const ir::ProfileTime &M = *T.Measured;
    return makeDerivation(
        "floor($0*$1+500000000,1000000000)",
        {makeStated(M.Section, std::llrint(M.Microseconds * 1e6), "ps",
                    timeOf(M).Range),
         Sizes.part("parameters", T.Parameters.Id, "elements")});
  }
  case TimeRule::Roofline:
    return roofline(O, T);
  case TimeRule::Estimate:
    return estimate(T);
  case TimeRule::Collective:
    return collective(O, T);
  }
  llvm_unreachable("every rule is handled");
}

/// Names the time of \p O, `linear_qkv.dgrad`; recomputed ops have a prefix,
/// and ops with the name of another one have a number.
std::string TimeMaker::nameOf(const ir::Op &O, const Derivation &Among) const {
  const StringRef Again = O.Phase == ir::Phase::Recompute ? "recompute." : "";
  const std::string Name = (Again + O.Name + getSuffix(O.Derivative)).str();
  const auto Alike = count_if(Among.Operands, [&](const DerivedOperand &Other) {
    StringRef Rest = Other.Name;
    return Rest.consume_front(Name) && Rest.trim(".0123456789").empty();
  });
  return Alike ? Name + "." + std::to_string(Alike + 1) : Name;
}

DerivedFigure TimeMaker::make(std::string What, ArrayRef<const ir::Op *> Ops) {
  Derivation Sum;
  Nanoseconds Time;
  for (const ir::Op *O : Ops) {
    if (O->Time == Nanoseconds())
      continue;
    Time += O->Time;
    Sum.Operands.push_back(
        makeDerived(nameOf(*O, Sum), O->Time.value(), "ns", derive(*O)));
  }
  if (Sum.Operands.empty())
    return {std::move(What), 0, "ns",
            nothing(*P->Spec.Cost.Kind == ir::CostKind::Uncosted
                        ? "the job has no `cost`"
                        : "none of its ops takes time")};
  auto Join = [&](auto Of) { return join(map_range(Sum.Operands, Of), "+"); };
  Sum.Names = Join([](const DerivedOperand &O) { return O.Name; });
  Sum.Numbers =
      Join([](const DerivedOperand &O) { return std::to_string(O.Value); });
  return {std::move(What), Time.isOverflow() ? ir::NoValue : Time.value(), "ns",
          std::move(Sum)};
}

/// Derives the sum of \p Operands, each as often as \p Counts says.
static Derivation weightedSum(std::vector<DerivedOperand> Operands,
                              ArrayRef<int64_t> Counts) {
  std::vector<std::string> Terms;
  for (const auto &[Index, Count] : enumerate(Counts))
    Terms.push_back((Count == 1 ? "$" : std::to_string(Count) + "*$") +
                    std::to_string(Index));
  return makeDerivation(join(Terms, "+"), std::move(Operands));
}

static int64_t sumOfTimes(ArrayRef<DerivedOperand> Operands) {
  int64_t Sum = 0;
  for (const DerivedOperand &O : Operands)
    Sum += O.Value;
  return Sum;
}

/// Derives what \p Ops take, one after the other, without what is hidden of
/// collectives.
DerivedOperand TimeMaker::exposed(std::string Name,
                                  ArrayRef<const ir::Op *> Ops) {
  Derivation Sum;
  for (const ir::Op *O : Ops) {
    if (O->exposed() == Nanoseconds())
      continue;
    Derivation Of = derive(*O);
    if (O->Hidden != Nanoseconds())
      Of = makeDerivation(
          "$0-$1",
          {makeDerived("time", O->Time.value(), "ns", std::move(Of)),
           makeDerived("hidden", O->Hidden.value(), "ns",
                       Sizes.derive(O->HiddenLaw.Id))});
    Sum.Operands.push_back(makeDerived(nameOf(*O, Sum), O->exposed().value(),
                                       "ns", std::move(Of)));
  }
  const int64_t Time = sumOfTimes(Sum.Operands);
  const std::vector<int64_t> Once(Sum.Operands.size(), 1);
  return makeDerived(std::move(Name), Time, "ns",
                     weightedSum(std::move(Sum.Operands), Once));
}

Derivation TimeMaker::message(DerivedOperand Bytes) {
  Derivation D = makeDerivation("message($0)", {std::move(Bytes)});
  D.Note = "by the law of messages (docs/time.md)";
  return D;
}

Derivation TimeMaker::step(const ir::LayerSequence &Layers, ir::ActionKind Step,
                           Nanoseconds Time) {
  std::vector<DerivedOperand> Blocks;
  std::vector<int64_t> Counts;
  int64_t OfKernels = 0;
  for (const auto &[Index, Count] : layersByBlock(Layers)) {
    const ir::Block &B = Of.Blocks[ir::BlockId(Index)];
    std::vector<const ir::Op *> Ops;
    for (const auto &[O, Action] : zip_equal(B.Ops, actionsOf(B)))
      if (ir::runs(Step, Action))
        Ops.push_back(&O);
    DerivedOperand OfBlock =
        exposed(B.Name + "." + ir::getName(Step).str(), Ops);
    if (OfBlock.Value == 0)
      continue;
    OfKernels += OfBlock.Value * Count;
    Blocks.push_back(std::move(OfBlock));
    Counts.push_back(Count);
  }
  if (const int64_t Rest = Time.value() - OfKernels) {
    DerivedOperand Host;
    Host.Name = "launches";
    Host.Value = Rest;
    Host.Unit = "ns";
    Host.Counts = "as far as the host launches kernels later than the one "
                  "before ends";
    Blocks.push_back(std::move(Host));
    Counts.push_back(1);
  }
  return weightedSum(std::move(Blocks), Counts);
}

/// Derives the time of a step of a stage, or of a message.
DerivedOperand TimeMaker::step(const PathStep &Step) {
  const std::string Kind = ir::getName(Step.Action.Kind).str();
  const std::string Stage = "stage" + std::to_string(Step.Stage);
  if (ir::isMessage(Step.Action.Kind)) {
    const ir::PipelineMessage M =
        *ir::messageOf(Of.Schedule, Step.Stage, Step.Action);
    const ir::Expr Size =
        ir::boundarySize(P, ir::boundaryAfter(Of, M.Part, M.IsForward));
    return makeDerived(
        Stage + "." + Kind, Step.Time.value(), "ns",
        message(makeDerived("bytes", Size.value(), "", Sizes.derive(Size))));
  }
  const std::string Chunk = Of.Schedule.Chunks > 1
                                ? ".chunk" + std::to_string(Step.Action.Chunk)
                                : "";
  return makeDerived(
      Stage + Chunk + "." + Kind, Step.Time.value(), "ns",
      step(stageAt(Of.Stages, Step.Stage).layersOf(Step.Action.Chunk),
           Step.Action.Kind, Step.Time));
}

Derivation TimeMaker::iteration(const CriticalPath &Path) {
  if (!Path.IsExact)
    return nothing("the schedule has too many steps to name the longest chain");
  std::vector<DerivedOperand> Steps;
  std::vector<int64_t> Counts;
  for (const PathStep &S : Path.Steps) {
    Steps.push_back(step(S));
    Counts.push_back(S.Count);
  }
  std::vector<const ir::Op *> Update;
  for (const ir::Op &O : Of.Blocks[stageAt(Of.Stages, Path.Last).Step].Ops)
    Update.push_back(&O);
  DerivedOperand Last =
      exposed("stage" + std::to_string(Path.Last) + ".update", Update);
  if (Last.Value != 0) {
    Steps.push_back(std::move(Last));
    Counts.push_back(1);
  }
  Derivation D = weightedSum(std::move(Steps), Counts);
  D.Note = "the longest chain of steps and messages, and the update of the "
           "stage where it ends";
  return D;
}

} // namespace foretrace
