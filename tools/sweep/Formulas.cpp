// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Formulas.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace foretrace::sweep {

Formulas::Formulas(const SweepSpec &S, ArrayRef<ir::ExprId> Of)
    : Code(S.Sizes, Of), Columns(Code), Row(Code),
      Inputs(Code.leaves().size()) {}

void Formulas::run(size_t Count,
                   function_ref<void(ir::Key, MutableArrayRef<int64_t>)> Fill) {
  for (const auto &[Index, L] : enumerate(Code.leaves())) {
    const MutableArrayRef<int64_t> Input(Inputs[Index].data(), Count);
    Fill(L.Key, Input);
    copy(Input, Columns.leaf(Index).begin());
  }
  Columns.run(Count);
}

int64_t Formulas::value(size_t Formula, size_t Point) {
  if (Columns.exists(Point))
    return Columns.values(Formula)[Point];
  Row.restart();
  for (size_t Leaf = 0; Leaf < Inputs.size(); ++Leaf)
    Row.set(Leaf, Inputs[Leaf][Point]);
  return Row.value(Formula);
}

} // namespace foretrace::sweep
