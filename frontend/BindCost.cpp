// SPDX-License-Identifier: Apache-2.0
//
// Binds costs: measured times, links, a device.
#include "frontend/Bind.h"
#include "lang/diagnostics/Frontend.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace foretrace;

bool Binder::findTable(const Body &B, llvm::StringRef Name, Body &Out) {
  if (const Body *Sub = B.findSection(Name)) {
    Out = *Sub;
    return true;
  }
  const Field *F = B.findField(Name);
  return F && Bodies.mergeTable(Out, *F);
}

void Binder::bindTime(const Field &F, llvm::StringRef Prefix, ir::CostSpec &C) {
  std::optional<ExprValue> V = Eval.evaluate(*F.Value, *F.Names);
  if (!V)
    return;
  const std::string Name = Prefix.str() + F.Key.Text;
  if (!V->isNumber()) {
    Diags.report(V->Range, diag::WrongType, Name, describe(*V), "a time");
    return;
  }
  if (V->Dim != Dimension::Time && V->Dim != Dimension::Count) {
    Diags.report(V->Range, diag::WrongUnit, Name, describe(*V), "a time");
    return;
  }
  // A plain number is in microseconds, as AIOB writes them; a unit made
  // nanoseconds of it.
  double Microseconds =
      V->Dim == Dimension::Time ? V->asReal() / 1000 : V->asReal();
  if (!std::isfinite(Microseconds) || std::signbit(Microseconds)) {
    Diags.report(V->Range, diag::IsNegative, Name, *format(*V));
    return;
  }
  if (Microseconds > ir::ProfileTime::MaxMicroseconds) {
    Diags.report(V->Range, diag::TimeTooLong, Name,
                 ir::ProfileTime::MaxSeconds);
    return;
  }
  C.Profile.push_back({Name, Microseconds, F.Key.Range, V->Range});
}

/// Tables in the table prefix their names: `forward.moe`.
void Binder::bindTimes(const Body &Times, ir::CostSpec &C) {
  for (const Field &F : Times.Fields)
    bindTime(F, "", C);
  const bool HasTables = C.Kind.is(ir::CostKind::Calibrated);
  for (const Body &Sub : Times.Sections) {
    if (!HasTables) {
      reportSection(Sub.Keyword, "times", {}, Diags);
      continue;
    }
    for (const Field &F : Sub.Fields)
      bindTime(F, Sub.Keyword.Text + ".", C);
    for (const Body &Deep : Sub.Sections)
      reportSection(Deep.Keyword, Sub.Keyword.Text, {}, Diags);
  }
}

void Binder::bindLinks(const Body &Links, ir::CostSpec &C) {
  llvm::ArrayRef<llvm::StringRef> Axes = ir::getSpellings<ir::Axis>();
  for (const Field &F : Links.Fields)
    reportUnknownKey(F, "links", {}, Diags);
  for (const Body &Sub : Links.Sections) {
    std::optional<ir::Axis> A = ir::findAxis(Sub.Keyword.Text);
    if (!A) {
      reportSection(Sub.Keyword, "links", Axes, Diags);
      continue;
    }
    ir::LinkSpec &L = C.Links.emplace_back();
    L.Axis = *A;
    L.Range = Sub.Keyword.Range;
    bindKeys(Sub, L);
    requireKeys({"link", Sub.Keyword.Range}, L, {&Sub});
  }
}

void Binder::bindCost(ir::CostSpec &C) {
  const Body &B = TheJob.Cost;
  if (!B.Range.isValid() && B.Fields.empty() && B.Sections.empty())
    return;
  if (B.Label.Text.empty())
    Diags.report(B.Keyword.Range, diag::MissingLabel, "cost",
                 "one of " +
                     llvm::join(ir::getSpellings<ir::CostKind>(), ", "));
  else
    Reader.readLabel(B.Label, C.Kind);
  Body Keys = B;
  llvm::erase_if(Keys.Fields, [](const Field &F) {
    return F.Key.Text == "profile"; // it can also be a table
  });
  bindKeys(Keys, C, {"times", "device", "links", "kernels"},
           {"times", "device", "links", "kernels"});

  Body Table;
  bool Ok = !Diags.hasErrors();
  if (findTable(B, "times", Table))
    bindTimes(Table, C);
  else if (Ok && C.Kind.isPresent() &&
           (*C.Kind == ir::CostKind::Profile ||
            *C.Kind == ir::CostKind::Calibrated))
    Diags.report(B.Label.Range, diag::MissingKey,
                 "cost " + ir::getSpelling(*C.Kind).str(), "times",
                 "h100.times");
  Body Links;
  if (findTable(B, "links", Links))
    bindLinks(Links, C);
  if (findTable(B, "device", CostDevice))
    bindKeys(CostDevice, C.Device);
}

void Binder::requireDevice(const ir::Spec &S) {
  const bool IsStated = !CostDevice.Keyword.Text.empty();
  if (!IsStated && *S.Cost.Kind != ir::CostKind::Roofline &&
      *S.Cost.Kind != ir::CostKind::Estimate)
    return;
  const ast::Word &Label = TheJob.Cost.Label;
  const Body &Device = IsStated ? CostDevice : ClusterDevice;
  if (Device.Keyword.Text.empty()) {
    if (!Diags.hasErrors())
      Diags.report(Label.Range, diag::MissingKey,
                   "cost " + ir::getSpelling(*S.Cost.Kind).str(), "device",
                   "h100.device");
    return;
  }
  const ir::DeviceSpec Found = S.rooflineDevice();
  requireKeys(Device.Keyword, Found, {&CostDevice, &ClusterDevice});
  auto Has = [&](llvm::StringRef Key) {
    const auto Names = keyNames<ir::DeviceSpec>();
    return hasOrMeant(CostDevice, Key, "device", Names) ||
           hasOrMeant(ClusterDevice, Key, "device", Names);
  };
  const llvm::StringRef OfPrecision =
      *S.Train.Precision == ir::PrecisionKind::FP32 ? "peak_fp32" : "peak_bf16";
  if (Found.PeakFlops.isPresent() || Has("peak_flops") || Has(OfPrecision))
    return;
  const bool HasOther = Has("peak_bf16") || Has("peak_fp32") || Has("peak_fp8");
  Diags.report(Device.Keyword.Range, diag::MissingKey, "device",
               HasOther ? OfPrecision : "peak_flops", "989 TFLOP/s");
}
