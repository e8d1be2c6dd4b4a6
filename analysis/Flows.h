// SPDX-License-Identifier: Apache-2.0
//
// Messages of the ranks of each kind of stage: one flow per kind of group,
// collective and phase, with the links of the cluster that it crosses. Every
// count of sent bytes is a sum of flows.
#pragma once

#include "analysis/Analyses.h"
#include "analysis/Links.h"
#include "ir/model/Boundary.h"
#include "ir/model/Routing.h"

namespace foretrace {

/// The period for which bytes are counted.
enum class FlowSpan : unsigned char { Iteration, MicroBatch };

/// A number of bytes, and the expressions of which it is the sum. It may exceed
/// 2^63.
struct Amount {
  __int128 Value = 0;
  llvm::SmallVector<ir::ExprId, 1> Terms = {};

  Amount &operator+=(const Amount &More);
};

/// Bytes that ranks send in total.
struct Traffic {
  Amount Message; ///< as ir::messageBytes defines it, summed over ranks
  Amount Sent;    ///< bytes that leave their ports
  __int128 CrossNode = 0;
  std::vector<__int128> ByTier; ///< by tier of the cluster, if there is one

  Traffic &operator+=(const Traffic &More);
};

/// An exchange of the tokens of experts.
enum class Dispatch : unsigned char {
  None,       ///< another message
  ToExperts,  ///< what a rank receives depends on the load of its experts
  FromExperts ///< what a rank sends depends on its experts
};

struct Flow {
  unsigned Stage; ///< index into Program::Stages
  ir::Group Of;   ///< for messages between stages: {pp}
  /// None for messages between stages.
  std::optional<ir::OpKind> By;
  /// None for messages between stages.
  std::optional<ir::Phase> In;
  ir::Expr Message; ///< per rank of the stage
  /// For messages between stages, the distance from sender to receiver.
  int64_t Distance = 0;
  Dispatch Tokens = Dispatch::None; ///< None with balanced routing
  /// For copies of tokens, of which an NVLink domain gets one (`dispatcher =
  /// flex`): the experts of a token.
  std::optional<ir::TokenChoice> Copies = std::nullopt;
};

/// Counts what ranks send; with uneven routing, what they send on average.
class FlowCounter {
public:
  /// \p P has totals.
  FlowCounter(ir::ExprScope P, FlowSpan Per);

  const ir::Program &program() const { return *P; }
  llvm::ArrayRef<Flow> flows() const { return Flows; }
  /// Returns the number of ranks in one collective; 2 for a message between
  /// stages.
  int64_t ranksOf(const Flow &F) const;
  /// Merges flows that differ only in phase, in the receiver of messages, or in
  /// the direction of tokens.
  std::vector<Flow> withoutPhases() const;
  /// Returns the traffic of all ranks of its stages.
  Traffic trafficOf(const Flow &F);
  /// Returns the traffic of an exchange that sends each copy from its sender to
  /// its receiver, whatever the dispatcher does.
  Traffic trafficOfExchange(const Flow &F);
  /// Returns whether NVLink domains share copies of tokens in \p F, and ranks
  /// are spread over them so unevenly that each copy is counted on its own
  /// link.
  bool isUnevenlyShared(const Flow &F) const;
  /// Returns the bytes that leave the ports of one rank of its stages: the
  /// mean, rounded up.
  Amount sentByRank(const Flow &F);
  /// Returns the bytes that leave the ports of all members of one group.
  Amount sentByGroup(const Flow &F);
  /// Returns the bytes that all ranks send to other nodes, as an expression
  /// that is valid for other values of keys: the sum of Traffic::CrossNode over
  /// all flows. The job has a cluster.
  ir::Expr crossNode();

private:
  void add(Flow New);
  void addOps(unsigned Stage, const ir::Block &B, ir::Expr Times);
  void addSends(unsigned Stage);
  ir::Expr countOf(ir::KeyId Id, unsigned Block, unsigned Stage, int64_t Value);
  StageRange stagesOf(const Flow &F) const;
  ir::Expr sendersOf(const Flow &F);
  /// Returns how often the message leaves the ports of a group's members.
  ir::Expr timesSent(const Flow &F);
  __int128 linksOfGroup(const Flow &F) const;
  ir::Expr linkCountOf(const Flow &F);
  LinkSpan linksOf(const Flow &F) const;
  Amount sentOverLinks(const Flow &F);
  void shareCopies(const Flow &F, const LinkSpan &Span, Traffic &T) const;

  ir::ExprScope P;
  const FlowSpan Per;
  LinkMap Links;
  const ir::Expr MicroBatches; ///< number that pass through each chunk
  std::vector<Flow> Flows;
};

/// The stages of one kind, and the messages of each to other stages.
struct StageSends {
  StageRange Stages;
  llvm::SmallVector<ir::StageMessages, 2> To;
};
std::vector<StageSends> sendsOfStages(const ir::Program &P);

/// Counts the links of a program's flows, per kind of stage. KeyId::StageLinks
/// has, for each collective, the number of groups with a full set of links and
/// the number of remaining links, and the same for links within a node.
/// KeyId::StageLeaving is the number of messages to other stages times links to
/// other nodes, with the index of a boundary as slot.
class LinkCounter {
public:
  /// \p P has totals and a cluster.
  explicit LinkCounter(const ir::Program &P);

  /// Returns the counts for jobs of the structure of \p P, split into \p Stages
  /// on \p M.
  std::vector<StageCount> count(llvm::ArrayRef<StageSends> Stages,
                                const ir::Mesh &M) const;
  /// Returns the first slot of the counts for the collective of \p F.
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
