// SPDX-License-Identifier: Apache-2.0
//
// How long rows and calls take, from the times of a program with costs and the
// links of its job. In ns.
#pragma once

#include "analysis/CollectiveTimes.h"
#include "backends/megatron/Trace.h"
#include "ir/model/Program.h"

namespace foretrace::megatron {

/// A collective, or a message between stages, as a trace shows it.
struct TraceMessage {
  const ir::ProcessGroup *Ranks;
  std::optional<ir::OpKind> Comm; ///< nothing: sent from one to another
  Bytes Size;                     ///< of the tensor that is logged
};

class Timing {
public:
  /// \p P may lack costs if only sizes are asked for.
  explicit Timing(const ir::Program &P);

  /// Time of a row of a stage without its messages.
  int64_t compute(const RowBody &B, const ir::Stage &S, int64_t Chunk) const;
  /// Returns the time of a step with all its calls, of a row that is one.
  int64_t stepTime(const RowBody &B, const ir::Stage &S, int64_t Chunk) const;
  /// Returns whether times follow from laws, those of `cost estimate`.
  bool isEstimated() const { return Links.has_value(); }
  /// Latency, and bytes on the wire by the link's bandwidth, or with `cost
  /// estimate` the law of the collective; 0 for a group of one rank, or without
  /// a link. A router is taken to send as much to every rank.
  int64_t transfer(const TraceMessage &M) const;
  int64_t transfer(const Transfer &T) const;
  /// Returns the time of a row's calls, of its other collectives, and of the
  /// scaling of gradients before their reduction, in ns.
  int64_t within(const RowBody &B) const;
  /// All of these.
  int64_t total(const RowBody &B, const ir::Stage &S, int64_t Chunk) const;
  /// Returns the host's time between two rows.
  int64_t hostGap() const { return measured("host_gap"); }
  /// Returns the message that a row is itself, if the row has its size.
  std::optional<TraceMessage> messageOf(const RowBody &B) const;
  TraceMessage messageOf(const SubOperation &S) const;

  int64_t groupSize(const ir::ProcessGroup &G) const;
  /// The axis whose link carries the group's messages.
  static ir::Axis linkOf(const ir::ProcessGroup &G) {
    return G.Group.Axes.back();
  }
  /// Returns the bytes that each rank sends. Divided by the time they are the
  /// bus bandwidth of the NCCL tests.
  double wireBytes(const TraceMessage &M) const;
  static double wireBytes(const Transfer &T);
  /// Returns the size of a message (ir::messageBytes) of which a rank sends \p
  /// WireBytes; nothing as \p Comm is a message from one to another.
  static double messageSize(std::optional<ir::OpKind> Comm, int64_t Ranks,
                            double WireBytes);

  /// Parameters that a rank of a stage updates.
  int64_t parameters(const ir::Stage &S) const;

  /// Elements by which the time "gradients" or "optimizer" grows.
  static constexpr double Million = 1e6;

  /// Upper bound of every time, so that sums can't overflow.
  static constexpr int64_t MaxTime =
      ir::ProfileTime::MaxSeconds * 1'000'000'000;

private:
  int64_t measured(llvm::StringRef Name) const;
  int64_t updateTime(const ir::Stage &S) const;
  int64_t scaling(Elements Gradients) const;
  int64_t transfer(const ir::ProcessGroup &G, std::optional<ir::OpKind> Comm,
                   double WireBytes) const;
  Bytes bytesOf(const LoggedTensor &T) const;

  const ir::Program &P;
  mutable std::optional<CollectiveTimes> Links; ///< of `cost estimate`
  int64_t Received; ///< rows, if a router sends as much to every rank
};

} // namespace foretrace::megatron
