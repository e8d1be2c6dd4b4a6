// SPDX-License-Identifier: Apache-2.0
//
// Sizes in the text form: `sequence*hidden/tp`. Private to the IR.
#ifndef FORETRACE_IR_TEXT_PARSEEXPR_H
#define FORETRACE_IR_TEXT_PARSEEXPR_H

#include "ir/text/TextReader.h"

namespace foretrace::ir {

/// Reads an expression over the keys of the spec of \p P, which stands before.
bool expectExpr(TextReader &In, Program &P, ExprId &Out);

/// `= sequence*hidden`, once, behind \p Word, which says what is totalled.
bool expectTotal(TextReader &In, Program &P, const Token &Word, ExprId &Out);
/// `(tp) = sequence*hidden`, behind the word `messages`.
bool expectMessages(TextReader &In, Program &P, std::vector<GroupBytes> &Out);

/// `bf16[seq:sequence@tp hidden:12288] partial(cp)`.
bool expectType(TextReader &In, Program &P, TensorType &T, Layout &L);

} // namespace foretrace::ir

#endif
