// SPDX-License-Identifier: Apache-2.0
//
// What counts as a parameter of a block: asked by all that count, weigh or
// reduce them, so that they agree.
#pragma once

#include "ir/model/Measure.h"

namespace foretrace {

/// Returns whether gradients of experts are reduced over edp, apart from the
/// others. With ep = 1 Megatron-LM reduces them with the others, since core
/// 0.19 only if etp = tp; before, the terms of ranks that differ in tp are
/// never summed (tensor_parallel/layers.py, `allreduce` of weights).
bool areExpertsApart(const ir::Program &P);
/// The axes over which ZeRO shares what belongs to a parameter of type \p T:
/// those of more than one rank along which all hold the same part.
ir::AxisList shareAxes(const ir::Program &P, const ir::TensorType &T);

/// Returns whether \p V is the weight of a linear layer, or those of experts;
/// the tables of embedding and head are none.
bool isMatrix(const ir::Value &V);

/// Returns the type in which a product makes the gradient of the parameter \p
/// V: that in which ranks have it, if it has no scales.
ir::ElementType nominalType(const ir::Program &P, const ir::Value &V);

/// Returns whether \p V is a buffer rather than a parameter of the optimizer:
/// no gradient trains it, and ZeRO does not share it. The bias that a router of
/// \p Ops adds to its scores is one (Megatron-LM, moe/router.py, TopKRouter).
bool isBuffer(const ir::Table<ir::OpId, ir::Op> &Ops, ir::ValueId V);

/// Returns whether \p V is a parameter that takes memory of its own.
bool isStored(const ir::Value &V, ir::TiedHead At);

/// Returns whether the published model counts \p V: neither a head that is tied
/// to the embedding nor a copy on another stage.
bool isPublished(const ir::Value &V);

/// Elements of \p V on one rank, if shares of ZeRO are put together.
ir::Expr unsharedElements(ir::ExprScope P, const ir::Value &V);

/// Elements of a parameter as the model is published, without the rows that pad
/// the vocabulary.
ir::Expr publishedSize(ir::ExprScope P, const ir::Value &V);
/// Active elements of a parameter: of experts, only those that a token is
/// routed to.
ir::Expr activatedSize(ir::ExprScope P, const ir::Block &B, const ir::Value &V);

} // namespace foretrace
