// SPDX-License-Identifier: Apache-2.0
//
// Guesses which word was meant when an unknown one was written.
#pragma once

#include "lang/Diagnostic.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace foretrace {

/// The candidate nearest to \p Word by edit distance, or empty if none is near
/// enough to be a slip of the pen. The first of equals wins.
llvm::StringRef nearestWord(llvm::StringRef Word,
                            llvm::ArrayRef<llvm::StringRef> Candidates);

/// Returns at most \p Most of \p Candidates that can be slips for \p Word, or
/// begin with it, the nearest one first. Unlike nearestWord(), it also returns
/// names with another number.
std::vector<llvm::StringRef>
nearestWords(llvm::StringRef Word, llvm::ArrayRef<llvm::StringRef> Candidates,
             unsigned Most);

/// Returns `; did you mean ...?` if one of \p Candidates is near, else \p Else.
std::string didYouMean(llvm::StringRef Word,
                       llvm::ArrayRef<llvm::StringRef> Candidates,
                       const llvm::Twine &Else = "");

/// Adds "did you mean" for the word at \p Range if one of \p Candidates is
/// near, and a fix-it if the word is long enough to be sure.
void suggest(DiagnosticBuilder Builder, SourceRange Range, llvm::StringRef Word,
             llvm::ArrayRef<llvm::StringRef> Candidates);

} // namespace foretrace
