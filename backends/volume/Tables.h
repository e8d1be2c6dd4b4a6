// SPDX-License-Identifier: Apache-2.0
//
// Flows added up: by what causes them, kinds of groups, collectives, phases,
// stages and tiers. Private to the backend.
#pragma once

#include "analysis/CacheTransfer.h"
#include "analysis/Flows.h"
#include "backends/figures/Figures.h"

namespace foretrace::volume {

class Tables {
public:
  /// \p Sizes are those that \p Of writes to.
  Tables(FlowCounter &Of, ir::ExprTable &Sizes, const EmitRequest &Request);

  std::vector<NamedFigure> named();
  std::vector<FigureTable> tables();

private:
  /// Flows with something in common.
  struct Row {
    std::vector<std::string> Names;
    const Flow *First;
    Traffic Sum;
  };
  using Rows = std::vector<Row>;
  using Namer = llvm::function_ref<std::vector<std::string>(const Flow &)>;

  /// The one with most bytes across nodes, or most that are sent, first.
  Rows rowsBy(Namer NamesOf);
  Traffic total();
  bool hasCluster() const { return P.Spec.Cluster.has_value(); }
  void addTraffic(const Traffic &T, std::vector<Figure> &Row) const;
  void addColumns(std::vector<FigureColumn> &To) const;
  /// Amount by which rows are sorted.
  __int128 weightOf(const Traffic &T) const {
    return hasCluster() && All.CrossNode != 0 ? T.CrossNode : T.Sent.Value;
  }
  /// `ep = 64`: the keys that make a group.
  std::string keysOf(const Flow &F) const;
  /// Returns where the ops of a flow are written: `job.fore:14`.
  std::string placesOf(const Flow &F) const;

  std::string sentence();
  FigureTable causes();
  FigureTable groups();
  FigureTable phases();
  FigureTable collectives();
  FigureTable stages();
  FigureTable tiers();
  FigureTable groupsOfTiers();
  FigureTable exchanges();

  Figure figure(const Amount &Of) const;

  FlowCounter &Of;
  ir::ExprTable &Sizes;
  const EmitRequest &Request;
  const ir::Program &P;
  std::vector<Traffic> Traffics; ///< parallel to the flows
  Traffic All;
};

/// Returns the transfer between the engine of the job and the one that shares
/// its requests; empty if none does, and none if it is not counted.
std::optional<CacheTransfer> transferOf(const EmitRequest &Request);
/// Appends the transfer of a request.
void addTransfer(const CacheTransfer &Of, Figures &To);

} // namespace foretrace::volume
