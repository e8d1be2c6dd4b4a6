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

/// The end of a message.
struct MessageEnd {
  int64_t Stage = -1;
  int64_t Tag = 0;
};

class Client {
public:
  Client(const Schedule &S) {
    for (int64_t Stage = 0; Stage < S.Stages; ++Stage)
      Stages.emplace_back(S, Stage);
    Firsts.resize(static_cast<size_t>(2 * S.parts() * S.MicroBatches));
  }

  bool begin(size_t I) {
    if (!Stages[I].next())
      return false;
    for (size_t Part = 0; Part < parts(I); ++Part)
      if (const Meeting M = meeting(I, Part); M.Members > 1)
        compare(M, static_cast<int64_t>(I), Stages[I].Calls.actions()[Part]);
    return true;
  }
  size_t parts(size_t I) const { return Stages[I].Calls.actions().size(); }
  Meeting meeting(size_t I, size_t Part) const {
    return Stages[I].Calls.meeting(Part);
  }
  static int64_t duration(size_t, size_t) { return 0; }
  static void end(size_t, int64_t, int64_t) {}

  std::vector<CheckedStage> Stages;
  /// The first two ends of a message that have different tags.
  struct Mismatch {
    Action Of;
    MessageEnd First, Second;
  };
  std::optional<Mismatch> Different;

private:
  /// The stage was compared with the model; tags are only with each other.
  void compare(const Meeting &M, int64_t Stage, const Action &A) {
    MessageEnd &First = Firsts[M.Id];
    if (First.Stage < 0)
      First = {Stage, A.Tag};
    else if (First.Tag != A.Tag && !Different)
      Different = {A, First, {Stage, A.Tag}};
  }

  std::vector<MessageEnd> Firsts; ///< by meeting
};

class MessageVerifier {
public:
  MessageVerifier(const Schedule &S, SourceRange Range, DiagnosticEngine &Diags)
      : Range(Range), Diags(Diags), C(S),
        Run(C, static_cast<size_t>(S.Stages)) {}

  void verify();

private:
  bool verifyOrder();
  void reportStuck();
  const Action *waitsFor(size_t Stage) const;

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
  if (C.Different) {
    const auto &[Of, First, Second] = *C.Different;
    Diags.report(Range, diag::VerifyTags, Second.Stage, getName(Of.Kind),
                 Of.MicroBatch, Of.Chunk, Second.Tag, First.Stage, First.Tag);
    return;
  }
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
/// are run as reach from the first to the last stage and back. Closed forms
/// without numbers of their own can't tell them apart.
static int64_t repeating(const Schedule &S) {
  constexpr int64_t MaxConstant = 2;
  if (S.Stages > MaxActions)
    return S.MicroBatches; // as they are, they are too many to be followed
  const bool IsLoop = S.Placement == PlacementKind::Loop;
  const int64_t Unit = IsLoop && S.Chunks > 1 ? S.Group : 2;
  const int64_t Round = IsLoop ? std::max(S.Stages, Unit) : 2 * S.Stages;
  if (Round > MaxActions || S.Indices.largestConstant() > MaxConstant)
    return S.MicroBatches;
  const int64_t Some = Round / Unit * Unit + Unit + S.MicroBatches % Unit;
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
