// SPDX-License-Identifier: Apache-2.0
//
// The rows of a trace of LLMServingSim: what a rank of each stage does in a
// step, an op a row, with the message after it.
#pragma once

#include "backends/Backend.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>
#include <vector>

namespace foretrace::llmservingsim {

/// The network of one instance, or of those that share experts, as
/// LLMServingSim sees it (serving/core/config_builder.py,
/// _compute_network_dims).
struct Dimensions {
  /// Ranks along each dimension, the innermost first.
  std::vector<int64_t> Sizes;
  bool HasReplicas = false; ///< the last one is of attention replicas

  static Dimensions of(const ir::Spec &S);
};

/// A computation, or the markers around a message between instances.
struct StepRow {
  std::string Name; ///< without the number of the row
  bool IsMarker = false;
  int64_t Time = 0;                          ///< ns
  int64_t Input = 0, Weight = 0, Output = 0; ///< bytes
  std::string Message = "NONE";
  int64_t Sent = 0; ///< bytes of the message
};

/// What the first two lines of a trace say.
struct StepShape {
  int64_t Rows = 0;
  std::vector<int64_t> Boundaries; ///< first rows of stages but the first
};

/// Calls \p Visit with all rows of \p Request's job, in order. Reports to
/// \p Diags what the format has no word for.
StepShape forEachRow(const EmitRequest &Request, DiagnosticEngine &Diags,
                     llvm::function_ref<void(const StepRow &)> Visit);

/// Writes the file of the cluster, of models called \p Model on \p Hardware.
void writeCluster(const ir::Spec &S, llvm::StringRef Model,
                  llvm::StringRef Hardware, llvm::raw_ostream &OS);
/// Returns the name of the type of \p S's weights; empty if there is none.
llvm::StringRef typeOfWeights(const ir::Spec &S);
/// Returns `pd_type` of instances: prefill, decode, or nothing.
llvm::StringRef poolOf(const ir::Spec &S);

} // namespace foretrace::llmservingsim
