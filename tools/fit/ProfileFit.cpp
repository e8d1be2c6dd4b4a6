// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/ProfileFit.h"
#include "ir/model/OpKinds.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <unsupported/Eigen/NonLinearOptimization>
#include <unsupported/Eigen/NumericalDiff>

using namespace llvm;

namespace foretrace::fit {

using Id = ir::KernelParameterId;

/// Returns the estimated duration of a measured kernel or collective.
static double estimate(const Measurement &M, const LawParameters &With,
                       const ir::DeviceSpec &Device) {
  return std::visit(
      [&](const auto &Shape) {
        using ShapeT = std::decay_t<decltype(Shape)>;
        if constexpr (std::is_same_v<ShapeT, CollectiveShape>)
          return LinkLaws(With).timeOf(Shape.Kind, Shape.At, Shape.Size);
        else
          return KernelLaws(With, Device).timeOf(Shape);
      },
      M.Shape);
}

/// A family by its name and parameters.
using FamilyKey = std::pair<std::string, std::vector<Id>>;

static FamilyKey familyOf(const ProductShape &S) {
  if (S.IsGrouped)
    return {"products of experts", {Id::GroupedRows, Id::GroupedInner}};
  if (!isScaled(S.Operand))
    return {"products in bf16",
            {Id::ProductEfficiency, Id::ProductMemory, Id::ProductStart,
             Id::ProductK0}};
  if (ir::getInfo(S.Operand).Bits == 8)
    return {"products in fp8",
            {Id::Fp8Efficiency, Id::Fp8Memory, Id::Fp8Start, Id::Fp8K0}};
  return {"products in fp4",
          {Id::Fp4Efficiency, Id::Fp4Memory, Id::Fp4Start, Id::Fp4K0}};
}

static FamilyKey familyOf(const AttentionShape &) {
  return {"attention",
          {Id::AttentionEfficiency, Id::AttentionStart, Id::AttentionS0,
           Id::AttentionBackward}};
}

static FamilyKey familyOf(const StreamShape &S) {
  switch (S.Class) {
  case KernelClass::Scan:
    return {"scans", {Id::ScanEfficiency}};
  case KernelClass::Optimizer:
    return {"optimizer", {Id::OptimizerEfficiency, Id::OptimizerStart}};
  default:
    return {"other kernels", {Id::StreamEfficiency, Id::StreamStart}};
  }
}

static FamilyKey familyOf(const CollectiveShape &S) {
  const std::string Name = getMnemonic(S.Kind).str();
  if (S.Kind == ir::OpKind::Ring || S.Kind == ir::OpKind::Broadcast)
    return {"messages", {Id::MessageStart}};
  if (S.At.isWithin()) {
    const auto Of = LinkLaws::parametersOf(S.Kind);
    return {Name + " within domains", {Of.begin(), Of.end()}};
  }
  if (S.Kind == ir::OpKind::AllToAll)
    return {Name + " between domains", {Id::ExchangeStart, Id::NicExchange}};
  return {"rings between domains",
          {Id::RingInner, Id::RingOuter, Id::NicEfficiency}};
}

namespace {

/// A parameter as an unbounded number: the logarithm, of one more if it can be
/// 0.
class Scale {
public:
  explicit Scale(Id Of)
      : Info(ir::getInfo(Of)), Added(Info.Least > 0 ? 0 : 1) {}

  double toNumber(double Value) const { return std::log(Value + Added); }
  double toValue(double Number) const {
    const double Value = std::exp(std::min(Number, 100.0)) - Added;
    return std::clamp(Value, Info.Least, Info.Most);
  }

private:
  const ir::KernelParameterInfo &Info;
  double Added;
};

/// Logarithms of estimated by measured durations, and how far each parameter is
/// from before, for Eigen's solver.
class Residuals {
public:
  // Names and types that Eigen's solver expects.
  using Scalar = double;
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;
  enum {
    InputsAtCompileTime = Eigen::Dynamic,
    ValuesAtCompileTime = Eigen::Dynamic
  };

  Residuals(const FittedFamily &Of, ArrayRef<const Measurement *> Rows,
            const LawParameters &Start, const ir::DeviceSpec &Device)
      : Of(Of), Rows(Rows), Start(Start), Device(Device) {}

  int inputs() const { return static_cast<int>(Of.Parameters.size()); }
  int values() const { return static_cast<int>(Rows.size()) + inputs(); }

  InputType start() const {
    InputType X(inputs());
    for (int I = 0; I < inputs(); ++I)
      X[I] = scaleOf(I).toNumber(Start[idOf(I)]);
    return X;
  }
  LawParameters parametersAt(const InputType &X) const {
    LawParameters With = Start;
    for (int I = 0; I < inputs(); ++I)
      With.set(idOf(I), scaleOf(I).toValue(X[I]));
    return With;
  }
  int operator()(const InputType &X, ValueType &Out) const {
    const LawParameters With = parametersAt(X);
    const InputType From = start();
    int At = 0;
    for (const Measurement *M : Rows)
      Out[At++] = std::log(estimate(*M, With, Device) / M->Seconds);
    // So weak that a single measurement outweighs it.
    constexpr double WeightOfStart = 1e-3;
    for (int I = 0; I < inputs(); ++I)
      Out[At++] = WeightOfStart * (X[I] - From[I]);
    return 0;
  }

private:
  Id idOf(int I) const { return Of.Parameters[static_cast<size_t>(I)]; }
  Scale scaleOf(int I) const { return Scale(idOf(I)); }

  const FittedFamily &Of;
  ArrayRef<const Measurement *> Rows;
  const LawParameters &Start;
  const ir::DeviceSpec &Device;
};

} // namespace

static LawParameters solve(const FittedFamily &Of,
                           ArrayRef<const Measurement *> Rows,
                           const LawParameters &Start,
                           const ir::DeviceSpec &Device) {
  Residuals R(Of, Rows, Start, Device);
  Eigen::NumericalDiff<Residuals> WithSlopes(R);
  Eigen::LevenbergMarquardt<Eigen::NumericalDiff<Residuals>> Solver(WithSlopes);
  Eigen::VectorXd X = R.start();
  Solver.minimize(X);
  return R.parametersAt(X);
}

double ProfileFit::errorOf(const Measurement &M,
                           const LawParameters &With) const {
  return std::abs(estimate(M, With, Device) / M.Seconds - 1);
}

ProfileFit::ProfileFit(const ir::Spec &Job, ArrayRef<Measurement> Measured)
    : Job(Job), Device(Job.rooflineDevice()), Before(Job.Cost),
      After(Job.Cost) {
  for (const Measurement &M : Measured) {
    FamilyKey Key =
        std::visit([](const auto &S) { return familyOf(S); }, M.Shape);
    auto It = find_if(
        Families, [&](const FittedFamily &F) { return F.Name == Key.first; });
    if (It == Families.end())
      It = Families.insert(It,
                           {std::move(Key.first), std::move(Key.second), {}});
    It->Rows.push_back(&M);
  }
  const auto Complete = std::stable_partition(
      Families.begin(), Families.end(), [&](const FittedFamily &F) {
        return all_of(F.Parameters, [&](Id P) { return Before.has(P); });
      });
  Incomplete.assign(Complete, Families.end());
  Families.erase(Complete, Families.end());
  // These read parameters of the others, too.
  std::stable_partition(Families.begin(), Families.end(),
                        [](const FittedFamily &F) {
                          return F.Parameters.front() != Id::GroupedRows &&
                                 F.Parameters.front() != Id::MessageStart;
                        });
  for (FittedFamily &Of : Families)
    fit(Of);
}

void ProfileFit::fit(FittedFamily &Of) {
  std::vector<const Measurement *> Rows = Of.Rows;
  const LawParameters Start = After;
  LawParameters Found = solve(Of, Rows, Start, Device);
  constexpr size_t Tenth = 10;
  if (Rows.size() >= Tenth) {
    llvm::stable_sort(Rows, [&](const Measurement *A, const Measurement *B) {
      return errorOf(*A, Found) < errorOf(*B, Found);
    });
    Rows.resize(Rows.size() - Rows.size() / Tenth);
    Found = solve(Of, Rows, Start, Device);
  }
  for (const Id P : Of.Parameters)
    After.set(P, Found[P]);
  for (const Measurement *M : Of.Rows) {
    const double Error = errorOf(*M, After);
    Of.MeanBefore += errorOf(*M, Start);
    Of.Mean += Error;
    Of.Worst = std::max(Of.Worst, Error);
  }
  Of.MeanBefore /= static_cast<double>(Of.Rows.size());
  Of.Mean /= static_cast<double>(Of.Rows.size());
}

/// Returns \p Value to four digits.
static double rounded(double Value) {
  if (Value == 0)
    return 0;
  const double Unit = std::pow(10, std::floor(std::log10(std::abs(Value))) - 3);
  return std::round(Value / Unit) * Unit;
}

void ProfileFit::writeProfile(raw_ostream &OS) const {
  OS << "# A device profile; docs/time.md has the laws. Fitted to:\n";
  for (const FittedFamily &Of : Families)
    OS << "# " << Of.Name << ": " << Of.Rows.size()
       << (Of.Rows.size() == 1 ? " measurement, " : " measurements, ")
       << format("mean error %.1f %%, worst %.1f %%\n", 100 * Of.Mean,
                 100 * Of.Worst);
  StringRef Table;
  for (const auto &[Index, Info] : enumerate(ir::kernelParameters())) {
    const Id P = static_cast<Id>(Index);
    const bool IsStated =
        any_of(Job.Cost.Kernels,
               [&](const ir::KernelParameter &K) { return K.Id == P; });
    const bool IsFitted = After.has(P) && After[P] != Before[P];
    if (!IsStated && !IsFitted)
      continue;
    const auto [Prefix, Name] = Info.Name.rsplit('.');
    if (Prefix != Table)
      OS << "\n[" << Prefix << "]\n";
    Table = Prefix;
    OS << Name << " = "
       << format("%.6g", IsFitted ? rounded(After[P]) : After[P]) << '\n';
  }
}

static std::string percent(double Share) {
  std::string Text;
  raw_string_ostream(Text) << format("%.1f", 100 * Share);
  return Text;
}

static std::string number(double Value) {
  std::string Text;
  raw_string_ostream(Text) << format("%.4g", Value);
  return Text;
}

void ProfileFit::report(RowFormat As, raw_ostream &OS) const {
  std::vector<std::vector<std::string>> Rows, Values;
  for (const fit::FittedFamily &F : Families) {
    Rows.push_back({F.Name, std::to_string(F.Rows.size()),
                    percent(F.MeanBefore), percent(F.Mean), percent(F.Worst)});
    for (const ir::KernelParameterId P : F.Parameters)
      Values.push_back(
          {getInfo(P).Name.str(), number(Before[P]), number(After[P])});
  }
  writeRows({{"measured", false},
             {"rows", true},
             {"before_%", true},
             {"error_%", true},
             {"worst_%", true}},
            Rows, As, OS);
  if (As == RowFormat::Table)
    OS << '\n';
  writeRows({{"parameter", false}, {"before", true}, {"fitted", true}}, Values,
            As, OS);
}

} // namespace foretrace::fit
