// SPDX-License-Identifier: Apache-2.0
//
// Runs the stages of a schedule against each other.
#include "ir/StageCalls.h"
#include "ir/StageOrder.h"
#include "ir/VerifyParts.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// More actions are not followed; they take some tens of milliseconds.
constexpr int64_t MaxActions = int64_t(1) << 20;

/// A stage that checks itself while it meets others.
struct CheckedStage {
  StageCalls Calls;
  StageOrder Order;
  Action Wrong = {};
  llvm::StringRef Why = ""; ///< `Wrong` can't be done

  CheckedStage(const Schedule &S, int64_t Stage)
      : Calls(S, Stage), Order(S, Stage) {}

  bool next() {
    if (!Why.empty() || !Calls.next())
      return false;
    for (const Action &A : Calls.actions()) {
      Why = Order.take(A);
      if (Why.empty())
        continue;
      Wrong = A;
      return false;
    }
    return true;
  }
};

struct Client {
  std::vector<CheckedStage> Stages;

  bool begin(size_t I) { return Stages[I].next(); }
  size_t parts(size_t I) const { return Stages[I].Calls.actions().size(); }
  Meeting meeting(size_t I, size_t Part) const {
    return Stages[I].Calls.meeting(Part);
  }
  static int64_t duration(size_t, size_t) { return 0; }
  static void end(size_t, int64_t, int64_t) {}
};

class MessageVerifier {
public:
  MessageVerifier(const Schedule &S, SourceRange Range, DiagnosticEngine &Diags)
      : S(S), Range(Range), Diags(Diags),
        Run(C, static_cast<size_t>(S.Stages)) {
    for (int64_t Stage = 0; Stage < S.Stages; ++Stage)
      C.Stages.emplace_back(S, Stage);
  }

  void verify();

private:
  bool verifyOrder();
  void reportStuck();
  const Action *waitsFor(size_t Stage) const;

  const Schedule &S;
  const SourceRange Range;
  DiagnosticEngine &Diags;
  Client C;
  Rendezvous<Client> Run;
};

} // namespace

/// Of every stage for itself; reports the first one.
bool MessageVerifier::verifyOrder() {
  for (const auto &[Stage, Of] : llvm::enumerate(C.Stages)) {
    if (Of.Calls.hasFailed()) {
      Diags.report(Range, diag::VerifyIndex, Stage);
      return false;
    }
    if (!Of.Why.empty()) {
      Diags.report(Range, diag::VerifyAction, Stage, getName(Of.Wrong.Kind),
                   Of.Wrong.MicroBatch, Of.Wrong.Chunk, Of.Why);
      return false;
    }
  }
  return true;
}

/// The message that a stage that is stuck waits for.
const Action *MessageVerifier::waitsFor(size_t Stage) const {
  const StageCalls &Calls = C.Stages[Stage].Calls;
  for (size_t Part = 0; Part < Calls.actions().size(); ++Part)
    if (const Meeting M = Calls.meeting(Part); M.Waits && Run.isPending(M))
      return &Calls.actions()[Part];
  return nullptr;
}

/// The first stage that waits, and those that it, and they in turn, wait for.
void MessageVerifier::reportStuck() {
  size_t At = 0;
  while (!Run.isStuck(At))
    ++At;
  const Action *A = waitsFor(At);
  DiagnosticBuilder D =
      Diags.report(Range, diag::VerifyMessages, At, getName(A->Kind),
                   A->MicroBatch, A->Chunk, A->Peer);
  std::vector<bool> Seen(C.Stages.size());
  for (Seen[At] = true;; Seen[At] = true) {
    At = static_cast<size_t>(A->Peer);
    if (Seen[At])
      return;
    if (!Run.isStuck(At)) {
      D.note(Range, diag::VerifyEnded, At);
      return;
    }
    A = waitsFor(At);
    D.note(Range, diag::VerifyWaits, At, getName(A->Kind), A->MicroBatch,
           A->Chunk, A->Peer);
  }
}

void MessageVerifier::verify() {
  const bool HaveEnded = Run.run();
  if (!verifyOrder())
    return;
  if (!HaveEnded)
    return reportStuck();
  for (const auto &[Stage, Of] : llvm::enumerate(C.Stages))
    if (std::optional<Action> A = Of.Order.missing()) {
      Diags.report(Range, diag::VerifyMissing, Stage, getName(A->Kind),
                   A->MicroBatch, A->Chunk);
      return;
    }
}

/// Micro-batches after which a schedule repeats what it does: of more, as many
/// are run as reach from the first to the last stage and back.
static int64_t repeating(const Schedule &S) {
  const bool IsLoop = S.Placement == PlacementKind::Loop;
  const int64_t Unit = IsLoop && S.Chunks > 1 ? S.Group : 2;
  const int64_t Round = IsLoop ? std::max(S.Stages, Unit) : 2 * S.Stages;
  if (Round > MaxActions)
    return S.MicroBatches;
  const int64_t Some = 2 * Round / Unit * Unit + Unit + S.MicroBatches % Unit;
  return std::min(S.MicroBatches, Some);
}

void foretrace::ir::verifyMessages(const Program &P, DiagnosticEngine &Diags) {
  const ParallelSpec &Par = P.Spec.Parallel;
  const SourceRange Range =
      Par.Schedule.isStated() ? Par.Schedule.Range : Par.Pp.Range;
  Schedule S = P.Schedule;
  S.MicroBatches = repeating(S);
  const Elements Size = Elements(S.Stages) * S.Chunks * S.MicroBatches;
  int64_t Iterations = Size.isOverflow() ? INT64_MAX : Size.value();
  for (int64_t Stage = 0; Stage < S.Stages && Iterations <= MaxActions; ++Stage)
    Iterations += std::min(ScheduleWalker(S, Stage).iterations(), MaxActions);
  if (Iterations > MaxActions) {
    Diags.report(Range, diag::VerifyLimit, MaxActions);
    return;
  }
  MessageVerifier(S, Range, Diags).verify();
}
