// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/Measurements.h"
#include "lang/diagnostics/Tools.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <set>

using namespace llvm;

namespace foretrace::fit {

void MeasurementReader::read(FileId File) {
  const SourceText Text = Sources.text(File);
  const StringRef Start = Text.str().ltrim();
  const StringRef Line = Start.take_until([](char C) { return C == '\n'; });
  const size_t Before = Found.size();
  if (Start.starts_with("{") || Start.starts_with("["))
    readTrace(Text);
  else if (Start.contains("time_gpu_"))
    readAiob(Text);
  else if (Start.contains("algbw"))
    readNcclTests(Text);
  else if (Start.contains(",OperationKind,"))
    readCutlass(Text);
  else if (Line.contains("kernel") && Line.contains(','))
    readTable(Text);
  else if (Start.starts_with("\x1f\x8b")) // gzip
    Diags.report(Text.range().atStart(), diag::MeasurementCompressed);
  else
    Diags.report(Text.rangeOf(Line), diag::MeasurementFormat);
  checkRates(Text, Before);
  if (Found.size() == Before && !Diags.hasErrors())
    Diags.report(Text.rangeOf(Line), diag::MeasurementNone);
}

void MeasurementReader::checkRates(SourceText Text, size_t From) {
  const ir::DeviceSpec Device = Job.Spec.rooflineDevice();
  std::set<StringRef> Missing;
  auto LacksRate = [&](const Measurement &M) {
    const auto *S = std::get_if<ProductShape>(&M.Shape);
    if (!S)
      return false;
    const ir::DeviceSpec::Peak &Peak =
        ir::DeviceSpec::peakOf(static_cast<ir::TypeKind>(S->Operand));
    if ((Device.*Peak.Member).isPresent())
      return false;
    Missing.insert(Peak.Key);
    return true;
  };
  Found.erase(std::remove_if(Found.begin() + static_cast<ptrdiff_t>(From),
                             Found.end(), LacksRate),
              Found.end());
  for (const StringRef Key : Missing)
    Diags.report(Text.range().atStart(), diag::MeasurementNoRate, Key);
}

LinkPlace MeasurementReader::placeOf(double Ranks, double OnDomain) const {
  LinkPlace At{Ranks, std::min(OnDomain, Ranks), 0};
  const auto &Tiers = Job.Spec.Cluster->Tiers;
  if (At.isSpread() && Tiers.size() > 1)
    At.OuterRate = static_cast<double>(*Tiers[1].Bandwidth);
  return At;
}

double MeasurementReader::devicesOfDomain() const {
  return static_cast<double>(*Job.Spec.Cluster->Tiers.front().Devices);
}

} // namespace foretrace::fit
