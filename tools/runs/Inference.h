// SPDX-License-Identifier: Apache-2.0
//
// What the traces of a run say of its job, and what they can't say.
#pragma once

#include "ir/model/Spec.h"
#include "tools/runs/TraceFiles.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <set>
#include <string>

namespace foretrace::runs {

/// Gathers facts from rows of all ranks, in any order.
class Inference {
public:
  void take(const SeenRow &Row);
  /// Takes every row of a trace.
  llvm::Error takeFile(llvm::StringRef Path);
  /// Takes traces in files and folders. An error if they have no row.
  llvm::Error takeFiles(const std::vector<std::string> &Given);
  /// Contradictions between traces, and files that are none: `file:line: what`.
  /// The first of each kind in a file, and how many there are.
  llvm::ArrayRef<std::string> doubts() const { return Doubts; }

  /// Writes a `.fore` file: what follows from the rows is stated; the rest is a
  /// comment with the reason. The job compiles once those are filled in.
  void write(llvm::raw_ostream &OS) const;
  /// Returns where the rows contradict \p S, a job of the run with all derived
  /// values:
  /// "`pp` is 4 in the traces, but 2 in the job".
  std::vector<std::string> contradictions(const ir::Spec &S) const;

private:
  /// The values a fact was seen with; one, if the traces agree.
  using Values = std::set<std::string>;

  void takeCalls(const SeenRow &Row);
  void writeModel(llvm::raw_ostream &OS) const;
  void writeExperts(llvm::raw_ostream &OS) const;
  void writeTrain(llvm::raw_ostream &OS) const;
  void writeParallel(llvm::raw_ostream &OS) const;
  bool isWhole() const;
  /// Returns whether tp > 1: v1 logs calls of one rank, but none of experts.
  bool isSplit() const {
    return HasLinearCalls || (HasExpertCalls && HasTensorCalls);
  }
  int64_t stages() const { return LastStage + 1; }
  int64_t world() const { return static_cast<int64_t>(Ranks.size()); }

  std::vector<std::string> Doubts;
  std::set<int64_t> Ranks;
  /// The first trace of each rank, and the stage that it states.
  std::map<int64_t, std::pair<std::string, int64_t>> FirstSeen;
  int64_t LastStage = 0;
  int64_t LastBatch = -1; ///< of forward_step
  std::map<int64_t, std::set<int64_t>> RanksOfStage;
  std::set<int64_t> StagesThatSend; ///< to a stage after them
  /// Layers with experts that a forward step passes; one number for each stage
  /// if it has one chunk.
  std::map<int64_t, std::set<int64_t>> LayersOfStage;
  Values Boundary, Precision, GradPrecision, Experts, Copies, Embedding;
  bool HasTensorCalls = false, HasLinearCalls = false, HasExpertCalls = false;
  bool HasScattered = false; ///< gradients, whose rows then have no shape
};

/// Returns whether the file has the arguments that a run prints, not a trace.
bool isLogFile(llvm::StringRef Path);

} // namespace foretrace::runs
