// SPDX-License-Identifier: Apache-2.0
//
// Spelling suggestions by edit distance.
#include "lang/DidYouMean.h"

using namespace foretrace;

llvm::StringRef
foretrace::nearestWord(llvm::StringRef Word,
                       llvm::ArrayRef<llvm::StringRef> Candidates) {
  // One slip per three letters, as compilers commonly allow; a two-letter
  // word has none to spare except a change of case.
  unsigned Best = static_cast<unsigned>(Word.size() + 2) / 3 + 1;
  if (Word.size() <= 2)
    Best = 2;
  llvm::StringRef Nearest;
  for (llvm::StringRef Candidate : Candidates) {
    if (Candidate.equals_insensitive(Word))
      return Candidate;
    unsigned Distance = Word.edit_distance(Candidate, true, Best);
    if (Distance < Best && Distance < Candidate.size()) {
      Best = Distance;
      Nearest = Candidate;
    }
  }
  return Nearest;
}

void foretrace::suggest(DiagnosticBuilder Builder, SourceRange Range,
                        llvm::StringRef Word,
                        llvm::ArrayRef<llvm::StringRef> Candidates) {
  llvm::StringRef Nearest = nearestWord(Word, Candidates);
  if (Nearest.empty())
    return;
  Builder.note(Range, diag::DidYouMean, Nearest);
  if (Word.size() > 3) // `dp` may be a slip for `tp`, `cp` or `pp`
    Builder.fix(Range, Nearest);
}
