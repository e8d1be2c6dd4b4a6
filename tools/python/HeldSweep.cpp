// SPDX-License-Identifier: Apache-2.0
#include "tools/python/HeldSweep.h"
#include "analysis/Figures.h"
#include "tools/driver/Process.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ThreadPool.h"
#include <numeric>
#include <thread>

using namespace llvm;

namespace foretrace::python {

/// Makes the columns that are asked for, or all.
Error HeldSweep::selectColumns() {
  const std::vector<FigureInfo> All = sweep::allMetrics(S->Space.spec());
  std::vector<StringRef> Names;
  for (const FigureInfo &F : All)
    Names.push_back(F.Name);
  const std::vector<std::string> Wanted = Asked.Columns.value_or(
      std::vector<std::string>(Names.begin(), Names.end()));
  for (const std::string &Name : Wanted) {
    const auto At = static_cast<size_t>(find(Names, Name) - Names.begin());
    if (At == Names.size())
      return createStringError("`" + Name +
                               "` is not a metric; expected one of " +
                               join(Names, ", "));
    Metrics.push_back(At);
    Found.Columns.push_back({Name, getName(All[At].Unit).str(), {}});
  }
  return Error::success();
}

void HeldSweep::append(const sweep::Tally &T) {
  append_range(Found.Ids, T.Accepted);
  for (const auto &[Column, Metric] : zip_equal(Found.Columns, Metrics))
    append_range(Column.Values, T.Metrics[Metric]);
}

/// Sorts the rows of all kept points, and drops other rows and, if all columns
/// were taken, columns without values.
void HeldSweep::order(const sweep::Summary &Of) {
  std::vector<uint32_t> Rows(Found.Ids.size());
  std::iota(Rows.begin(), Rows.end(), 0);
  if (!Of.Kept.keepsAll()) {
    DenseSet<int64_t> Kept;
    for (const sweep::Chooser::Point &P : Of.Kept.kept())
      Kept.insert(P.Id);
    erase_if(Rows,
             [&](uint32_t Row) { return !Kept.contains(Found.Ids[Row]); });
  }
  if (!Asked.Columns)
    erase_if(Found.Columns, [](const SweepColumn &C) {
      return all_of(C.Values, [](int64_t V) { return V == ir::NoValue; });
    });
  auto IdOf = [&](uint32_t Row) { return Found.Ids[Row]; };
  if (Rows.size() == Found.Ids.size() && is_sorted(Found.Ids))
    return;
  llvm::sort(Rows, [&](uint32_t A, uint32_t B) { return IdOf(A) < IdOf(B); });
  auto Gather = [&Rows](std::vector<int64_t> &Values) {
    std::vector<int64_t> Ordered(Rows.size());
    for (size_t I = 0; I != Rows.size(); ++I)
      Ordered[I] = Values[Rows[I]];
    Values = std::move(Ordered);
  };
  DefaultThreadPool Pool(hardware_concurrency(Asked.Threads));
  Pool.async([&] { Gather(Found.Ids); });
  for (SweepColumn &C : Found.Columns)
    Pool.async([&] { Gather(C.Values); });
  Pool.wait();
}

/// Evaluates the points of `S`, and reports axes without effect.
CallOutcome HeldSweep::evaluate(Compiler &Session, DiagnosticEngine &Diags,
                                const std::atomic<bool> &Stop) {
  CompiledJob &First = sweep::replay(Session, *S, 0);
  if (!sweep::canBeSwept(First, Session.sources()))
    return outcomeOf(First.engine(), Session.sources());
  sweep::Summary Done(*S);
  if (Error E = sweep::evaluate(
          *S, {}, Asked.Threads, Done,
          [&](int64_t, const sweep::Tally &T, ArrayRef<int64_t>) {
            append(T);
            return Stop ? createStringError("interrupted") : Error::success();
          }))
    return {"", "", "", toString(std::move(E))};
  order(Done);
  Found.NumPoints = Done.Points;
  Found.NumAccepted = Done.Accepted;
  if (!Done.Best.kept().empty())
    Found.Best = Done.Best.kept().front().Id;
  for (const auto &[Why, Of] : Done.Rejected)
    Found.Rejected.push_back({getDiagnosticInfo(Why.Reported).Slug.str(),
                              Why.Key, Of.Count, Of.Example});
  stable_sort(Found.Rejected,
              [](const auto &A, const auto &B) { return A.Count > B.Count; });
  sweep::reportEffects(*S, Done, Diags);
  return outcomeOf(Diags, Session.sources());
}

CallOutcome HeldSweep::run(const std::atomic<bool> &Stop) {
  const driver::LargeStacks OfThreads;
  CallOutcome Out;
  std::thread([&] {
    const auto Files =
        sweep::freeze(vfs::getRealFileSystem(), Asked.Of.Path, Asked.Of.Text);
    Compiler Session(PassRunner(), Files);
    DiagnosticEngine Diags;
    SweepRequest Request = sweep::makeRequest();
    Request.File = Asked.AxesFile;
    Request.Entries = Asked.Entries;
    std::optional<SweepSpec> Spec =
        Session.readSweep(Asked.Of.Path, Asked.Of.options(), Request, Diags);
    if (!Spec) {
      Out = outcomeOf(Diags, Session.sources());
      return;
    }
    if (Spec->Axes.empty()) {
      Out.Misuse =
          "an axis is missing, for example axes={'parallel.tp': [1, 2]}";
      return;
    }
    Expected<sweep::Space> Space = sweep::Space::make(std::move(*Spec));
    if (!Space) {
      Out.Misuse = toString(Space.takeError());
      return;
    }
    S.emplace(
        sweep::Sweep{Asked.Of.Path, Asked.Of.options(), {}, std::move(*Space)});
    S->Files = Files;
    if (Error E = selectColumns()) {
      Out.Misuse = toString(std::move(E));
      return;
    }
    Out = evaluate(Session, Diags, Stop);
  }).join();
  return Out;
}

} // namespace foretrace::python
