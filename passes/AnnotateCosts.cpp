// SPDX-License-Identifier: Apache-2.0
//
// cost: the time of every op, from measured times or a roofline.
// Touches no operand, layout or collective: a cost can't change communication.

#include "lang/DidYouMean.h"
#include "passes/Passes.h"
#include "passes/SpreadTimes.h"
#include "passes/analyses/Analyses.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace foretrace;
using namespace foretrace::ir;

namespace {

class Coster {
public:
  Coster(Program &P, DiagnosticEngine &Diags) : P(P), Diags(Diags) {}

  bool run();

private:
  void checkSections() const;
  void checkCompleteness() const;
  Nanoseconds profiled(const Op &O) const;
  Nanoseconds roofline(const Block &B, const Op &O) const;
  Nanoseconds timeOf(const Block &B, const Op &O) const;

  Program &P;
  DiagnosticEngine &Diags;
};

} // namespace

/// A row of ProfileSections.def.
struct SectionRow {
  OpKind Kind;
  llvm::StringLiteral Module, Section;
};
static constexpr SectionRow SectionRows[] = {
#define SECTION(KIND, MODULE, NAME) {OpKind::KIND, MODULE, NAME},
#include "passes/ProfileSections.def"
};

static bool times(const SectionRow &R, const Op &O) {
  return R.Kind == O.Kind && R.Module == O.Name;
}

static bool occurs(const SectionRow &R, const Program &P) {
  for (const Block &B : P.Blocks)
    for (const Op &O : B.Ops)
      if (times(R, O))
        return true;
  return false;
}

/// What a profile leaves out takes no time.
void Coster::checkCompleteness() const {
  llvm::SetVector<llvm::StringRef> Missing;
  for (const SectionRow &R : SectionRows)
    if (!P.Spec.Cost.findTime(R.Section) && occurs(R, P))
      Missing.insert(R.Section);
  if (!Missing.empty())
    Diags.report(P.Spec.Cost.Kind.Range, diag::UntimedSections,
                 "`" + llvm::join(Missing, "`, `") + "`");
}

/// A misspelt section times nothing.
void Coster::checkSections() const {
  // AIOB writes the least time, too.
  std::vector<llvm::StringRef> Known = {"param_time_min"};
  for (const SectionRow &R : SectionRows)
    Known.push_back(R.Section);
  for (const ProfileTime &T : P.Spec.Cost.Profile)
    if (!llvm::is_contained(Known, T.Section))
      suggest(Diags.report(T.Range, diag::UnknownProfileSection, T.Section),
              T.Range, T.Section, Known);
}

Nanoseconds Coster::profiled(const Op &O) const {
  for (const SectionRow &R : SectionRows) {
    if (!times(R, O))
      continue;
    if (const ProfileTime *T = P.Spec.Cost.findTime(R.Section))
      return Nanoseconds(std::llrint(T->Microseconds * 1000.0));
  }
  return {};
}

/// max(FLOPs / peak, bytes touched / bandwidth), rounded up.
Nanoseconds Coster::roofline(const Block &B, const Op &O) const {
  const DeviceSpec &D = P.Spec.Cost.Device;
  const Bytes Touched = P.Sizes.value(ByteExpr(touchedBytes(P, B, O)));
  const Flops Work = workOf(P, O);
  if (Touched.isOverflow() || Work.isOverflow())
    return Nanoseconds::overflow();
  auto Ceil = [](int64_t Amount, int64_t PerSecond) {
    __int128 Scaled = static_cast<__int128>(Amount) * 1000000000;
    return (Scaled + PerSecond - 1) / PerSecond;
  };
  __int128 Time = std::max(Ceil(Work.value(), *D.PeakFlops),
                           Ceil(Touched.value(), *D.MemoryBandwidth));
  return Time > INT64_MAX ? Nanoseconds::overflow()
                          : Nanoseconds(static_cast<int64_t>(Time));
}

Nanoseconds Coster::timeOf(const Block &B, const Op &O) const {
  if (isCollective(O.Kind) || isView(O.Kind))
    return {};
  switch (*P.Spec.Cost.Kind) {
  case CostKind::Uncosted:
  case CostKind::Calibrated: // measured by block, see SpreadTimes.h
    return {};
  case CostKind::Profile:
    return profiled(O);
  case CostKind::Roofline:
    return roofline(B, O);
  }
  return {};
}

bool Coster::run() {
  if (*P.Spec.Cost.Kind == CostKind::Profile) {
    checkSections();
    checkCompleteness();
  }
  for (Block &B : P.Blocks)
    for (Op &O : B.Ops) {
      O.Time = timeOf(B, O);
      if (workOf(P, O).isOverflow() || O.Time.isOverflow()) {
        Diags.report(O.Origin.Range, diag::SizeOverflow,
                     "the work of `" + O.Name + "`");
        return false;
      }
    }
  return *P.Spec.Cost.Kind != CostKind::Calibrated || spreadTimes(P, Diags);
}

bool foretrace::annotateCosts(Program &P, DiagnosticEngine &Diags) {
  return Coster(P, Diags).run();
}
