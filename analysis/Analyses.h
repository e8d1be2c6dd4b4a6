// SPDX-License-Identifier: Apache-2.0
//
// Totals of a layer of a block on one rank, as expressions: parameters, memory,
// FLOPs and messages. The `analyze` pass stores them in ir::BlockTotals, where
// reports, balances and backends read them.
#pragma once

#include "ir/model/Measure.h"

namespace foretrace {

/// Counts the parameters on one rank, those of the whole model, and the active
/// ones among these. \p Block has layouts.
void countParameters(ir::Program &P, ir::Block &Block);

/// Counts the FLOPs of each op and of a micro-batch.
void countWork(ir::Program &P, ir::Block &Block);
/// Returns whether \p O is part of the kernel of the products of experts
/// (`fused_experts`): their activation, or a conversion of its result
/// (Megatron-LM, transformer/moe/experts.py, _make_fused_ops).
bool isFusedWithExperts(const ir::Program &P, const ir::Block &Block,
                        const ir::Op &O);
/// Returns a lower bound of the bytes that \p O reads and writes on one rank:
/// its operands and results once, the rows in use of a table, and nothing for
/// views and parts of other kernels. The optimizer also reads and writes its
/// state.
ir::Expr touchedBytes(ir::ExprScope P, const ir::Block &Block, const ir::Op &O);

/// Returns whether the memory traffic and the work of the optimizer are known;
/// reports an error if not.
bool checkOptimizerTraffic(const ir::Program &P, DiagnosticEngine &Diags);

/// Measures parameters, gradients and optimizer state in bytes, and the
/// activations that a micro-batch saves. Parameters have been counted.
void measureMemory(ir::Program &P, ir::Block &Block);
/// Returns the bytes of optimizer state for one element of the parameter \p V,
/// or of its gradient. This includes the master weight if there is one
/// (ir/model/Optimizers.def).
int64_t optimizerBytes(const ir::TrainSpec &Train, const ir::Value &V);
/// Returns whether the optimizer has no copy of \p V, a parameter or a share of
/// parameters without scales, since it is stored in fp32 or master_precision
/// (Megatron-LM, distrib_optimizer.py, _build_model_and_main_param_groups).
bool isOwnMaster(const ir::TrainSpec &Train, const ir::Value &V);

/// Adds \p Size to the messages of group \p G.
void addMessages(std::vector<ir::GroupBytes> &To, const ir::Group &G,
                 ir::Expr Size);
/// Returns the bytes that the collective \p O of \p B sends for a micro-batch,
/// in all chunks of a stage that run it.
ir::Expr messageOfChunks(ir::ExprScope P, const ir::Block &B, const ir::Op &O);
/// Sums the bytes of messages of a micro-batch by kind of group.
void sumMessages(ir::Program &P, ir::Block &Block);

/// A count, and the key that represents it in sizes.
using StageCount = std::pair<ir::Key, int64_t>;
/// Returns the counts of all kinds of stages of \p P, in order.
std::vector<StageCount> countStages(const ir::Program &P);

/// Returns the number \p Id of the stages that \p S represents.
ir::Expr ofStage(ir::ExprScope P, const ir::Stage &S, ir::KeyId Id,
                 unsigned Block, int64_t Value, unsigned Slot = 0);
/// Sums the totals of the layers of a kind of stage.
void totalStage(ir::Program &P, ir::Stage &S);

} // namespace foretrace
