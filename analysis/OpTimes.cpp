// SPDX-License-Identifier: Apache-2.0
#include "analysis/OpTimes.h"
#include "analysis/Analyses.h"
#include "analysis/CollectiveTimes.h"
#include "analysis/KernelTimes.h"
#include "ir/model/OpKinds.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <map>
#include <tuple>

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// A row of ProfileSections.def.
struct SectionRow {
  OpKind Kind;
  llvm::StringLiteral Module;
};
constexpr SectionRow SectionRows[] = {
#define SECTION(KIND, MODULE, NAME) {OpKind::KIND, MODULE},
#include "analysis/ProfileSections.def"
};
constexpr llvm::StringLiteral Sections[] = {
#define SECTION(KIND, MODULE, NAME) NAME,
#include "analysis/ProfileSections.def"
};

/// Times the ops of one block.
class BlockTimer {
public:
  BlockTimer(ExprScope P, const Block &B, CollectiveTimes *Places)
      : P(P), B(B), Times(B.Ops.size()) {
    if (Places)
      Links.emplace(P, *Places);
  }

  std::vector<OpTime> run();

private:
  OpTime profiled(const Op &O) const;
  OpTime roofline(const Op &O) const;
  OpTime estimated(const Op &O);
  OpTime perMillion(const Op &O) const;
  void estimateCollectives();
  void estimateTogether(llvm::ArrayRef<size_t> Ops);
  Expr lawOf(const Op &O, Expr All) const;
  void share(bool IsBackward);
  template <typename FnT> void forEachCompute(FnT Time);

  ExprScope P;
  const Block &B;
  std::optional<CollectiveLaws> Links; ///< none without a cluster
  std::optional<KernelTimes> Laws;     ///< made for the first op without one
  std::vector<OpTime> Times;
};

} // namespace

llvm::ArrayRef<llvm::StringLiteral> foretrace::allSections() {
  return Sections;
}

llvm::StringRef foretrace::sectionOf(const Op &O) {
  for (const auto &[Row, Name] : llvm::zip_equal(SectionRows, Sections))
    if (Row.Kind == O.Kind && Row.Module == O.Name)
      return Name;
  return "";
}

Nanoseconds foretrace::timeAtRate(int64_t Amount, int64_t PerSecond) {
  const __int128 Scaled = static_cast<__int128>(Amount) * 1000000000;
  const __int128 Time = (Scaled + PerSecond - 1) / PerSecond;
  return Time > INT64_MAX ? Nanoseconds::overflow()
                          : Nanoseconds(static_cast<int64_t>(Time));
}

Nanoseconds foretrace::roundedTime(double Seconds) {
  const double Time = Seconds * 1e9;
  return Time < 0x1p62 ? Nanoseconds(std::llrint(Time))
                       : Nanoseconds::overflow();
}

std::string foretrace::nameOfShared(const Block &B, bool IsBackward) {
  return (IsBackward ? "backward." : "forward.") + B.Name;
}

const DeviceSpec::Peak &foretrace::peakOf(const Block &B, const Op &O) {
  return DeviceSpec::peakOf(
      O.IsLowPrecision && O.Kind == OpKind::MatMul
          ? static_cast<TypeKind>(B.Values[O.Operands.front()].Type.Element)
          : TypeKind::BF16);
}

static bool isTimed(const Op &O) {
  return !isCollective(O.Kind) && !isView(O.Kind);
}

std::vector<const Op *> foretrace::sharersOf(const Block &B, bool IsBackward) {
  std::vector<const Op *> Ops;
  for (const Op &O : B.Ops)
    if (isTimed(O) && O.Phase != Phase::Step &&
        (O.Phase != Phase::Forward) == IsBackward)
      Ops.push_back(&O);
  return Ops;
}

OpTime BlockTimer::profiled(const Op &O) const {
  const ProfileTime *T = P->Spec.Cost.findTime(sectionOf(O));
  return T ? OpTime{TimeRule::Section, T->nanoseconds(), T} : OpTime();
}

/// max(FLOPs / peak, bytes touched / bandwidth), rounded up.
OpTime BlockTimer::roofline(const Op &O) const {
  OpTime T{TimeRule::Roofline, Nanoseconds::overflow(), nullptr, {}, {}, {}};
  T.Touched = O.Touched.Id.isValid() ? O.Touched : touchedBytes(P, B, O);
  const DeviceSpec &D = P->Spec.Cost.Device;
  const Bytes Touched = P.Sizes.value(T.Touched);
  if (Touched.isOverflow())
    return T;
  const Located<FlopRate> &Peak = D.*peakOf(B, O).Member;
  const Nanoseconds OfCompute = timeAtRate(workOf(P, O).value(), *Peak),
                    OfMemory = timeAtRate(Touched.value(), *D.MemoryBandwidth);
  if (!OfCompute.isOverflow() && !OfMemory.isOverflow())
    T.Time = Nanoseconds(std::max(OfCompute.value(), OfMemory.value()));
  return T;
}

OpTime BlockTimer::estimated(const Op &O) {
  OpTime T{TimeRule::Estimate, {}, nullptr, {}, {}, O.Law};
  T.Touched = O.Touched.Id.isValid() ? O.Touched : touchedBytes(P, B, O);
  if (!T.Law.Id.isValid())
    T.Law = (Laws ? *Laws : Laws.emplace(P)).timeOf(B, O, T.Touched);
  T.Time = P.Sizes.value(T.Law);
  return T;
}

/// A whole times a part of others, rounded down; nothing of none.
static constexpr ExprFunction Share = {
    "share", [](llvm::ArrayRef<int64_t> Of) {
      const auto Product = static_cast<__int128>(Of[0]) * Of[1];
      return Of[2] == 0 ? 0 : static_cast<int64_t>(Product / Of[2]);
    }};

/// Returns the time of collectives like \p O of \p All bytes together. Buckets
/// are sent one after the other.
Expr BlockTimer::lawOf(const Op &O, Expr All) const {
  if (O.Messages.empty() || !All.hasValue())
    return All.value() == 0 ? numberOf(P, 0) : Links->timeOf(B, O, All);
  const Expr Whole = numberOf(P, *messageSum(O.Messages));
  Expr Sum = numberOf(P, 0);
  for (const MessagePeriod &Of : O.Messages)
    for (const BucketMessage &M : Of.Each) {
      const Expr Size(P.Sizes,
                      P.Sizes.call(Share, {P.at(O.Message),
                                           numberOf(P, M.Elements), Whole}));
      Sum += Links->timeOf(B, O, Size) * Of.Times;
    }
  return Sum;
}

/// Times \p Ops, whose messages are sent as one, and shares the time by bytes.
void BlockTimer::estimateTogether(llvm::ArrayRef<size_t> Ops) {
  llvm::SmallVector<ExprId, 8> Sizes;
  for (const size_t I : Ops)
    if (const ExprId Size = B.Ops[B.Ops.idAt(I)].Message.Id; Size.isValid())
      Sizes.push_back(Size);
    else
      Sizes.push_back(numberOf(P, 0));
  const Expr All = sumOf(P, Sizes);
  const Expr Whole = lawOf(B.Ops[B.Ops.idAt(Ops.front())], All);
  const bool IsShared = Ops.size() > 1 && All.value() != 0;
  Expr Done = numberOf(P, 0), Given = Done;
  for (const auto &[I, Size] : llvm::zip_equal(Ops, Sizes)) {
    Expr Law = Whole;
    if (IsShared) {
      Done = Done.plus(Size);
      const Expr Until(P.Sizes, P.Sizes.call(Share, {Whole, Done, All}));
      Law = Until + Given * -1;
      Given = Until;
    }
    Times[I] = {TimeRule::Collective, P.Sizes.value(TimeExpr(Law))};
    Times[I].Law = Law;
  }
}

/// ZeRO sends what it gathers, or reduces, of a layer as one message
/// (PyTorch's fully_shard; Megatron-FSDP, fsdp_unit_modules).
void BlockTimer::estimateCollectives() {
  if (!Links)
    return; // checked: there are no collectives
  using Unit = std::tuple<OpKind, Phase, std::string>;
  std::map<Unit, llvm::SmallVector<size_t, 8>> Units;
  for (const auto &[I, O] : llvm::enumerate(B.Ops)) {
    if (!isCollective(O.Kind))
      continue;
    if (O.Law.Id.isValid()) {
      Times[I] = {TimeRule::Collective, P.Sizes.value(O.Law)};
      Times[I].Law = O.Law;
      continue;
    }
    const bool IsOfZero =
        O.Phase != Phase::Step &&
        llvm::any_of(O.Group.Axes,
                     [](Axis A) { return A == Axis::Dp || A == Axis::Edp; }) &&
        (O.Kind == OpKind::AllGather || O.Kind == OpKind::ReduceScatter);
    if (IsOfZero)
      Units[{O.Kind, O.Phase, textOf(O.Group, P->Spec, P->Mesh)}].push_back(I);
    else
      estimateTogether(I);
  }
  for (const auto &[Of, Ops] : Units)
    estimateTogether(Ops);
}

/// The update of a stage's parameters.
OpTime BlockTimer::perMillion(const Op &O) const {
  const ProfileTime *Measured = P->Spec.Cost.findTime("optimizer");
  if (!Measured)
    return {};
  llvm::SmallVector<ExprId, 8> Of;
  for (ValueId V : O.Operands)
    Of.push_back(B.Values[V].OnRank.Id);
  const ElementExpr Parameters = sumOf(P, Of);
  const Elements Count = P.Sizes.value(Parameters);
  const Nanoseconds Time =
      Count.isOverflow()
          ? Nanoseconds::overflow()
          : Measured->nanoseconds(static_cast<double>(Count.value()), 1e6);
  return {TimeRule::PerMillion, Time, Measured, Parameters, {}, {}};
}

/// Divides it by work; in equal parts if no op has any.
void BlockTimer::share(bool IsBackward) {
  const std::vector<const Op *> Ops = sharersOf(B, IsBackward);
  const ProfileTime *Measured =
      P->Spec.Cost.findTime(nameOfShared(B, IsBackward));
  if (Ops.empty() || !Measured)
    return;
  __int128 Work = 0;
  for (const Op *O : Ops)
    Work += workOf(P, *O).value();
  const bool InEqualParts = Work == 0;
  if (InEqualParts)
    Work = static_cast<__int128>(Ops.size());
  const int64_t Total = Measured->nanoseconds().value();
  __int128 Done = 0;
  int64_t Given = 0;
  auto Next = Ops.begin();
  for (const auto &[Index, O] : llvm::enumerate(B.Ops)) {
    if (Next == Ops.end() || *Next != &O)
      continue;
    ++Next;
    Done += InEqualParts ? 1 : workOf(P, O).value();
    const auto Until = static_cast<int64_t>(Total * Done / Work);
    Times[Index] = {InEqualParts ? TimeRule::EqualPart : TimeRule::Share,
                    Nanoseconds(Until - Given), Measured};
    Given = Until;
  }
}

template <typename FnT> void BlockTimer::forEachCompute(FnT Time) {
  for (const auto &[O, Into] : llvm::zip_equal(B.Ops, Times))
    if (isTimed(O))
      Into = Time(O);
}

std::vector<OpTime> BlockTimer::run() {
  switch (*P->Spec.Cost.Kind) {
  case CostKind::Uncosted:
    break;
  case CostKind::Profile:
    forEachCompute([&](const Op &O) { return profiled(O); });
    break;
  case CostKind::Roofline:
    forEachCompute([&](const Op &O) { return roofline(O); });
    break;
  case CostKind::Estimate:
    forEachCompute([&](const Op &O) { return estimated(O); });
    estimateCollectives();
    break;
  case CostKind::Calibrated:
    forEachCompute([&](const Op &O) {
      return O.Kind == OpKind::Optimizer ? perMillion(O) : OpTime();
    });
    share(/*IsBackward=*/false);
    share(/*IsBackward=*/true);
    break;
  }
  return std::move(Times);
}

std::vector<OpTime> foretrace::timesOf(ExprScope P, const Block &B,
                                       CollectiveTimes *Places) {
  return BlockTimer(P, B, Places).run();
}
