// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/ProfileFit.h"
#include "ir/model/KnownDevice.h"
#include "ir/model/OpKinds.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Tools.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include <algorithm>
#include <cmath>

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
          return LinkLaws(BenchmarkNumbers(With, Device))
              .timeOf(Shape.Kind, Shape.At, Shape.Size);
        else
          return BenchmarkLaws(BenchmarkNumbers(With, Device)).timeOf(Shape);
      },
      M.Shape);
}

/// A family by its name and parameters.
using FamilyKey = std::pair<std::string, std::vector<Id>>;

static FamilyKey familyOf(const ProductShape &S) {
  if (S.IsGrouped)
    return {"products of experts",
            {Id::GroupedRows, Id::GroupedInner, Id::GroupedWeight}};
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
  case KernelClass::Embedding:
    return {"embedding", {Id::EmbeddingEfficiency}};
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
  if (!S.At.isSpread()) {
    const auto Of = parametersOfCollective(S.Kind);
    return {Name + " within domains", {Of.begin(), Of.end()}};
  }
  if (S.Kind == ir::OpKind::AllToAll)
    return {Name + " between domains", {Id::ExchangeStart, Id::NicExchange}};
  return {"rings between domains",
          {Id::RingInner, Id::RingOuter, Id::NicEfficiency}};
}

bool checkProfile(const ir::Spec &Job, DiagnosticEngine &Diags) {
  if (!Job.Cluster)
    Diags.report(Job.Model.Range, diag::TimeNoCluster);
  else if (!Job.Cost.Kind.is(ir::CostKind::Estimate))
    Diags.report(Job.Cluster->Device.Name.Range, diag::FitNoProfile);
  return !Diags.hasErrors();
}

ProfileFit::ProfileFit(const ir::Spec &Job)
    : Job(Job), Device(Job.rooflineDevice()), Before(Job.Cost),
      After(Job.Cost) {}

bool ProfileFit::isComplete(const FittedFamily &Of) {
  if (all_of(Of.Parameters, [&](Id P) { return Before.has(P); }))
    return true;
  Incomplete.push_back(Of);
  return false;
}

void ProfileFit::reportIncomplete(DiagnosticEngine &Diags) const {
  for (const FittedFamily &Of : Incomplete)
    for (const Id P : Of.Parameters)
      if (!Before.has(P))
        Diags.report(Job.Cost.Kind.Range, diag::FitNoStart, ir::getInfo(P).Name,
                     Of.Name);
}

void ProfileFit::finish(FittedFamily Of, const LawParameters &Found,
                        RatiosFn Ratios) {
  std::vector<double> Old(Of.Rows), New(Of.Rows);
  Ratios(After, Old);
  for (const Id P : Of.Parameters)
    After.set(P, Found[P]);
  Ratios(After, New);
  for (const auto &[A, B] : zip_equal(Old, New)) {
    Of.MeanBefore += std::abs(A - 1) / static_cast<double>(Of.Rows);
    Of.Mean += std::abs(B - 1) / static_cast<double>(Of.Rows);
    Of.Worst = std::max(Of.Worst, std::abs(B - 1));
  }
  Families.push_back(std::move(Of));
}

void ProfileFit::fit(std::string Name, const ParameterProblem &Of) {
  FittedFamily Family{std::move(Name), Of.Of.vec(), Of.Weights.size()};
  if (isComplete(Family))
    finish(std::move(Family), solve(Of, After), Of.Ratios);
}

void ProfileFit::fit(ArrayRef<Measurement> Measured, double WeightOfStart) {
  using Rows = std::vector<const Measurement *>;
  std::vector<std::pair<FittedFamily, Rows>> All;
  for (const Measurement &M : Measured) {
    FamilyKey Key =
        std::visit([](const auto &S) { return familyOf(S); }, M.Shape);
    auto It = find_if(
        All, [&](const auto &Of) { return Of.first.Name == Key.first; });
    if (It == All.end())
      It = All.insert(It, {{std::move(Key.first), std::move(Key.second)}, {}});
    It->second.push_back(&M);
    ++It->first.Rows;
  }
  // These come last, as they read parameters of the others.
  std::stable_partition(All.begin(), All.end(), [](const auto &Of) {
    const Id First = Of.first.Parameters.front();
    return First != Id::GroupedRows && First != Id::MessageStart;
  });
  constexpr size_t Tenth = 10;
  for (auto &One : All) {
    FittedFamily &Family = One.first;
    Rows &Of = One.second;
    if (!isComplete(Family))
      continue;
    auto Ratio = [&](const Measurement &M, const LawParameters &With) {
      return estimate(M, With, Device) / M.Seconds;
    };
    auto Ratios = [&](const LawParameters &With, MutableArrayRef<double> Out) {
      for (const auto &[M, To] : zip_equal(Of, Out))
        To = Ratio(*M, With);
    };
    auto Solve = [&](size_t Count) {
      const std::vector<double> Weights(Count, 1);
      return solve({Family.Parameters, Weights, Ratios, WeightOfStart}, After);
    };
    LawParameters Found = Solve(Of.size());
    if (Of.size() >= Tenth) {
      const Rows Whole = Of;
      llvm::stable_sort(Of, [&](const Measurement *A, const Measurement *B) {
        return std::abs(std::log(Ratio(*A, Found))) <
               std::abs(std::log(Ratio(*B, Found)));
      });
      Of.resize(Of.size() - Of.size() / Tenth);
      Found = Solve(Of.size());
      Of = Whole;
    }
    finish(std::move(Family), Found, Ratios);
  }
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
    OS << "# " << Of.Name << ": " << Of.Rows
       << (Of.Rows == 1 ? " measurement, " : " measurements, ")
       << format("mean error %.1f %%, worst %.1f %%\n", 100 * Of.Mean,
                 100 * Of.Worst);
  if (const StringRef Device = ir::deviceName(Job); !Device.empty())
    OS << "fitted_on = \"" << Device << "\"\n";
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
    Rows.push_back({F.Name, std::to_string(F.Rows), percent(F.MeanBefore),
                    percent(F.Mean), percent(F.Worst)});
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
