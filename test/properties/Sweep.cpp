// SPDX-License-Identifier: Apache-2.0
//
// A sweep says of each point what the ordinary compiler does: which are legal,
// their metrics, and what is reported first of the others.
#include "analysis/Figures.h"
#include "lang/diagnostics/Tools.h"
#include "tools/sweep/Report.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::sweep;

static size_t numMetrics(const Sweep &S) {
  return allFigures().size() + S.Space.spec().Metrics.size();
}

/// Of a condition, which it is: what stands in its message first.
static RejectionCause reasonOf(const Diagnostic &D) {
  if (D.Id != diag::WhereFailed)
    return {D.Id, ""};
  return {D.Id,
          llvm::StringRef(D.text()).split('`').second.split('`').first.str()};
}

/// What the compiler, and then the sweep, make of all points, in order.
static Tally compileAll(const Sweep &S, Compiler &Session) {
  Tally Out;
  Out.Metrics.resize(numMetrics(S));
  for (int64_t Point = 0; Point < S.Space.size(); ++Point) {
    const PointVerdict V = judge(Session, S, Point);
    if (V.Metrics.empty()) {
      ++Out.Rejected[reasonOf(*V.Job.engine().firstError())].Count;
    } else {
      Out.Accepted.push_back(Point);
      for (const auto &[Of, Value] : llvm::zip_equal(Out.Metrics, V.Metrics))
        Of.push_back(Value);
    }
    Session.forget(V.Job);
  }
  Out.reduce({}, Choice::of(S.Space.spec()));
  return Out;
}

/// As the engine has them, in order of points, and without the blamed keys.
static Tally sweepAll(const Sweep &S, unsigned Threads) {
  Tally All;
  All.Metrics.resize(numMetrics(S));
  Engine(S).run({}, Threads, [&](int64_t, Tally &&T) {
    llvm::append_range(All.Accepted, T.Accepted);
    for (const auto &[To, From] : llvm::zip_equal(All.Metrics, T.Metrics))
      llvm::append_range(To, From);
    for (const auto &[Why, Of] : T.Rejected)
      All.Rejected[{Why.Reported,
                    Why.Reported == diag::WhereFailed ? Why.Key : ""}]
          .Count += Of.Count;
    return true;
  });
  std::vector<size_t> Order(All.Accepted.size());
  for (size_t I = 0; I < Order.size(); ++I)
    Order[I] = I;
  llvm::sort(Order, [&](size_t A, size_t B) {
    return All.Accepted[A] < All.Accepted[B];
  });
  auto Sort = [&](std::vector<int64_t> &Column) {
    std::vector<int64_t> Sorted;
    for (const size_t I : Order)
      Sorted.push_back(Column[I]);
    Column = std::move(Sorted);
  };
  for (std::vector<int64_t> &Column : All.Metrics)
    Sort(Column);
  Sort(All.Accepted);
  All.reduce({}, Choice::of(S.Space.spec()));
  return All;
}

static bool isSame(const Tally &A, const Tally &B) {
  auto IsSameReason = [](const auto &Pair) {
    const auto &[X, Y] = Pair;
    return X.first.Reported == Y.first.Reported && X.first.Key == Y.first.Key &&
           X.second.Count == Y.second.Count;
  };
  return A.Accepted == B.Accepted && A.Metrics == B.Metrics &&
         A.Rejected.size() == B.Rejected.size() &&
         llvm::all_of(llvm::zip(A.Rejected, B.Rejected), IsSameReason);
}

/// usage: check-sweep JOB [AXIS | FLAG:ENTRY]...
int main(int Argc, char **Argv) {
  SweepRequest Request = makeRequest();
  for (int I = 2; I < Argc; ++I) {
    const auto [Flag, Text] = llvm::StringRef(Argv[I]).split(':');
    Request.Entries.push_back(
        Text.empty() ? SweepRequest::Given{"sweep", Argv[I]}
                     : SweepRequest::Given{Flag.str(), Text.str()});
  }
  Compiler Session;
  DiagnosticEngine Diags;
  std::optional<SweepSpec> Spec =
      Session.readSweep(Argv[1], {}, Request, Diags);
  for (const Diagnostic &D : Diags.diagnostics())
    llvm::errs() << D.text() << '\n';
  if (!Spec)
    return 2;
  const Sweep S{Argv[1], {}, {}, llvm::cantFail(Space::make(std::move(*Spec)))};
  const Tally Expected = compileAll(S, Session), One = sweepAll(S, 1),
              Two = sweepAll(S, 2);
  if (!isSame(Expected, One) || !isSame(One, Two)) {
    llvm::errs() << Argv[1] << ": " << Expected.Accepted.size()
                 << " points are legal, " << One.Accepted.size()
                 << " accepted\n";
    for (const Tally *T : {&Expected, &One})
      for (const auto &[Why, Of] : T->Rejected)
        llvm::errs() << (T == &One ? "sweep: " : "compiler: ")
                     << getDiagnosticInfo(Why.Reported).Slug << ' ' << Of.Count
                     << '\n';
    return 1;
  }
  llvm::outs() << S.Space.size() << " points alike, "
               << Expected.Accepted.size() << " accepted, rejected for "
               << Expected.Rejected.size() << " reasons\n";
  return 0;
}
