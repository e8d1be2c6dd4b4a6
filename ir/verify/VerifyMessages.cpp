// SPDX-License-Identifier: Apache-2.0
//
// Runs the stages of a schedule against each other.
#include "ir/schedule/FoldSchedule.h"
#include "ir/schedule/StageCalls.h"
#include "ir/schedule/StageOrder.h"
#include "ir/verify/VerifyParts.h"
#include "lang/diagnostics/IR.h"
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

class MessageClient {
public:
  MessageClient(const Schedule &S) {
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
  MessageVerifier(const Program &P, const Schedule &S, DiagnosticEngine &Diags)
      : P(P), Diags(Diags), C(S), Run(C, static_cast<size_t>(S.Stages)) {}

  void verify();

private:
  bool verifyOrder();
  void reportStuck();
  const Action *waitsFor(size_t Stage) const;
  SourceRange rangeOf(const Action &A) const;
  std::string name(int64_t Stage) const { return describeStage(P, Stage); }

  const Program &P;
  DiagnosticEngine &Diags;
  MessageClient C;
  Rendezvous<MessageClient> Run;
};

} // namespace

/// Returns where a schedule is chosen.
static SourceRange rangeOf(const ParallelSpec &P) {
  return P.Schedule.isStated() ? P.Schedule.Range : P.Pp.Range;
}

/// Returns where the slot of an action is written, if anywhere.
SourceRange MessageVerifier::rangeOf(const Action &A) const {
  return A.Of && A.Of->Range.isValid() ? A.Of->Range
                                       : ::rangeOf(P.Spec.Parallel);
}

/// Verifies each stage by itself; reports the first error.
bool MessageVerifier::verifyOrder() {
  for (const CheckedStage &Of : C.Stages) {
    const std::string Stage = name(Of.Calls.stage());
    if (Of.Calls.hasFailed()) {
      Diags.report(::rangeOf(P.Spec.Parallel), diag::VerifyIndex, Stage);
      return false;
    }
    if (!Of.Why.empty()) {
      Diags.report(rangeOf(Of.Wrong), diag::VerifyAction, Stage,
                   getName(Of.Wrong.Kind), Of.Wrong.MicroBatch, Of.Wrong.Chunk,
                   Of.Why);
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
  int64_t At = 0;
  while (!Run.isStuck(static_cast<size_t>(At)))
    ++At;
  const Action *A = waitsFor(static_cast<size_t>(At));
  DiagnosticBuilder D =
      Diags.report(rangeOf(*A), diag::VerifyMessages, name(At),
                   getName(A->Kind), A->MicroBatch, A->Chunk, name(A->Peer));
  std::vector<bool> Seen(C.Stages.size());
  for (Seen[static_cast<size_t>(At)] = true;;
       Seen[static_cast<size_t>(At)] = true) {
    const SourceRange Range = rangeOf(*A);
    At = A->Peer;
    if (Seen[static_cast<size_t>(At)])
      return;
    if (!Run.isStuck(static_cast<size_t>(At))) {
      D.note(Range, diag::VerifyEnded, name(At));
      return;
    }
    A = waitsFor(static_cast<size_t>(At));
    D.note(rangeOf(*A), diag::VerifyWaits, name(At), getName(A->Kind),
           A->MicroBatch, A->Chunk, name(A->Peer));
  }
}

void MessageVerifier::verify() {
  const bool HaveEnded = Run.run();
  if (!verifyOrder())
    return;
  if (C.Different) {
    const auto &[Of, First, Second] = *C.Different;
    Diags.report(rangeOf(Of), diag::VerifyTags, name(Second.Stage),
                 getName(Of.Kind), Of.MicroBatch, Of.Chunk, Second.Tag,
                 name(First.Stage), First.Tag);
    return;
  }
  if (!HaveEnded)
    return reportStuck();
  for (const CheckedStage &Of : C.Stages)
    if (std::optional<Action> A = Of.Order.missing()) {
      Diags.report(rangeOf(*A), diag::VerifyMissing, name(Of.Calls.stage()),
                   getName(A->Kind), A->MicroBatch, A->Chunk);
      return;
    }
}

/// Returns whether a schedule has more actions than are followed.
static bool isTooLong(const Schedule &S) {
  const Elements Size = Elements(S.Stages) * S.Chunks * S.MicroBatches;
  int64_t Iterations = Size.isOverflow() ? INT64_MAX : Size.value();
  for (int64_t Stage = 0; Stage < S.Stages && Iterations <= MaxActions; ++Stage)
    Iterations += std::min(ScheduleWalker(S, Stage).iterations(), MaxActions);
  return Iterations > MaxActions;
}

void foretrace::ir::verifyMessages(const Program &P, DiagnosticEngine &Diags) {
  const Schedule Small = foldSizes(P.Schedule);
  const bool IsSmall = !isTooLong(Small);
  if (IsSmall) {
    DiagnosticEngine Unseen;
    MessageVerifier(P, Small, Unseen).verify();
    if (!Unseen.hasErrors())
      return;
  }
  const SourceRange Range = ::rangeOf(P.Spec.Parallel);
  // A counter-example is of the job's own stages, if they can be followed.
  const Schedule Large = foldMicroBatches(P.Schedule);
  if (!isTooLong(Large)) {
    MessageVerifier(P, Large, Diags).verify();
  } else if (IsSmall) {
    Diags.report(Range, diag::VerifyFolded, Small.Stages, Small.Chunks,
                 Small.MicroBatches, MaxActions);
    MessageVerifier(P, Small, Diags).verify();
  } else {
    Diags.report(Range, diag::VerifyLimit, MaxActions);
  }
}
