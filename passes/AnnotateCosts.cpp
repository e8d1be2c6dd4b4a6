// SPDX-License-Identifier: Apache-2.0
//
// cost: the time of every op, from measured times or a roofline, and whether
// what was measured is of the job (OpTimes.h says which time an op gets).
// Touches no operand, layout or collective: a cost can't change communication.

#include "analysis/Analyses.h"
#include "analysis/Caveats.h"
#include "analysis/CollectiveTimes.h"
#include "analysis/KernelTimes.h"
#include "analysis/OpTimes.h"
#include "analysis/Overlap.h"
#include "ir/model/KnownDevice.h"
#include "ir/model/Spellings.h"
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Passes.h"
#include "passes/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

class Coster {
public:
  Coster(Program &P, DiagnosticEngine &Diags) : P(P), Diags(Diags) {}

  bool run();

private:
  using Names = std::vector<llvm::StringRef>;
  void checkNames(const Names &Known) const;
  void checkSections() const;
  void checkBlocks() const;
  bool checkFormats() const;
  bool checkKernels() const;
  bool time(Block &B, CollectiveTimes *Places) const;

  Program &P;
  DiagnosticEngine &Diags;
};

} // namespace

/// A misspelt name times nothing.
void Coster::checkNames(const Names &Known) const {
  for (const ProfileTime &T : P.Spec.Cost.Profile)
    if (!llvm::is_contained(Known, T.Section))
      suggest(Diags.report(T.Range, diag::UnknownProfileSection, T.Section),
              T.Range, T.Section, Known);
}

/// Sections that a profile leaves out take no time.
void Coster::checkSections() const {
  // AIOB writes the least time, too.
  Names Known = {"param_time_min"};
  llvm::append_range(Known, allSections());
  checkNames(Known);
  llvm::StringSet<> Used;
  for (const Block &B : P.Blocks)
    for (const Op &O : B.Ops)
      Used.insert(sectionOf(O));
  llvm::SetVector<llvm::StringRef> Missing;
  for (llvm::StringRef Name : allSections())
    if (!P.Spec.Cost.findTime(Name) && Used.contains(Name))
      Missing.insert(Name);
  if (!Missing.empty())
    Diags.report(P.Spec.Cost.Kind.Range, diag::UntimedSections,
                 "`" + llvm::join(Missing, "`, `") + "`");
}

/// Checks the parts of the profile that are measured by block.
void Coster::checkBlocks() const {
  std::vector<std::string> Used;
  for (const Block &B : P.Blocks)
    for (const bool IsBackward : {false, true}) {
      if (sharersOf(B, IsBackward).empty())
        continue;
      Used.push_back(nameOfShared(B, IsBackward));
      if (!P.Spec.Cost.findTime(Used.back()))
        Diags.report(P.Spec.Cost.Kind.Range, diag::UncalibratedBlock,
                     Used.back());
    }
  Names Known = {
#define MEASURED_TIME(ENUMERATOR, NAME, DOC) NAME,
#include "ir/model/MeasuredTimes.def"
  };
  llvm::append_range(Known, Used);
  checkNames(Known);
}

/// Reports a type of products that the device lacks, or whose rate it does not
/// state.
bool Coster::checkFormats() const {
  const KnownDevice *Device = deviceOf(P.Spec);
  for (const TypeKind Type : P.Spec.computeTypes()) {
    if (!isScaled(elementTypeOf(Type)))
      continue;
    const DeviceSpec::Peak &Peak = DeviceSpec::peakOf(Type);
    if (Device && !Device->has(Type)) {
      std::vector<std::string> Types, Others;
      for (size_t I = 0; I < getSpellings<TypeKind>().size(); ++I)
        if (Device->has(static_cast<TypeKind>(I)))
          Types.push_back(getSpellings<TypeKind>()[I].str());
      for (const KnownDevice &Other : knownDevices())
        if (Other.has(Type))
          Others.push_back(Other.Name.str());
      Diags.report(P.Spec.Train.ComputePrecision.Range, diag::DeviceFormat,
                   Device->Name, getSpelling(Type), llvm::join(Types, ", "),
                   llvm::join(Others, ", "));
      return false;
    }
    if (!(P.Spec.Cost.Device.*Peak.Member).isPresent()) {
      Diags.report(P.Spec.Cost.Kind.Range, diag::MissingKey, "device", Peak.Key,
                   Peak.Example);
      return false;
    }
  }
  return true;
}

/// Reports parameters of kernels that ops of the job need.
bool Coster::checkKernels() const {
  const KernelTimes Laws(P);
  llvm::StringSet<> Missing;
  for (const Block &B : P.Blocks)
    for (const Op &O : B.Ops) {
      if (isCollective(O.Kind) || isView(O.Kind))
        continue;
      const KernelParameterInfo *Lacks = Laws.findMissing(B, O);
      if (Lacks && Missing.insert(Lacks->Name).second)
        Diags.report(P.Spec.Cost.Kind.Range, diag::KernelParameterMissing,
                     Lacks->Name, "`" + O.Name + "`", Lacks->Doc);
    }
  if (!P.Spec.Cluster && CollectiveTimes::communicates(P)) {
    Diags.report(P.Spec.Cost.Kind.Range, diag::EstimateNoCluster);
    return false;
  }
  if (const KernelParameterInfo *Lacks = CollectiveTimes::findMissing(P))
    if (Missing.insert(Lacks->Name).second)
      Diags.report(P.Spec.Cost.Kind.Range, diag::KernelParameterMissing,
                   Lacks->Name, "a collective", Lacks->Doc);
  return Missing.empty();
}

/// Returns false if the time can't be counted.
bool Coster::time(Block &B, CollectiveTimes *Places) const {
  auto IsGood = [&](const Op &O, bool IsCounted) {
    if (!IsCounted)
      Diags.report(O.Origin.Range, diag::SizeOverflow,
                   "the work of `" + O.Name + "`");
    return IsCounted;
  };
  for (const Op &O : B.Ops)
    if (!IsGood(O, !workOf(P, O).isOverflow()))
      return false;
  for (Op &O : B.Ops)
    O.Law = O.HiddenLaw = {}; // parameters may be others than last time
  for (auto [O, T] : llvm::zip_equal(B.Ops, timesOf(P, B, Places))) {
    O.Time = T.Time;
    O.Law = T.Law;
    if (!IsGood(O, !T.Time.isOverflow()))
      return false;
  }
  return true;
}

bool Coster::run() {
  if ((*P.Spec.Cost.Kind == CostKind::Roofline ||
       *P.Spec.Cost.Kind == CostKind::Estimate) &&
      (!checkOptimizerTraffic(P, Diags) || !checkFormats()))
    return false;
  if (*P.Spec.Cost.Kind == CostKind::Profile)
    checkSections();
  if (*P.Spec.Cost.Kind == CostKind::Estimate &&
      (!checkVendor(P, Diags) || !checkKernels()))
    return false;
  std::optional<CollectiveTimes> Places;
  if (*P.Spec.Cost.Kind == CostKind::Estimate && P.Spec.Cluster)
    Places.emplace(P);
  for (Block &B : P.Blocks)
    if (!time(B, Places ? &*Places : nullptr))
      return false;
  if (*P.Spec.Cost.Kind == CostKind::Calibrated)
    checkBlocks();
  if (*P.Spec.Cost.Kind == CostKind::Estimate) {
    hideCommunication(P, Places ? &*Places : nullptr);
    reportCaveats(P, Diags);
  }
  return *P.Spec.Cost.Kind != CostKind::Calibrated || !Diags.hasErrors();
}

bool foretrace::annotateCosts(Program &P, DiagnosticEngine &Diags) {
  return Coster(P, Diags).run();
}
