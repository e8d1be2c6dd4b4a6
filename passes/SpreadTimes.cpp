// SPDX-License-Identifier: Apache-2.0
#include "passes/SpreadTimes.h"
#include "lang/DidYouMean.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace foretrace;
using namespace foretrace::ir;

namespace {

class Spreader {
public:
  Spreader(Program &P, DiagnosticEngine &Diags) : P(P), Diags(Diags) {}

  bool run();

private:
  void spread(Block &B, bool IsBackward);
  void update(const Block &B, Op &O) const;
  void checkNames() const;

  Program &P;
  DiagnosticEngine &Diags;
  std::vector<std::string> Used; ///< names of times
};

} // namespace

static Nanoseconds nanoseconds(double Microseconds) {
  return Nanoseconds(std::llrint(Microseconds * 1000.0));
}

void Spreader::spread(Block &B, bool IsBackward) {
  std::vector<Op *> Ops;
  __int128 Work = 0;
  for (Op &O : B.Ops)
    if (!isCollective(O.Kind) && !isView(O.Kind) && O.Phase != Phase::Step &&
        (O.Phase != Phase::Forward) == IsBackward) {
      Ops.push_back(&O);
      Work += workOf(P, O).value();
    }
  if (Ops.empty())
    return;
  Used.push_back((IsBackward ? "backward." : "forward.") + B.Name);
  const ProfileTime *Measured = P.Spec.Cost.findTime(Used.back());
  if (!Measured) {
    Diags.report(P.Spec.Cost.Kind.Range, diag::UncalibratedBlock, Used.back());
    return;
  }
  const int64_t Total = nanoseconds(Measured->Microseconds).value();
  const bool InEqualParts = Work == 0;
  if (InEqualParts)
    Work = static_cast<__int128>(Ops.size());
  __int128 Done = 0;
  int64_t Given = 0;
  for (Op *O : Ops) {
    Done += InEqualParts ? 1 : workOf(P, *O).value();
    const auto Until = static_cast<int64_t>(Total * Done / Work);
    O->Time = Nanoseconds(Until - Given);
    Given = Until;
  }
}

/// The update of a stage's parameters.
void Spreader::update(const Block &B, Op &O) const {
  const ProfileTime *PerMillion = P.Spec.Cost.findTime("optimizer");
  if (!PerMillion)
    return;
  Elements Count;
  for (ValueId V : O.Operands)
    Count += elementsPerRank(P, B.Values[V]);
  O.Time = Count.isOverflow()
               ? Nanoseconds::overflow()
               : nanoseconds(PerMillion->Microseconds *
                             static_cast<double>(Count.value()) / 1e6);
}

/// A misspelt name times nothing.
void Spreader::checkNames() const {
  std::vector<llvm::StringRef> Known = {
#define MEASURED_TIME(ENUMERATOR, NAME, DOC) NAME,
#include "ir/MeasuredTimes.def"
  };
  Known.insert(Known.end(), Used.begin(), Used.end());
  for (const ProfileTime &T : P.Spec.Cost.Profile)
    if (!llvm::is_contained(Known, T.Section))
      suggest(Diags.report(T.Range, diag::UnknownProfileSection, T.Section),
              T.Range, T.Section, Known);
}

bool Spreader::run() {
  for (Block &B : P.Blocks) {
    spread(B, /*IsBackward=*/false);
    spread(B, /*IsBackward=*/true);
    for (Op &O : B.Ops)
      if (O.Kind == OpKind::Optimizer)
        update(B, O);
  }
  checkNames();
  return !Diags.hasErrors();
}

bool foretrace::spreadTimes(Program &P, DiagnosticEngine &Diags) {
  return Spreader(P, Diags).run();
}
