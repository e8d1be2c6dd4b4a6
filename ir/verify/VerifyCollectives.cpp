// SPDX-License-Identifier: Apache-2.0
//
// Whether the members of a group issue the same collectives in the same order.
// Ranks of one stage run one program: only groups across stages can disagree.
// Their collectives stand in the steps of stages, which run against each other.
#include "ir/schedule/Rendezvous.h"
#include "ir/verify/VerifyParts.h"
#include "lang/diagnostics/IR.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// A collective of a step, across stages.
struct Issue {
  const Op *Of;
};

/// A stage on its way through its collectives.
struct StepCursor {
  llvm::ArrayRef<Issue> Issues;
  size_t At = 0; ///< the one after that it is in
  Meeting Now;
};

class CollectiveClient {
public:
  CollectiveClient(const Program &P);

  bool begin(size_t I);
  static size_t parts(size_t) { return 1; }
  Meeting meeting(size_t I, size_t) const { return Stages[I].Now; }
  static int64_t duration(size_t, size_t) { return 0; }
  static void end(size_t, int64_t, int64_t) {}

  const Issue &current(size_t I) const {
    return Stages[I].Issues[Stages[I].At - 1];
  }
  /// Two stages that meet with something else.
  struct Mismatch {
    size_t First, Second;
    Issue Has, Other;
  };

  std::vector<StepCursor> Stages;
  std::optional<Mismatch> Different;
  std::optional<size_t> Outsider; ///< a stage that is in no group of its op

private:
  /// Returns which of the groups of a kind a stage is in, and their size;
  /// nothing if it is in none.
  std::optional<std::pair<size_t, int64_t>> groupOf(const Group &G,
                                                    size_t Stage) const;

  struct First {
    size_t Stage;
    Issue Of;
  };
  const Program &P;
  std::vector<std::vector<Issue>> Kinds; ///< parallel to P.Stages
  /// Meetings by group, by which of its kind, and by how many came before.
  using Name = std::tuple<AxisList, GroupMembers, size_t, size_t>;
  std::map<Name, size_t> Ids;
  std::map<std::tuple<AxisList, GroupMembers, size_t>, size_t> Counts;
  std::vector<First> Firsts; ///< by meeting
};

} // namespace

CollectiveClient::CollectiveClient(const Program &P) : P(P) {
  for (const Stage &S : P.Stages) {
    std::vector<Issue> &Of = Kinds.emplace_back();
    for (const Op &O : P.Blocks[S.Step].Ops)
      if (isCollective(O.Kind) && O.Group.spans(Axis::Pp))
        Of.push_back({&O});
  }
  for (size_t Kind = 0; Kind < Kinds.size(); ++Kind)
    for (int64_t I = 0; I < P.Stages[Kind].Count; ++I)
      Stages.push_back({Kinds[Kind], 0, {}});
}

std::optional<std::pair<size_t, int64_t>>
CollectiveClient::groupOf(const Group &G, size_t Stage) const {
  const size_t Last = Stages.size() - 1;
  switch (G.Members) {
  case GroupMembers::All:
    return {{0, static_cast<int64_t>(Stages.size())}};
  case GroupMembers::Ends:
    if (Stage != 0 && Stage != Last)
      return std::nullopt;
    return {{0, Last == 0 ? 1 : 2}};
  case GroupMembers::Pairs:
    return {{std::min(Stage, Last - Stage), Stage == Last - Stage ? 1 : 2}};
  }
  llvm_unreachable("every kind of members is handled");
}

bool CollectiveClient::begin(size_t I) {
  StepCursor &S = Stages[I];
  if (Different || Outsider || S.At == S.Issues.size())
    return false;
  const Issue &Of = S.Issues[S.At++];
  const Group &G = Of.Of->Group;
  auto In = groupOf(G, I);
  if (!In) {
    Outsider = I;
    return false;
  }
  const size_t Before = Counts[{G.Axes, G.Members, I}]++;
  auto [It, IsNew] =
      Ids.try_emplace({G.Axes, G.Members, In->first, Before}, Ids.size());
  S.Now = {It->second, In->second, true};
  if (IsNew) {
    Firsts.push_back({I, Of});
    return true;
  }
  const First &Other = Firsts[It->second];
  if (Other.Of.Of->Kind != Of.Of->Kind ||
      messageBytes(P, *Other.Of.Of) != messageBytes(P, *Of.Of))
    Different = {I, Other.Stage, Of, Other.Of};
  return true;
}

/// `all_reduce(pp ends) of 8192 bytes`.
static std::string describeIssue(const Program &P, const Issue &Of) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << getMnemonic(Of.Of->Kind) << '(' << Of.Of->Group << ") of "
     << messageBytes(P, *Of.Of).value() << " bytes";
  return Text;
}

/// Reports the first stage that waits, and what the first missing one does
/// instead.
static void reportStuck(const CollectiveClient &C,
                        const Rendezvous<CollectiveClient> &Run,
                        const Program &P, DiagnosticEngine &Diags) {
  size_t At = 0;
  while (!Run.isStuck(At))
    ++At;
  const Issue &Of = C.current(At);
  DiagnosticBuilder D =
      Diags.report(Of.Of->Origin.Range, diag::VerifyGroupWait,
                   describeStage(P, At), describeIssue(P, Of));
  for (size_t Other = 0; Other < C.Stages.size(); ++Other) {
    const bool IsStuck = Run.isStuck(Other);
    if (IsStuck && C.Stages[Other].Now.Id == C.Stages[At].Now.Id)
      continue;
    if (IsStuck)
      D.note(C.current(Other).Of->Origin.Range, diag::VerifyGroupNext,
             describeStage(P, Other), describeIssue(P, C.current(Other)));
    else
      D.note(Of.Of->Origin.Range, diag::VerifyEnded, describeStage(P, Other));
    return;
  }
}

void foretrace::ir::verifyCollectives(const Program &P,
                                      DiagnosticEngine &Diags) {
  for (const LayerGroup &G : P.Layers)
    for (const BlockRun &R : G.Runs)
      for (const Op &O : P.Blocks[R.Block].Ops)
        if (isCollective(O.Kind) && O.Group.spans(Axis::Pp)) {
          Diags.report(O.Origin.Range, diag::VerifyGroupLayer,
                       getMnemonic(O.Kind), P.Blocks[R.Block].Name);
          return;
        }
  if (llvm::any_of(P.Stages, [](const Stage &S) { return !S.Step.isValid(); }))
    return; // reported
  CollectiveClient C(P);
  Rendezvous<CollectiveClient> Run(C, C.Stages.size());
  const bool HaveEnded = Run.run();
  if (C.Outsider) {
    const Issue &Of = C.current(*C.Outsider);
    Diags.report(Of.Of->Origin.Range, diag::VerifyGroupMember,
                 describeStage(P, *C.Outsider), describeIssue(P, Of));
  } else if (C.Different) {
    const auto &[I, J, Has, Other] = *C.Different;
    Diags
        .report(Has.Of->Origin.Range, diag::VerifyGroupOrder,
                describeStage(P, int64_t(I)), describeIssue(P, Has),
                describeStage(P, J), describeIssue(P, Other))
        .note(Other.Of->Origin.Range, diag::VerifyGroupNext,
              describeStage(P, J), describeIssue(P, Other));
  } else if (!HaveEnded) {
    reportStuck(C, Run, P, Diags);
  }
}
