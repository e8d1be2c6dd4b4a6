// SPDX-License-Identifier: Apache-2.0
//
// What a layer of a block holds, keeps, computes and sends, on one rank: one
// implementation each, as expressions. The `analyze` pass puts them where
// reports, balances and backends read them: ir::BlockTotals.
#ifndef FORETRACE_ANALYSIS_ANALYSES_H
#define FORETRACE_ANALYSIS_ANALYSES_H

#include "ir/model/Measure.h"

namespace foretrace {

/// Parameters: on one rank, of the whole model, and of that what a token goes
/// through. \p Block has layouts.
void countParameters(ir::Program &P, ir::Block &Block);

/// FLOPs of each op, and of a micro-batch.
void countWork(ir::Program &P, ir::Block &Block);
/// Bytes that \p O reads and writes at least, on one rank, once: its operands
/// and results, of a table the rows in use; nothing for views; the optimizer
/// also reads and writes its state.
ir::Expr touchedBytes(ir::ExprScope P, const ir::Block &Block, const ir::Op &O);

/// Whether what the optimizer reads, writes and computes is known; reports if
/// not.
bool checkOptimizerTraffic(const ir::Program &P, DiagnosticEngine &Diags);

/// Parameters, gradients and the optimizer's state in bytes, and what is kept
/// of a micro-batch. Parameters are counted.
void measureMemory(ir::Program &P, ir::Block &Block);
/// Bytes of the optimizer's state for one element of the parameter \p V, or of
/// its gradient: what ir/model/Optimizers.def says, and the fp32 weight that
/// the parameter is rounded from, if it is.
int64_t optimizerBytes(const ir::TrainSpec &Train, const ir::Value &V);

/// Adds \p Size to what is sent among \p G.
void addMessages(std::vector<ir::GroupBytes> &To, const ir::Group &G,
                 ir::Expr Size);
/// Bytes sent for a micro-batch, by kind of group.
void sumMessages(ir::Program &P, ir::Block &Block);

/// Messages of stage \p Stage to others for a micro-batch, both ways.
int64_t messagesOf(const ir::Schedule &S, int64_t Stage);
/// A count, and the key that sizes call it by.
using StageCount = std::pair<ir::Key, int64_t>;
/// Those of all kinds of stages of \p P, in order.
std::vector<StageCount> countStages(const ir::Program &P);

/// A number of the stages like \p S, by the name \p Id.
ir::Expr ofStage(ir::ExprScope P, const ir::Stage &S, ir::KeyId Id,
                 unsigned Block, int64_t Value, unsigned Slot = 0);
/// The same sums for each stage of a kind.
void totalStage(ir::Program &P, ir::Stage &S);

} // namespace foretrace

#endif
