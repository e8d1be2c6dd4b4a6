// SPDX-License-Identifier: Apache-2.0
//
// Evaluates points for one thread. Private to the sweep.
#pragma once

#include "analysis/Figures.h"
#include "passes/Structure.h"
#include "passes/StructureCache.h"
#include "tools/compiler/Compiler.h"
#include "tools/sweep/Engine.h"
#include "tools/sweep/KnownStructure.h"
#include "tools/sweep/PointFilter.h"
#include "llvm/ADT/DenseMap.h"

namespace foretrace::sweep {

class Worker {
public:
  Worker(const Sweep &S, const AxisOrder &P);

  /// \p Count points from \p First on, in the order in which the plan goes
  /// through them.
  Tally run(int64_t First, int64_t Count);

private:
  static constexpr size_t BlockSize = PointBlock::Size;
  static constexpr size_t MaxStructures = 128; ///< of a job that are kept

  using Known = KnownStructure;

  void read(int64_t OuterPoint);
  void evaluate(int64_t First, int64_t Last);
  int64_t prune(int64_t First, int64_t Last);
  void append(int64_t First, size_t Count);
  void settle();
  void ask(Known &K);
  std::vector<StructureTimes::Number>
  numbersAt(llvm::function_ref<size_t(size_t)> Position) const;
  std::vector<StructureTimes::Number> numbersAt(size_t Row) const;
  ir::Program jobAt(size_t Row) const;
  void time(Known &K, llvm::ArrayRef<uint32_t> Rows,
            llvm::ArrayRef<uint32_t> Of);
  void compile(size_t Row);
  void flush();
  int64_t originOf(int64_t OuterPoint) const;
  int64_t pointAt(int64_t InnerPoint) const;

  const Sweep &S;
  const AxisOrder &P;
  PointBlock Block;
  PointFilter Filter;
  const std::vector<const PassInfo *> Passes; ///< to the facts of metrics
  PipelineTimer Timer;                        ///< of the job that was read
  /// Figures of time of rows of the block, by row.
  llvm::DenseMap<size_t, TimeFigures> Times;
  std::vector<uint32_t> Left;  ///< rows of the block without a verdict
  std::vector<bool> HasEffect; ///< by inner axis
  std::unique_ptr<Compiler> Session;
  unsigned Reads = 0;                      ///< of this session
  unsigned FirstUnread = 1;                ///< of its texts
  std::map<std::string, std::string> Read; ///< files, since the last run

  int64_t Outer = -1;                             ///< of the job that was read
  int64_t Origin = 0;                             ///< its least point
  std::optional<ir::Spec> Base;                   ///< nothing after an error
  std::optional<RejectionCause> Refused;          ///< why it has none
  std::shared_ptr<StageSplits> Splits;            ///< of all its structures
  std::vector<std::unique_ptr<Known>> Structures; ///< the last used first
  const ColumnStorage Columns;        ///< of all of them

  Tally Out;
};

} // namespace foretrace::sweep
