// SPDX-License-Identifier: Apache-2.0
//
// What counts as a parameter of a block: asked by all that count, weigh or
// reduce them, so that they agree.
#ifndef FORETRACE_IR_PARAMETERS_H
#define FORETRACE_IR_PARAMETERS_H

#include "ir/Measure.h"

namespace foretrace::ir {

/// Where an output head stands that is tied to the embedding: beside it, it
/// uses the same table; on another stage it has a copy of its own (Megatron-LM,
/// LanguageModule.setup_embeddings_and_output_layer).
enum class TiedHead : unsigned char { Apart, BesideEmbedding };
/// Of the heads of a job, tied or not: apart where the parts of the model lie
/// in a loop over several stages; else the first and the last one are on one
/// stage.
TiedHead tiedHeadOf(const ParallelSpec &P);

/// Whether \p V is the weight of a linear layer, or those of experts; the
/// tables of embedding and head are none.
bool isMatrix(const Value &V);

/// Whether \p V is a parameter that takes memory of its own.
bool isStored(const Value &V, TiedHead At);

/// Elements of a parameter as the model is published, without the rows that pad
/// the vocabulary.
Expr publishedSize(Program &P, const Value &V);
/// Those of them that a token goes through: of the experts those that it is
/// routed to.
Expr activatedSize(Program &P, const Block &B, const Value &V);

} // namespace foretrace::ir

#endif
