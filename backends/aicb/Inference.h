// SPDX-License-Identifier: Apache-2.0
//
// What the public generator's inference programs write of a step: the rows of
// each layer (workload_generator, SimAI_inference_workload_generator.py and
// Vidur_workload_generator.py). Its formulas are its own: the exact table of
// `emit simai` differs (docs/serving.md).
#pragma once

#include "ir/model/Spec.h"
#include "lang/Diagnostic.h"
#include "lang/Quantity.h"

namespace foretrace::aicb {

struct InferenceRow {
  enum class Message : unsigned char { None, AllReduce, AllToAll };
  llvm::StringRef Name; ///< a literal
  Message Is = Message::None;
  bool IsOfExperts = false; ///< its other columns then have times
  Bytes Size = {};
};

/// A step of a job that serves, in the generator's terms.
class InferenceStep {
public:
  explicit InferenceStep(const ir::Spec &S);

  /// Returns the rows of a layer of \p B.
  std::vector<InferenceRow> rowsOf(const ir::BlockSpec &B) const;
  /// Returns the bytes of a message between stages; 0 with one stage.
  Bytes stageMessage() const;
  bool isDeepSeek() const { return IsDeepSeek; }

private:
  const ir::Spec &S;
  bool IsDeepSeek;
  Bytes OfTokens, Combine, Dispatch;
};

/// Returns whether the generator has a step of \p S; reports why not.
bool checkInference(const ir::Spec &S, DiagnosticEngine &Diags);

} // namespace foretrace::aicb
