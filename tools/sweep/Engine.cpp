// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Engine.h"
#include "analysis/DeviceMemory.h"
#include "analysis/Figures.h"
#include "tools/compiler/CompiledJob.h"
#include "tools/sweep/Worker.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ThreadPool.h"
#include <deque>
#include <future>
#include <mutex>

using namespace llvm;

namespace foretrace::sweep {

/// Large enough that reading a job once more for it does not count.
static constexpr int64_t UnitSize = int64_t(1) << 16;

Expected<Shard> Shard::read(StringRef Text) {
  Shard S;
  const auto [Index, Count] = Text.split('/');
  if (Index.getAsInteger(10, S.Index) || Count.getAsInteger(10, S.Count) ||
      S.Index < 1 || S.Index > S.Count)
    return createStringError("--shard: `" + Text +
                             "` is not one of some, such as `1/4`");
  return S;
}

std::string Shard::text() const {
  return (Twine(Index) + "/" + Twine(Count)).str();
}

namespace {
struct TypeRow {
  SweepSpec::Type Is;
  FigureUnit Unit;
};
} // namespace

static constexpr TypeRow TypeRows[] = {
    {SweepSpec::Type::Bytes, FigureUnit::Bytes},
    {SweepSpec::Type::Time, FigureUnit::Time},
    {SweepSpec::Type::Share, FigureUnit::Millionths},
    {SweepSpec::Type::Condition, FigureUnit::Flag}};

static SweepSpec::Type typeOf(FigureUnit U) {
  const auto *Row =
      find_if(TypeRows, [&](const TypeRow &R) { return R.Unit == U; });
  return Row == std::end(TypeRows) ? SweepSpec::Type::Count : Row->Is;
}

std::vector<FigureInfo> allMetrics(const SweepSpec &S) {
  std::vector<FigureInfo> All = allFigures();
  for (const SweepSpec::Metric &M : S.Metrics) {
    const auto *Row =
        find_if(TypeRows, [&](const TypeRow &R) { return R.Is == M.Is; });
    All.push_back({M.Name,
                   Row == std::end(TypeRows) ? FigureUnit::Count : Row->Unit,
                   M.Text});
  }
  return All;
}

bool readsTime(const SweepSpec &S) {
  return any_of(S.metricsRead(), [](size_t M) {
    return M < allFigures().size() && isOfTime(static_cast<FigureId>(M));
  });
}

ir::FactSet factsOfMetrics(const SweepSpec &S) {
  if (readsTime(S))
    return {ir::Fact::Totalled, ir::Fact::Scheduled, ir::Fact::Costs,
            ir::Fact::Traffic};
  return {ir::Fact::Totalled, ir::Fact::Workspace};
}

SweepRequest makeRequest() {
  SweepRequest R;
  for (const FigureInfo &M : allFigures())
    R.Metrics.push_back({M.Name, typeOf(M.Unit)});
  return R;
}

std::vector<Chooser::Point> Tally::points(const Chooser &C) const {
  std::vector<Chooser::Point> Points;
  Points.reserve(Accepted.size());
  for (const auto &[Row, Id] : enumerate(Accepted))
    Points.push_back(C.pointOf(
        Id, [&, Row = Row](size_t Metric) { return Metrics[Metric][Row]; }));
  return Points;
}

void Tally::reduce(const Choice &ByBest, const Choice &Kept) {
  if (ByBest.hasGoal()) {
    Chooser First(ByBest);
    First.add(points(First));
    Best = First.kept();
  }
  if (Kept.Keeps == SweepSpec::Kept::All)
    return;
  Chooser Own(Kept);
  const std::vector<int64_t> Dropped = Own.add(points(Own));
  const DenseSet<int64_t> Gone(Dropped.begin(), Dropped.end());
  size_t To = 0;
  for (size_t Row = 0; Row < Accepted.size(); ++Row) {
    if (Gone.contains(Accepted[Row]))
      continue;
    Accepted[To] = Accepted[Row];
    for (std::vector<int64_t> &Of : Metrics)
      Of[To] = Of[Row];
    ++To;
  }
  Accepted.resize(To);
  for (std::vector<int64_t> &Of : Metrics)
    Of.resize(To);
}

std::optional<int64_t> usableMemoryOf(const CompiledJob &First,
                                      const Space &Of) {
  const ir::Spec *S = First.spec();
  const auto Memory = S ? deviceMemoryOf(*S) : std::nullopt;
  if (!Memory)
    return std::nullopt;
  for (const SweepSpec::Axis &A : Of.axes())
    for (const SweepSpec::Key &K : A.Keys)
      if (StringRef(K.Name).starts_with("cluster."))
        return std::nullopt;
  return Memory->usable();
}

Engine::Engine(const Sweep &S)
    : S(S), P(S.Space), Best(Choice::best(S.Space.spec())),
      Kept(Choice::of(S.Space.spec())) {}

int64_t Engine::units() const {
  return S.Space.size() / UnitSize + (S.Space.size() % UnitSize != 0);
}

int64_t Engine::pointsOf(int64_t Unit) const {
  return std::min(UnitSize, S.Space.size() - Unit * UnitSize);
}

int64_t Engine::points() const {
  const int64_t Last = units() - 1, Count = S.Of.Count;
  const int64_t Units = units() / Count + (S.Of.Index <= units() % Count);
  return Units == 0 ? 0
                    : Units * UnitSize -
                          (S.Of.has(Last) ? UnitSize - pointsOf(Last) : 0);
}

namespace {

/// Hands out workers, one per thread.
class Workers {
public:
  Workers(const Sweep &S, const AxisOrder &P) : S(S), P(P) {}

  Tally run(int64_t First, int64_t Count) {
    std::unique_ptr<Worker> W = take();
    Tally Out = W->run(First, Count);
    const std::lock_guard<std::mutex> Lock(Guard);
    Free.push_back(std::move(W));
    return Out;
  }

private:
  std::unique_ptr<Worker> take() {
    const std::lock_guard<std::mutex> Lock(Guard);
    if (Free.empty())
      return std::make_unique<Worker>(S, P);
    std::unique_ptr<Worker> W = std::move(Free.back());
    Free.pop_back();
    return W;
  }

  const Sweep &S;
  const AxisOrder &P;
  std::mutex Guard;
  std::vector<std::unique_ptr<Worker>> Free;
};

} // namespace

void Engine::run(ArrayRef<int64_t> Done, unsigned Threads,
                 function_ref<bool(int64_t, Tally &&)> Take) const {
  Workers All(S, P);
  DefaultThreadPool Pool(hardware_concurrency(Threads));
  // Some units run ahead, so that no thread waits; not all.
  const size_t MaxRunning = 2 * Pool.getMaxConcurrency();
  struct Job {
    int64_t Unit;
    std::future<Tally> Result;
  };
  std::deque<Job> Running;
  auto TakeFirst = [&] {
    Job First = std::move(Running.front());
    Running.pop_front();
    return Take(First.Unit, First.Result.get());
  };
  bool GoesOn = true;
  for (int64_t Unit = 0, Last = units(); GoesOn && Unit < Last; ++Unit) {
    if (!S.Of.has(Unit))
      continue;
    if (!Done.empty() && Done.front() == Unit) {
      Done = Done.drop_front();
      continue;
    }
    // To wait for the pool's own future would run the unit on this thread.
    auto Result = std::make_shared<std::promise<Tally>>();
    Running.push_back({Unit, Result->get_future()});
    Pool.async([&All, this, Unit, Result] {
      Tally Found = All.run(Unit * UnitSize, pointsOf(Unit));
      Found.reduce(Best, Kept);
      Result->set_value(std::move(Found));
    });
    if (Running.size() == MaxRunning)
      GoesOn = TakeFirst();
  }
  while (GoesOn && !Running.empty())
    GoesOn = TakeFirst();
  Pool.wait();
}

} // namespace foretrace::sweep
