// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the trace of a rank: every line is a row or has an error, and
// rows are held against a plan whatever they say.
#include "ir/model/OpKinds.h"
#include "tools/runs/Matcher.h"
#include <cstdlib>

using namespace foretrace::ir;
using namespace foretrace::megatron;
using namespace foretrace::runs;

/// Rows like those of a stage with experts.
static std::vector<RowBody> makeBodies() {
  std::vector<RowBody> Bodies(4);
  Bodies[0].Kind = RowKind::GetBatch;
  Bodies[1].Kind = RowKind::ForwardStep;
  Bodies[2].Kind = RowKind::BackwardStep;
  Bodies[3].Kind = RowKind::OptimizerStep;
  auto Add = [](RowBody &To, llvm::StringRef Function, llvm::StringRef Name,
                LoggedTensor Tensor, GroupKind Group, OpKind Comm) {
    To.SubOperations.push_back(
        {Function, Name, std::move(Tensor), Group, &processGroup(Group), Comm});
  };
  for (RowBody *B : {&Bodies[1], &Bodies[2]}) {
    Add(*B, "_profiled_all_to_all_single", "", {{64, 8}, ElementType::BF16},
        GroupKind::Exp, OpKind::AllToAll);
    Add(*B, "_profiled_all_to_all_single", "",
        {{Extent::received(), 8}, ElementType::BF16}, GroupKind::Exp,
        OpKind::AllToAll);
    Add(*B, "allreduce", "loss_func", {{1}, ElementType::FP32}, GroupKind::Dp,
        OpKind::AllReduce);
  }
  return Bodies;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  static const std::vector<RowBody> Bodies = makeBodies();
  std::vector<TraceRow> Rows;
  for (int64_t Batch : {0, 1})
    for (const RowBody &B : Bodies)
      Rows.push_back({&B, 0, Batch, -1, RowState::Steady, {}});
  Matcher M(Rows, /*Rank=*/0, {}, /*MaxReceived=*/128, [](const Divergence &D) {
    if (D.Text.empty() || foretrace::getDiagnosticInfo(D.Kind).Slug.empty())
      std::abort();
  });
  llvm::StringRef Text(reinterpret_cast<const char *>(Data), Size);
  SeenRow Seen;
  int64_t Line = 0;
  while (!Text.empty()) {
    auto [First, Rest] = Text.split('\n');
    Text = Rest;
    ++Line;
    if (llvm::Error E = parseRow(First, Seen))
      llvm::consumeError(std::move(E));
    else
      M.take(Seen, Line);
  }
  M.finish();
  return 0;
}
