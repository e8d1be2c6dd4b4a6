// SPDX-License-Identifier: Apache-2.0
//
// Spelling suggestions by edit distance.
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <tuple>

using namespace foretrace;

/// The longest word that is compared: the time for a distance grows with the
/// square of the length.
static constexpr size_t LongestWord = 256;

/// One slip per three letters of the shorter word, as compilers commonly allow:
/// `experts_top` is not a slip for `experts`.
static unsigned slipsIn(size_t Length) {
  return static_cast<unsigned>(Length + 2) / 3;
}

/// Returns the digits of a name: those of `h20` and `h-200` name two devices.
static std::string digitsOf(llvm::StringRef Name) {
  std::string Digits;
  llvm::copy_if(Name, std::back_inserter(Digits), llvm::isDigit);
  return Digits;
}

/// Returns whether a part of \p Name, between `_` or `-`, has another meaning
/// in \p Other, as `fp8` of `fp8_hybrid` and `is` of `is_hybrid`.
static bool hasOtherWord(llvm::StringRef Name, llvm::StringRef Other) {
  llvm::SmallVector<llvm::StringRef, 8> Words, Others;
  llvm::SplitString(Name, Words, "_-");
  llvm::SplitString(Other, Others, "_-");
  if (Words.size() != Others.size())
    return false;
  return llvm::any_of(llvm::zip(Words, Others), [](auto Pair) {
    const auto [Word, Of] = Pair;
    const unsigned Slips = slipsIn(std::min(Word.size(), Of.size()));
    return Word.edit_distance(Of, true, Slips) > Slips;
  });
}

llvm::StringRef
foretrace::nearestWord(llvm::StringRef Word,
                       llvm::ArrayRef<llvm::StringRef> Candidates) {
  if (Word.size() > LongestWord)
    return "";
  const std::string Digits = digitsOf(Word);
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
    size_t Length = std::min(Word.size(), Candidate.size());
    unsigned Slips = slipsIn(Length);
    unsigned Distance = Word.edit_distance(Candidate, true, Slips);
    // In four letters, only a transposition is two edits: `plna`, not `cost`
    // for `list`.
    if (Length < 5 && Distance == 2 &&
        (Word.size() != Candidate.size() ||
         !std::is_permutation(Word.begin(), Word.end(), Candidate.begin())))
      continue;
    const bool IsOtherNumber = !Digits.empty() &&
                               !digitsOf(Candidate).empty() &&
                               Digits != digitsOf(Candidate);
    if (Distance <= Slips && Distance < Best && Distance < Candidate.size() &&
        !IsOtherNumber && !hasOtherWord(Word, Candidate)) {
      Best = Distance;
      Nearest = Candidate;
    }
  }
  return Nearest;
}

std::vector<llvm::StringRef>
foretrace::nearestWords(llvm::StringRef Word,
                        llvm::ArrayRef<llvm::StringRef> Candidates,
                        unsigned Most) {
  if (Word.size() > LongestWord)
    return {};
  struct Near {
    unsigned Distance;
    size_t Other; ///< characters from the first that differs
    llvm::StringRef Name;
  };
  std::vector<Near> Found;
  const std::string Lower = Word.lower();
  for (const llvm::StringRef Candidate : Candidates) {
    const std::string Of = Candidate.lower();
    const unsigned Slips = slipsIn(std::min(Word.size(), Of.size()));
    unsigned Distance = llvm::StringRef(Of).edit_distance(Lower, true, Slips);
    if (llvm::StringRef(Of).starts_with(Lower))
      Distance = 0;
    if (Distance > Slips || Distance >= Word.size())
      continue;
    const auto Differs =
        std::mismatch(Lower.begin(), Lower.end(), Of.begin(), Of.end());
    Found.push_back({Distance, static_cast<size_t>(Lower.end() - Differs.first),
                     Candidate});
  }
  llvm::stable_sort(Found, [](const Near &A, const Near &B) {
    return std::tie(A.Distance, A.Other) < std::tie(B.Distance, B.Other);
  });
  std::vector<llvm::StringRef> Names;
  for (const Near &N : llvm::ArrayRef(Found).take_front(Most))
    Names.push_back(N.Name);
  return Names;
}

std::string foretrace::didYouMean(llvm::StringRef Word,
                                  llvm::ArrayRef<llvm::StringRef> Candidates,
                                  const llvm::Twine &Else) {
  const llvm::StringRef Nearest = nearestWord(Word, Candidates);
  return Nearest.empty() ? Else.str()
                         : ("; did you mean `" + Nearest + "`?").str();
}

void foretrace::suggest(DiagnosticBuilder Builder, SourceRange Range,
                        llvm::StringRef Word,
                        llvm::ArrayRef<llvm::StringRef> Candidates) {
  if (Builder.isDropped()) // no one will see it
    return;
  llvm::StringRef Nearest = nearestWord(Word, Candidates);
  if (Nearest.empty())
    return;
  Builder.note(Range, diag::DidYouMean, Nearest);
  if (Word.size() > 3) // `dp` may be a slip for `tp`, `cp` or `pp`
    Builder.fix(Range, Nearest);
}
