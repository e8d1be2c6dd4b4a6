// SPDX-License-Identifier: Apache-2.0
//
// Spelling suggestions by edit distance.
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Lang.h"
#include <algorithm>

using namespace foretrace;

llvm::StringRef
foretrace::nearestWord(llvm::StringRef Word,
                       llvm::ArrayRef<llvm::StringRef> Candidates) {
  // The distance takes time with the square of the length.
  constexpr size_t LongestWord = 256;
  if (Word.size() > LongestWord)
    return "";
  unsigned Best = ~0U;
  llvm::StringRef Nearest;
  for (llvm::StringRef Candidate : Candidates) {
    if (Candidate.equals_insensitive(Word))
      return Candidate;
    // `gb200` is the beginning of `gb200-nvl72`, not a slip for `b200`.
    if (Best > 0 && Candidate.size() > Word.size() &&
        Candidate.starts_with_insensitive(Word) &&
        Candidate[Word.size()] == '-') {
      Best = 0;
      Nearest = Candidate;
    }
    if (Candidate.size() > 2 * Word.size())
      continue;
    // One slip per three letters of the shorter word, as compilers commonly
    // allow: `experts_top` is not a slip for `experts`.
    size_t Length = std::min(Word.size(), Candidate.size());
    unsigned Slips = static_cast<unsigned>(Length + 2) / 3;
    unsigned Distance = Word.edit_distance(Candidate, true, Slips);
    // In four letters, only a transposition is two edits: `plna`, not `cost`
    // for `list`.
    if (Length < 5 && Distance == 2 &&
        (Word.size() != Candidate.size() ||
         !std::is_permutation(Word.begin(), Word.end(), Candidate.begin())))
      continue;
    if (Distance <= Slips && Distance < Best && Distance < Candidate.size()) {
      Best = Distance;
      Nearest = Candidate;
    }
  }
  return Nearest;
}

void foretrace::suggest(DiagnosticBuilder Builder, SourceRange Range,
                        llvm::StringRef Word,
                        llvm::ArrayRef<llvm::StringRef> Candidates) {
  if (Builder.isDropped()) // nobody will see it
    return;
  llvm::StringRef Nearest = nearestWord(Word, Candidates);
  if (Nearest.empty())
    return;
  Builder.note(Range, diag::DidYouMean, Nearest);
  if (Word.size() > 3) // `dp` may be a slip for `tp`, `cp` or `pp`
    Builder.fix(Range, Nearest);
}
