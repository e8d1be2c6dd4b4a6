// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/DivergenceText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace llvm;

namespace foretrace::runs {

static std::string describeRow(int64_t First, int64_t Last) {
  const std::string Text = std::to_string(First);
  return First == Last ? Text : Text + "-" + std::to_string(Last);
}

std::string ranksOf(const AlikeTraces &F) {
  const ArrayRef<TraceFile> Traces = F.Traces;
  std::string Text;
  if (Traces.front().Rank < 0)
    return Text;
  for (size_t I = 0; I < Traces.size();) {
    const size_t First = I++;
    while (I < Traces.size() && Traces[I].Rank <= Traces[I - 1].Rank + 1)
      ++I;
    Text += (First == 0 ? "" : ", ") +
            describeRow(Traces[First].Rank, Traces[I - 1].Rank);
  }
  return Text;
}

std::string describeMissing(const CheckSummary &S) {
  constexpr size_t MaxRows = 16; // of ranks; the rest is counted
  std::vector<std::string> Rows;
  int64_t Left = S.World - S.Ranks;
  for (auto [First, Last] : ArrayRef(S.Missing).take_front(MaxRows)) {
    Rows.push_back(describeRow(First, Last));
    Left -= Last - First + 1;
  }
  if (Left > 0)
    Rows.push_back(std::to_string(Left) + " more");
  std::string Text = join(ArrayRef(Rows).drop_back(), ", ");
  Text += (Text.empty() ? "" : " and ") + Rows.back();
  return (S.World - S.Ranks == 1 ? "rank " : "ranks ") + Text + " of " +
         std::to_string(S.World);
}

std::string rankPrefix(const AlikeTraces &F) {
  const std::string Ranks = ranksOf(F);
  const bool IsOne = F.Traces.front().Rank == F.Traces.back().Rank;
  return Ranks.empty() ? "" : (IsOne ? "rank " : "ranks ") + Ranks + ": ";
}

/// Bytes of the character that \p Text begins with; 0 if it can't be printed.
static size_t printableSize(StringRef Text) {
  const auto *Begin = reinterpret_cast<const UTF8 *>(Text.begin());
  const auto *End = reinterpret_cast<const UTF8 *>(Text.end());
  const size_t Size = getNumBytesForUTF8(*Begin);
  if (Size == 1)
    return isPrint(Text.front());
  const bool IsControl = Text.size() > 1 && Begin[0] == 0xC2 && Begin[1] < 0xA0;
  return !IsControl && isLegalUTF8Sequence(Begin, End) ? Size : 0;
}

std::string printable(StringRef Text) {
  std::string Out;
  while (!Text.empty()) {
    const size_t Size = printableSize(Text);
    if (Size > 0)
      Out += Text.take_front(Size);
    else
      Out += "\\" + toHex(Text.take_front(1));
    Text = Text.drop_front(std::max<size_t>(Size, 1));
  }
  return Out;
}

std::string describe(const Hint &H) {
  return ("the traces fit `" + H.Key + " = " + H.Fits + "`; the job says " +
          H.Planned +
          (H.Divergences > 0
               ? " (" + Twine(H.Divergences) + " divergences are left)"
               : ""))
      .str();
}

std::optional<JobPlace> findPlace(const SourceFiles &Sources,
                                  SourceRange Range) {
  if (!Range.isValid())
    return std::nullopt;
  auto [Line, Column] = Sources.locate(Range.start());
  JobPlace P{Sources.name(Range.File).str(), Line, Column};
  if (P.File == CommandLineName)
    P.Given = Sources.text(Range.File)
                  .str()
                  .drop_front(Range.Begin - (Column - 1))
                  .split('\n')
                  .first;
  return P;
}

std::string describe(const JobPlace &P) {
  if (!P.Given.empty())
    return P.Given.str();
  return P.File + ":" + std::to_string(P.Line) + ":" + std::to_string(P.Column);
}

StringRef dialectOf(const CheckSummary &S) {
  static constexpr StringLiteral Spellings[] = {
#define DIALECT(ENUMERATOR, SPELLING, DOC) SPELLING,
#include "backends/megatron/Dialects.def"
  };
  return Spellings[static_cast<unsigned>(S.How.Dialect)];
}

} // namespace foretrace::runs
