// SPDX-License-Identifier: Apache-2.0
#include "backends/report/Parts.h"
#include "ir/model/Evaluate.h"
#include <set>

using namespace foretrace;
using namespace foretrace::ir;

/// Returns lengths of context to show: that of the job, and powers of two up to
/// the longest that it allows.
static std::set<int64_t> lengthsOf(const Spec &S) {
  constexpr int64_t Least = 256, Most = int64_t(1) << 24;
  const Located<int64_t> &Longest = S.Serve->MaxLength;
  std::set<int64_t> Lengths = {*S.Requests->Input + *S.Requests->Output};
  for (int64_t Length = Least; Length < Most; Length *= 2)
    Lengths.insert(Longest.isStated() ? std::min(Length, *Longest) : Length);
  return Lengths;
}

void report::writeOccupancy(const Program &Largest, llvm::json::OStream &J) {
  const std::optional<ExprId> Fitting = Largest.Capacity.Sequences;
  if (!Fitting)
    return;
  const ExprCode Code(Largest.Sizes, *Fitting);
  const std::optional<size_t> Input = Code.findLeaf({KeyId::RequestsInput});
  if (!Input)
    return; // it is the same for all lengths
  RowEvaluator Row(Code);
  const int64_t Output = *Largest.Spec.Requests->Output;
  J.attributeArray("occupancy", [&] {
    for (const int64_t Length : lengthsOf(Largest.Spec)) {
      if (Length <= Output)
        continue;
      Row.restart();
      Row.set(*Input, Length - Output);
      const int64_t Sequences = Row.value(0);
      if (Sequences <= 0) // or beyond 2^63
        break;
      J.array([&] {
        J.value(Length);
        J.value(Sequences);
      });
    }
  });
}
