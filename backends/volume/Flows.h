// SPDX-License-Identifier: Apache-2.0
//
// What the ranks of each kind of stage send: one flow for each kind of group,
// collective and phase. Every table of the backend adds up flows. Private to
// the backend.
#ifndef FORETRACE_BACKENDS_VOLUME_FLOWS_H
#define FORETRACE_BACKENDS_VOLUME_FLOWS_H

#include "analysis/Links.h"
#include "backends/volume/Volume.h"
#include "ir/model/Measure.h"

namespace foretrace::volume {

/// Bytes, and what they are the sum of.
struct Amount {
  __int128 Value = 0;
  llvm::SmallVector<ir::ExprId, 1> Terms = {};

  /// With its sum, of \p Sizes, but where that is beyond 2^63 or not rounded as
  /// the value is.
  Figure figure(ir::ExprTable &Sizes) const;
  Amount &operator+=(const Amount &More);
};

/// What ranks send together.
struct Traffic {
  Amount Message; ///< as ir::messageBytes says it, the sum over ranks
  Amount Sent;    ///< what leaves their ports
  __int128 CrossNode = 0;
  std::vector<__int128> ByTier; ///< of the cluster, if there is one

  Traffic &operator+=(const Traffic &More);
};

struct Flow {
  unsigned Stage; ///< index into Program::Stages
  ir::Group Of;   ///< of messages between stages: {pp}
  /// None: from a stage to another.
  std::optional<ir::OpKind> By;
  /// None: the same.
  std::optional<ir::Phase> In;
  ir::Expr Message; ///< of a rank of the stage
  /// Stages from sender to receiver, of messages between stages.
  int64_t Distance = 0;
};

class FlowCounter {
public:
  /// \p P is totalled.
  FlowCounter(const ir::Program &P, Span Per);

  const ir::Program &program() const { return P; }
  llvm::ArrayRef<Flow> flows() const { return Flows; }
  /// Ranks that take part in one collective; of a message between stages, 2.
  int64_t ranksOf(const Flow &F) const;
  /// Neither phases nor the other ends of messages told apart.
  std::vector<Flow> withoutPhases() const;
  /// Of all ranks of its stages.
  Traffic trafficOf(const Flow &F);
  /// What leaves the ports of one rank of its stages: the mean, rounded up.
  Amount sentByRank(const Flow &F);
  /// What leaves the ports of all members of one group.
  Amount sentByGroup(const Flow &F);
  ir::ExprTable &sizes() { return P.Sizes; }

private:
  void add(Flow New);
  void addOps(unsigned Stage, const ir::Block &B, ir::Expr Times);
  void addSends(unsigned Stage);
  ir::Expr countOf(ir::KeyId Id, unsigned Block, unsigned Stage, int64_t Value);
  StageRange stagesOf(const Flow &F) const;
  ir::Expr sendersOf(const Flow &F);
  /// As often as the message leaves the ports of a group's members.
  ir::Expr timesSent(const Flow &F);
  __int128 linksOfGroup(const Flow &F) const;
  LinkSpan linksOf(const Flow &F) const;

  ir::ExprOverlay P;
  LinkMap Links;
  const ir::Expr MicroBatches; ///< that go through each chunk
  std::vector<Flow> Flows;
};

} // namespace foretrace::volume

#endif
