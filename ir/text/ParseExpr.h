// SPDX-License-Identifier: Apache-2.0
//
// Parses sizes in the text form: `sequence*hidden/tp`. Private to the IR.
#pragma once

#include "ir/text/TextReader.h"

namespace foretrace::ir {

/// Parses an expression over the keys of the spec of \p P, which comes first.
bool expectExpr(TextReader &In, Program &P, ExprId &Out);

/// Parses `= sequence*hidden` after \p Word, which names the total; only once.
bool expectTotal(TextReader &In, Program &P, const Token &Word, ExprId &Out);
/// Parses `(tp) = sequence*hidden` after the word `messages`.
bool expectMessages(TextReader &In, Program &P, std::vector<GroupBytes> &Out);

/// Parses `bf16[seq:sequence@tp hidden:12288] partial(cp)`.
bool expectType(TextReader &In, Program &P, TensorType &T, Layout &L);

} // namespace foretrace::ir
