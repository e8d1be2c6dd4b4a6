// SPDX-License-Identifier: Apache-2.0
#include "backends/megatron/Unlogged.h"
#include "backends/KnownLayers.h"
#include "backends/megatron/CallTable.h"
#include "backends/megatron/Modes.h"
#include "lang/diagnostics/Backends.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::megatron;
using llvm::StringRef;

namespace {

/// Collectives of a block that are left out for one reason.
struct LeftOut {
  llvm::SmallSetVector<ir::OpKind, 4> Kinds;
  llvm::SmallSetVector<ir::Axis, 2> Axes;     ///< of their groups
  llvm::SmallSetVector<StringRef, 8> Modules; ///< that they serve
  Bytes Total;                                ///< of one execution
  SourceRange Why; ///< the part of the job that the first is from
};

/// Gathers the collectives of one block that traces leave out.
class BlockCheck {
public:
  BlockCheck(const ir::Program &P, const ir::Block &B, Instrumentation How)
      : P(P), B(B), How(How) {}

  void report(DiagnosticEngine &Diags);

private:
  void take(const ir::Op &O);

  const ir::Program &P;
  const ir::Block &B;
  const Instrumentation How;
  llvm::MapVector<StringRef, LeftOut> Unknown; ///< by their maker
  llvm::MapVector<StringRef, LeftOut> Unheard; ///< by the module they serve
};

} // namespace

static StringRef moduleOf(const ir::Op &O, const ir::Block &B) {
  return O.For.isValid() ? StringRef(B.Ops[O.For].Name) : StringRef(O.Name);
}

void BlockCheck::take(const ir::Op &O) {
  if (!isCollective(O.Kind) || O.Group.size(P.Mesh) == 1 ||
      movesParameters(O, B))
    return;
  const CollectiveRule *Rule =
      O.Phase == ir::Phase::Step ? findStepRule(B, O) : findRule(P, B, O, How);
  if (Rule && Rule->Fate != Fate::Unknown)
    return;
  const StringRef Module = moduleOf(O, B);
  LeftOut &To = Rule ? Unknown[Rule->Why] : Unheard[Module];
  if (To.Kinds.empty())
    To.Why = O.Origin.Range;
  To.Kinds.insert(O.Kind);
  To.Axes.insert(O.Group.Axes.begin(), O.Group.Axes.end());
  To.Modules.insert(Module);
  To.Total += messageBytes(P, O);
}

template <typename T, typename NameT>
static std::string list(const T &Of, NameT Name) {
  return llvm::join(llvm::map_range(Of, Name), ", ");
}

static int64_t orMost(Bytes N) {
  return N.isOverflow() ? INT64_MAX : N.value();
}

void BlockCheck::report(DiagnosticEngine &Diags) {
  for (const ir::Op &O : B.Ops)
    take(O);
  auto Kinds = [](const LeftOut &L) { return list(L.Kinds, ir::getMnemonic); };
  auto Axes = [](const LeftOut &L) {
    return list(L.Axes, [](ir::Axis A) { return getName(A); });
  };
  for (const auto &[Maker, L] : Unknown)
    Diags.report(L.Why, diag::MegatronUnknownCalls, Maker, Kinds(L), Axes(L),
                 llvm::join(L.Modules, ", "), B.Name, orMost(L.Total));
  for (const auto &[Module, L] : Unheard)
    Diags.report(L.Why, diag::MegatronUnheardOf, Module, Kinds(L), Axes(L),
                 B.Name, orMost(L.Total));
}

/// A scaling run picks experts ahead, for as many ranks as there are in truth.
static void checkDispatcher(const ir::Program &P, Instrumentation How,
                            DiagnosticEngine &Diags) {
  if (!How.Scaling || How.isV1())
    return;
  for (const ir::BlockSpec &B : P.Spec.Model.Blocks)
    if (hasExperts(B) && *B.Network.word("dispatcher") == "allgather")
      Diags.report(B.Network.word("dispatcher").Range,
                   diag::MegatronDispatcher);
}

bool foretrace::megatron::checkCalls(const ir::Program &P, Instrumentation How,
                                     DiagnosticEngine &Diags) {
  const unsigned Before = Diags.errorCount();
  checkDispatcher(P, How, Diags);
  if (Diags.errorCount() > Before)
    return false;
  warnOfModes(P, How, Diags);
  for (const ir::Block &B : P.Blocks)
    BlockCheck(P, B, How).report(Diags);
  return Diags.errorCount() == Before;
}
