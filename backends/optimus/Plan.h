// SPDX-License-Identifier: Apache-2.0
//
// How Optimus-Prime cuts a traced model into stages, and what they exchange.
#pragma once

#include "backends/optimus/Graph.h"

namespace foretrace::optimus {

/// A value that leaves a stage: output \p Index of its submodule.
struct Output {
  unsigned Value;
  int64_t LastUser; ///< the last stage that reads it
  /// The node of the split graph that later stages read: a `getitem`, or the
  /// submodule itself if that has one output.
  std::string Node;
};

/// The part of a layer on a stage, or a leaf outside of layers.
struct LayerPart {
  int64_t Layer;                ///< -1 for a leaf outside of layers
  std::vector<unsigned> Leaves; ///< values they make
};

struct PlannedStage {
  int64_t Modules = 0;
  int64_t Parameters = 0; ///< with its own copy of a tied embedding
  unsigned Last = 0;      ///< the value that is said to end it
  std::vector<LayerPart> Parts;
  std::vector<Output> Outputs;        ///< in order of first use
  std::string Name;                   ///< of its submodule
  std::vector<std::string> Arguments; ///< nodes of the split graph

  /// Returns whether its submodule makes a tuple, so that getitem nodes follow.
  bool hasItems() const { return Outputs.size() > 1; }
};

/// A node of the split graph: a submodule, or an item of its result.
struct SplitNode {
  std::string Name;
  int64_t Stage;
  std::optional<size_t> Item; ///< the number of an output of the stage
};

/// A node of the split graph that a later stage needs: from stage First on,
/// Optimus-Prime passes it from stage to stage until stage Last has it.
struct SpecialNode {
  std::string Node;
  int64_t Owner; ///< the stage that makes it
  int64_t First, Last;
};

struct PartitionPlan {
  std::vector<PlannedStage> Stages;
  std::vector<SplitNode> Nodes;     ///< between the input and the output
  std::vector<SpecialNode> Special; ///< in the order they are found

  /// Returns the values of stages up to \p S that later stages read: an ideal
  /// transfer to the next stage would send just these.
  std::vector<unsigned> crossing(int64_t S) const;
  /// The stages whose whole output goes from stage \p S to the next, in order.
  std::vector<int64_t> sentAfter(int64_t S) const;
};

enum class SplitPolicy : unsigned char {
  Simple,      ///< equal numbers of leaf calls, the rest to the last stage
  LlamaTpSplit ///< whole layers; the embedding and the head count as one each
};
llvm::StringRef getName(SplitPolicy S);

/// Cuts \p G, which has enough leaves or layers, into \p Stages.
PartitionPlan makePlan(const Graph &G, SplitPolicy How, int64_t Stages,
                       int64_t Layers);

} // namespace foretrace::optimus
