// SPDX-License-Identifier: Apache-2.0
//
// What the ranks of each kind of stage send: one flow for each kind of group,
// collective and phase, and over which links of the cluster it goes. Whoever
// counts bytes that are sent adds up flows.
#ifndef FORETRACE_ANALYSIS_FLOWS_H
#define FORETRACE_ANALYSIS_FLOWS_H

#include "analysis/Analyses.h"
#include "analysis/Links.h"

namespace foretrace {

/// What bytes are of.
enum class FlowSpan : unsigned char { Iteration, MicroBatch };

/// A number of bytes, and the expressions whose sum it is. It may be beyond
/// 2^63.
struct Amount {
  __int128 Value = 0;
  llvm::SmallVector<ir::ExprId, 1> Terms = {};

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
  FlowCounter(ir::ExprScope P, FlowSpan Per);

  const ir::Program &program() const { return *P; }
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
  /// Bytes that all ranks send to other nodes, as an expression that holds for
  /// other numbers of keys, too: Traffic::CrossNode of all flows. The job has a
  /// cluster.
  ir::Expr crossNode();

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
  ir::Expr linkCountOf(const Flow &F);
  LinkSpan linksOf(const Flow &F) const;

  ir::ExprScope P;
  const FlowSpan Per;
  LinkMap Links;
  const ir::Expr MicroBatches; ///< that go through each chunk
  std::vector<Flow> Flows;
};

/// The stages of one kind, and what each of them sends to others.
struct StageSends {
  StageRange Stages;
  llvm::SmallVector<ir::Schedule::Messages, 2> To;
};
std::vector<StageSends> sendsOfStages(const ir::Program &P);

/// Counts the links of a program's flows, as numbers of its kinds of stages. By
/// KeyId::StageLinks for each collective: how many groups have as many links as
/// there are, and how many links are left; then the same of the links within a
/// node. By KeyId::StageLeaving: messages to other stages times links to other
/// nodes.
class LinkCounter {
public:
  /// \p P is totalled, and has a cluster.
  explicit LinkCounter(const ir::Program &P);

  /// The counts for jobs of \p P's structure, split into \p Stages on \p M.
  std::vector<StageCount> count(llvm::ArrayRef<StageSends> Stages,
                                const ir::Mesh &M) const;
  /// The first of the slots that the counts of \p F's collective have.
  unsigned slotOf(const Flow &F) const;
  static constexpr unsigned NumSlots = 4;

private:
  struct Collective {
    ir::Group Of;
    ir::OpKind By;
  };
  const ir::ClusterSpec &Cluster;
  const ir::RankOrderKind Order;
  std::vector<std::vector<Collective>> Collectives; ///< by kind of stage
};

} // namespace foretrace

#endif
