// SPDX-License-Identifier: Apache-2.0
//
// From the traces of a run to times and links: what `cost calibrated` reads.
#pragma once

#include "backends/megatron/Skeleton.h"
#include "backends/megatron/Timing.h"
#include "ir/model/Spec.h"
#include "tools/runs/TraceReader.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

namespace foretrace::runs {

/// Practically unlimited: the bandwidth of a link whose messages of any size
/// take the same time.
inline constexpr int64_t EndlessBandwidth = 1'000'000'000'000'000;

/// The costs as a TOML file; \p Comment is its first line.
void writeProfile(const ir::CostSpec &C, llvm::StringRef Comment,
                  llvm::raw_ostream &OS);

/// Gathers the durations of a run that is as planned, then fits. What several
/// ranks do together took as long as on the rank that came last: the others
/// waited. All times are in ns.
class Calibration {
public:
  /// \p P has schedule and sync; both outlive this.
  Calibration(const ir::Program &P, const megatron::Skeleton &S);

  /// The rows that follow are of \p Rank, on stage \p Stage.
  void begin(int64_t Rank, int64_t Stage);
  /// The next row of the rank; rows without a duration count for nothing.
  void take(const SeenRow &Row);

  bool isEmpty() const { return Steps.empty(); }
  /// The job's costs. What could not be measured is left out.
  ir::CostSpec fit() const;

  /// Samples of one kind, and the median of how far they are from an estimate,
  /// relative to what was measured.
  struct Family {
    std::string Name;
    size_t Samples;
    double Error;
  };
  /// \p Fitted is the program with costs of `fit`.
  std::vector<Family> errors(const ir::Program &Fitted) const;

  /// From the first row of a rank to its last one before gradients are reduced;
  /// by rank, one for each iteration.
  struct Pipeline {
    int64_t Stage;
    std::vector<double> Measured;
  };
  const std::map<int64_t, Pipeline> &pipelines() const { return Pipelines; }
  /// A call that ranks make together: the time of the rank that came last.
  struct Meeting {
    double Least = 0;
    double WireBytes = 0;    ///< of the rank with most (Timing::wireBytes)
    double AllWireBytes = 0; ///< of all ranks
    double Elements = 0;     ///< of a gradient buffer
    std::optional<ir::OpKind> Comm; ///< none: a message
    int64_t Come = 0;
  };
  /// Visits what all members were seen at, in order.
  void forEachMeeting(llvm::function_ref<void(const ir::ProcessGroup &,
                                              const Meeting &)>) const;
  int64_t members(const ir::ProcessGroup &G) const;

  /// The median of steps of one kind of stage.
  struct StepTime {
    const ir::Stage *Stage;
    int64_t Chunk;
    megatron::RowKind Kind;
    double Time;
  };
  /// Returns the times of all rows that are not messages.
  std::vector<StepTime> steps() const;
  /// From the end of an exchange of tokens to the start of the next, on ranks
  /// with \p Load rows relative to the mean: work of experts.
  struct ExpertTime {
    bool IsBackward;
    double Load, Time;
  };
  /// The medians of each load.
  std::vector<ExpertTime> expertTimes() const;
  /// The median of the time between rows.
  double hostGap() const;
  /// Time for an element of gradients before their reduction.
  double gradientScaling() const;
  /// Rows that the most loaded rank of experts gets, relative to the mean; 1
  /// without experts.
  double expertLoad() const;

  /// Blocks whose times can't be told apart: there are fewer kinds of stages
  /// than blocks.
  bool isUnderdetermined() const;

private:
  /// A call that several ranks make together: group, first member, iteration,
  /// and place.
  using MeetingPlace = std::tuple<size_t, int64_t, int64_t, int64_t, int64_t>;
  /// The rows of one body.
  struct MeasuredBody {
    const ir::Stage *Stage;
    int64_t Chunk;
    std::vector<double> Durations;
    std::vector<double> Computing; ///< without the calls within
  };
  /// Time of a block in each pass, by its index.
  struct Equation {
    std::map<unsigned, double> Layers;
    double Time;
  };

  void takeExperts(const megatron::TraceRow &Planned, const SeenRow &Seen);
  void takeStep(const megatron::TraceRow &Planned, const SeenRow &Seen,
                double Duration);
  void takeMessages(const megatron::TraceRow &Planned, const SeenRow &Seen,
                    double Duration, bool IsCombined);
  /// \p Call is its index in the row, or -1 for what the row itself is.
  void meet(const megatron::TraceRow &Planned, const ir::ProcessGroup &G,
            std::optional<ir::OpKind> Comm, double WireBytes, double Duration,
            int64_t Call);
  void meet(const megatron::TraceRow &Planned, const megatron::TraceMessage &M,
            double Duration, int64_t Call);
  MeetingPlace placeOf(const megatron::TraceRow &Planned,
                       const ir::ProcessGroup &G, int64_t Call) const;
  std::vector<Equation> equations(const megatron::Timing &Links,
                                  bool IsBackward) const;
  double timePerParameter(const megatron::RowBody &Optimizer,
                          const megatron::Timing &Links) const;
  const megatron::RowBody *lastOptimizer(const megatron::Timing &Links) const;
  void fitLinks(ir::CostSpec &Out, double Scaling) const;
  void fitBlocks(ir::CostSpec &Out, const megatron::Timing &Links,
                 bool IsBackward) const;

  const ir::Program &P;
  const megatron::Skeleton &Plan;
  const megatron::Timing Sizes;
  const ir::RankMap Map;
  std::map<int64_t, std::vector<megatron::TraceRow>> Rows; ///< by stage
  llvm::MapVector<const megatron::RowBody *, MeasuredBody> Steps;
  std::map<MeetingPlace, Meeting> Meetings;
  std::map<std::pair<bool, double>, std::vector<double>> Experts;
  std::vector<double> Gaps;
  std::map<int64_t, Pipeline> Pipelines;
  // State of the current trace.
  int64_t Rank = 0;
  const std::vector<megatron::TraceRow> *Planned = nullptr;
  size_t Taken = 0;
  double LastEnd = -1, Begun = -1;
};

} // namespace foretrace::runs
