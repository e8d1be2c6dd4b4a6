// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic and memory traffic of ops.

#include "analysis/Analyses.h"
#include "analysis/Work.h"
#include "ir/model/OpKinds.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Passes.h"

using namespace foretrace;
using namespace foretrace::ir;

void foretrace::countWork(Program &P, Block &B) {
  llvm::SmallVector<ExprId, 64> Sum;
  for (Op &O : B.Ops) {
    const std::optional<Expr> Work = workOf(P, B, O, WorkOf::Rank);
    if (!Work)
      continue;
    O.Work = *Work;
    Sum.push_back(*Work);
  }
  B.Totals.Work = sumOf(P, Sum);
}

/// Rows of the table, once for each token: read and written forward, the
/// gradient's read and added to backward.
static Expr embedBytes(ExprScope P, const Block &B, const Op &O) {
  const bool IsBackward = O.Derivative != Derivative::None;
  const Value &Rows = B.Values[IsBackward ? O.Operands[1] : O.Results[0]];
  const Value &Table = B.Values[IsBackward ? O.Results[0] : O.Operands[1]];
  const Expr InTable = bytesOf(P, {P.Sizes, Rows.OnRank.Id}, Table.Type.Element,
                               blocksOf(Table));
  return bytesOnRank(P, B.Values[O.Operands[0]]) + bytesOnRank(P, Rows) +
         InTable * (IsBackward ? 2 : 1);
}

/// Muon turns every matrix into an orthogonal one, by products.
bool foretrace::checkOptimizerTraffic(const Program &P,
                                      DiagnosticEngine &Diags) {
  const Located<OptimizerKind> &O = P.Spec.Train.Optimizer;
  if (*O != OptimizerKind::Muon)
    return true;
  Diags.report(O.Range, diag::OptimizerTraffic, getSpelling(*O));
  return false;
}

bool foretrace::isFusedWithExperts(const Program &P, const Block &B,
                                   const Op &O) {
  return P.Spec.Train.FusedExperts.is(true) && O.Kind != OpKind::MatMul &&
         llvm::any_of(O.Results, [&](ValueId V) {
           return B.Values[V].Type.indexOf(DimKind::ExpertFfn) >= 0;
         });
}

Expr foretrace::touchedBytes(ExprScope P, const Block &B, const Op &O) {
  if (isView(O.Kind) || isOpaque(O.Kind) || isFusedWithExperts(*P, B, O))
    return numberOf(P, 0);
  if (getInfo(O.Kind).Work == WorkRule::Rows)
    return embedBytes(P, B, O);
  llvm::SmallVector<ExprId, 8> Touched;
  for (const Value *V : valuesOf(B, O))
    Touched.push_back(bytesOnRank(P, *V));
  if (O.Kind != OpKind::Optimizer)
    return sumOf(P, Touched);
  for (ValueId V : O.Operands)
    Touched.push_back(Expr(P.Sizes, B.Values[V].OnRank.Id) *
                      (2 * optimizerBytes(P->Spec.Train, B.Values[V])));
  for (ValueId V : O.Results)
    if (isOwnMaster(P->Spec.Train, B.Values[V])) // read as well as written
      Touched.push_back(bytesOnRank(P, B.Values[V]));
  return sumOf(P, Touched);
}
