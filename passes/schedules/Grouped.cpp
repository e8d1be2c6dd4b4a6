// SPDX-License-Identifier: Apache-2.0
#include "passes/schedules/Grouped.h"

using namespace foretrace;
using namespace foretrace::ir;

StepExpr GroupedOrder::forward(IndexExpr K) const {
  if (B.schedule().Chunks == 1)
    return B.step(K);
  const IndexExpr Size = B.g() * B.v(); // of a group, in steps
  const IndexExpr First = K / Size * B.g();
  if (IsEven)
    return {First + K % B.g(), K % Size / B.g()};
  const IndexExpr InGroup = K % Size;
  const IndexExpr Group = min(B.g(), B.m() - First); // the last one is smaller
  return {First + InGroup % Group, InGroup / Group};
}
