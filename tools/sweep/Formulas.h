// SPDX-License-Identifier: Apache-2.0
//
// Expressions of a sweep, conditions or metrics, for some points at a time.
// Private to the sweep.
#pragma once

#include "frontend/sweep/SweepSpec.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace foretrace::sweep {

class Formulas {
public:
  using Column = ir::ColumnEvaluator::Column;

  Formulas(const SweepSpec &S, llvm::ArrayRef<ir::ExprId> Of);

  bool empty() const { return Code.results().empty(); }
  size_t size() const { return Code.results().size(); }
  /// What they are made of: keys of the job, of axes and of metrics.
  llvm::ArrayRef<ir::ExprCode::Leaf> leaves() const { return Code.leaves(); }

  /// Evaluates \p Count points, of which \p Fill writes what a leaf is worth.
  void
  run(size_t Count,
      llvm::function_ref<void(ir::Key, llvm::MutableArrayRef<int64_t>)> Fill);
  /// `NoValue` if there is none.
  int64_t value(size_t Formula, size_t Point);

private:
  const ir::ExprCode Code;
  ir::ColumnEvaluator Columns;
  ir::RowEvaluator Row; ///< of a point that lacks numbers
  std::vector<Column> Inputs;
};

} // namespace foretrace::sweep
