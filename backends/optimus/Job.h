// SPDX-License-Identifier: Apache-2.0
//
// A job as Optimus-Prime runs it, its traced model cut into stages, and the
// forms it is written in.
#pragma once

#include "backends/Backend.h"
#include "backends/optimus/Options.h"
#include "ir/model/Program.h"
#include "lang/RowWriter.h"

namespace foretrace::optimus {

/// Bytes that a micro-batch takes to the next stage, in fp32: what the runtime
/// loads weights in unless it is told otherwise.
struct Payload {
  int64_t Sent;   ///< whole results of stages, some again
  int64_t Needed; ///< what later stages read
};

/// The job that is written, and that a log is compared with.
struct PartitionJob {
  const ir::Program &Program;
  optimus::Family Family;
  SplitPolicy Split;
  optimus::Graph Graph;
  PartitionPlan Plan;
  std::optional<int64_t> Length; ///< of the fx graph

  /// The job of a request that `check` found good.
  PartitionJob(const EmitRequest &Request, const Options &O);

  int64_t stages() const { return static_cast<int64_t>(Plan.Stages.size()); }
  const PlannedStage &stage(int64_t S) const {
    return Plan.Stages[static_cast<size_t>(S)];
  }
  const GraphValue &value(unsigned V) const { return Graph.Values[V]; }
  int64_t microBatches() const { return *Program.Spec.Parallel.Ga; }
  /// Leaf calls of all micro-batches.
  int64_t calls(const LayerPart &P) const {
    return static_cast<int64_t>(P.Leaves.size()) * microBatches();
  }
  /// `length:1618, modcnt:130, num_stage:8, segment:16`.
  std::string counts() const;
  /// The key that a part of a stage is logged under: a layer, `embed`,
  /// `lm_head`.
  std::string keyOf(const LayerPart &P) const;
  /// The ranks of a stage; tp varies fastest, then dp.
  std::vector<int64_t> ranks(int64_t Stage) const;
  int64_t stageOf(int64_t Rank) const;
  /// The ranks at the same place of all stages.
  std::vector<int64_t> pipelineOf(int64_t Rank) const;
  int64_t bytesOf(unsigned Value) const;
  /// Returns the payload behind a stage: nothing after the last one.
  Payload payloadAfter(int64_t Stage) const;
  /// The node of the split graph behind the submodule before \p Stage.
  llvm::StringRef firstNodeFor(int64_t Stage) const;

  // Elements of lists and dictionaries, as Python prints them.
  std::string lastNodes() const;     ///< `(0, 'mul_4'), (1, 'add_9')`
  std::string submodules() const;    ///< `(0, 'submod_0'), (1, 'submod_1')`
  std::string ranksOfStages() const; ///< `0: [0, 1], 1: [2, 3]`
  std::string specialNodes() const;  ///< `'submod_0': (0, 2)`
};

/// `1,235,814,400`
std::string withCommas(int64_t N);
/// `[0, 1]`, as Python prints a list.
std::string list(llvm::ArrayRef<int64_t> Numbers);

/// The job's way to cut, or what the runtime chooses: whole layers with tensor
/// parallelism.
SplitPolicy splitOf(const ir::ParallelSpec &P);

/// Writes one JSON object.
void writeJSON(const PartitionJob &J, llvm::raw_ostream &OS);
/// Writes a row for each stage: a table for reading, or CSV.
void writeStages(const PartitionJob &J, RowFormat As, bool IsExact,
                 llvm::raw_ostream &OS);
/// Writes the log lines of a run that follow from the job.
void writeLog(const PartitionJob &J, llvm::raw_ostream &OS);

} // namespace foretrace::optimus
