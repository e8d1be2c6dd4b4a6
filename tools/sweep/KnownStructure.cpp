// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/KnownStructure.h"
#include "ir/model/SpecKeys.h"
#include "tools/sweep/Verdict.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace foretrace::sweep {

/// A key of the job as an expression of its program; 0 if the job has none.
static ir::ExprId numberIn(ir::ExprScope P, ir::Key K) {
  if (const auto Known = P.Sizes.find(K))
    return *Known;
  const Located<int64_t> *F = findField(P->Spec, K);
  return P.Sizes.constant(F && F->isPresent() ? **F : 0);
}

std::vector<std::optional<ir::ExprId>> figuresIn(ir::ExprScope P,
                                                 const Sweep &S,
                                                 ArrayRef<ir::Key> JobKeys,
                                                 Validity For) {
  std::vector<std::optional<ir::ExprId>> Figures =
      JobFigures(P, For).all([&](size_t M) { return S.measures(M); });
  for (const ir::Key K : JobKeys)
    Figures.push_back(numberIn(P, K));
  return Figures;
}

/// Sets which of them \p Of lacks; they are 0 then.
static ir::ExprCode figuresOf(const Structure &Of, const Sweep &S,
                              ArrayRef<ir::Key> JobKeys,
                              std::vector<bool> &Lacks) {
  if (Of.isRefusal())
    return {};
  ir::ExprOverlay P(Of.program());
  std::vector<ir::ExprId> Wanted;
  for (const std::optional<ir::ExprId> F :
       figuresIn(P, S, JobKeys, Validity::AnyKeys)) {
    Lacks.push_back(!F);
    Wanted.push_back(F.value_or(P.Sizes.constant(0)));
  }
  return {P.Sizes, Wanted};
}

KnownStructure::KnownStructure(Structure Made, const Sweep &S,
                               const AxisOrder &P, ArrayRef<ir::Key> JobKeys,
                               std::shared_ptr<StageSplits> Splits,
                               const ColumnStorage &In)
    : Of(std::move(Made)), Figures(figuresOf(Of, S, JobKeys, Lacks)),
      Columns(Of, Figures, std::move(Splits), In), Row(Of),
      Violated(Of.program().Checks.size()) {
  const std::vector<size_t> Depths =
      depthsOf(Of.program().Sizes, [&](ir::Key K) {
        size_t Depth = 0;
        for (const auto &[Index, I] : enumerate(P.Inner))
          if (is_contained(I.Keys, K))
            Depth = Index + 1;
        return Depth;
      });
  size_t Depth = 0; // of this check and those before
  for (const ir::Check &C : Of.program().Checks) {
    Depth = std::max(Depth, Depths[C.Of.Index]);
    Spans.push_back(spanAt(P, Depth));
  }
}

} // namespace foretrace::sweep
