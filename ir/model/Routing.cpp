// SPDX-License-Identifier: Apache-2.0
#include "ir/model/Routing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <numeric>
#include <random>

using namespace foretrace;
using namespace foretrace::ir;

/// Returns the arguments of `\p Name(a, b)`, if \p Text is that.
static std::optional<llvm::SmallVector<llvm::StringRef>>
argumentsOf(llvm::StringRef Text, llvm::StringRef Name) {
  if (!Text.consume_front(Name) || !Text.consume_front("(") ||
      !Text.consume_back(")"))
    return std::nullopt;
  llvm::SmallVector<llvm::StringRef> Parts;
  Text.split(Parts, ',');
  for (llvm::StringRef &Part : Parts)
    Part = Part.trim();
  return Parts;
}

std::optional<Routing> Routing::parse(llvm::StringRef Text) {
  Routing R;
  if (Text == "balanced")
    return R;
  if (const auto Of = argumentsOf(Text, "zipf")) {
    R.Is = Kind::Zipf;
    if (Of->size() != 2 || (*Of)[0].getAsDouble(R.Exponent) ||
        (*Of)[1].getAsInteger(10, R.Seed) || !(R.Exponent >= 0) ||
        R.Exponent > MaxExponent)
      return std::nullopt;
    return R;
  }
  const auto Of = argumentsOf(Text, "tokens");
  if (!Of)
    return std::nullopt;
  R.Is = Kind::Tokens;
  for (const llvm::StringRef Number : *Of)
    if (Number.getAsInteger(10, R.Tokens.emplace_back()) || R.Tokens.back() < 0)
      return std::nullopt;
  if (llvm::all_of(R.Tokens, [](int64_t N) { return N == 0; }))
    return std::nullopt;
  return R;
}

/// Returns the shortest text that reads back as \p Value.
static std::string shortest(double Value) {
  std::string Text;
  for (int Digits = 6; Digits <= 17; ++Digits) {
    Text.clear();
    llvm::raw_string_ostream(Text) << llvm::format("%.*g", Digits, Value);
    double Read = 0;
    if (!llvm::StringRef(Text).getAsDouble(Read) && Read == Value)
      break;
  }
  return Text;
}

std::string Routing::text() const {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  switch (Is) {
  case Kind::Balanced:
    OS << "balanced";
    break;
  case Kind::Zipf:
    OS << "zipf(" << shortest(Exponent) << ", " << Seed << ')';
    break;
  case Kind::Tokens:
    OS << "tokens(";
    llvm::interleaveComma(Tokens, OS);
    OS << ')';
    break;
  }
  return Text;
}

static constexpr int64_t One = 1000000000000000;

/// Returns the probability that none of \p Chosen out of \p All are among \p
/// Some: of a hypergeometric distribution.
static int64_t noneOf(int64_t Some, int64_t All, int64_t Chosen) {
  __int128 None = One;
  for (int64_t I = 0; I < Chosen && None > 0; ++I)
    None = std::max<__int128>(0, All - Some - I) * None / (All - I);
  return static_cast<int64_t>(None);
}

/// Returns the probabilities that 0, 1, ... of \p Chosen out of \p All are
/// among
/// \p Some, in units of 1 / One. Ratios of neighbours are known, so the sums
/// are scaled at the end.
static std::vector<__int128> hypergeometric(int64_t Some, int64_t All,
                                            int64_t Chosen) {
  const int64_t Least = std::max<int64_t>(0, Chosen - (All - Some));
  const int64_t Most = std::min(Some, Chosen);
  const int64_t Mode =
      std::clamp((Chosen + 1) * (Some + 1) / (All + 2), Least, Most);
  // P(Hits + 1) / P(Hits)
  auto Ratio = [&](int64_t Hits) {
    return static_cast<double>(Some - Hits) *
           static_cast<double>(Chosen - Hits) /
           (static_cast<double>(Hits + 1) *
            static_cast<double>(All - Some - Chosen + Hits + 1));
  };
  std::vector<double> Of(static_cast<size_t>(Most + 1));
  Of[static_cast<size_t>(Mode)] = 1;
  for (int64_t I = Mode; I < Most; ++I)
    Of[static_cast<size_t>(I + 1)] = Of[static_cast<size_t>(I)] * Ratio(I);
  for (int64_t I = Mode; I > Least; --I)
    Of[static_cast<size_t>(I - 1)] = Of[static_cast<size_t>(I)] / Ratio(I - 1);
  double Sum = 0;
  for (const double Each : Of)
    Sum += Each;
  std::vector<__int128> Scaled;
  for (const double Each : Of)
    Scaled.push_back(std::llround(Each / Sum * static_cast<double>(One)));
  return Scaled;
}

std::optional<int64_t> foretrace::ir::expectedParts(const TokenChoice &Of,
                                                    int64_t Parts) {
  if (Of.Experts % Parts != 0 || Of.Experts % Of.Groups != 0)
    return std::nullopt;
  const int64_t OfPart = Of.Experts / Parts, OfGroup = Of.Experts / Of.Groups;
  const int64_t Pool = Of.GroupTopK * OfGroup;
  __int128 Hit = 0; // of one part
  if (Of.GroupTopK == Of.Groups) {
    Hit = One - noneOf(OfPart, Of.Experts, Of.TopK);
  } else if (OfGroup % OfPart == 0) {
    Hit = __int128(One - noneOf(OfPart, Pool, Of.TopK)) * Of.GroupTopK /
          Of.Groups;
  } else if (OfPart % OfGroup == 0) {
    const std::vector<__int128> InPart =
        hypergeometric(OfPart / OfGroup, Of.Groups, Of.GroupTopK);
    for (const auto &[In, Probability] : llvm::enumerate(InPart))
      Hit += Probability *
             (One - noneOf(static_cast<int64_t>(In) * OfGroup, Pool, Of.TopK)) /
             One;
  } else {
    return std::nullopt;
  }
  const __int128 Expected = Hit * Parts;
  return static_cast<int64_t>((Expected * WholeToken + One - 1) / One);
}

/// Limits \p Shares, in descending order, to 1 / \p Choices of their sum, and
/// gives what is above it to the others, in proportion to their shares. Returns
/// the sum of all, which are larger than before by a common factor.
static __int128 limitShares(std::vector<__int128> &Shares, int64_t Choices) {
  const __int128 All =
      std::accumulate(Shares.begin(), Shares.end(), __int128(0));
  __int128 Rest = All; // sum of those not limited
  size_t Limited = 0;
  auto Left = [&] { return Choices - static_cast<int64_t>(Limited); };
  while (Limited < Shares.size() && Shares[Limited] * Left() > Rest)
    Rest -= Shares[Limited++];
  const auto Others = static_cast<int64_t>(Shares.size() - Limited);
  for (const auto &[Index, Share] : llvm::enumerate(Shares))
    if (Index < Limited)
      Share = All;
    else
      Share = Rest == 0 ? All * Left() / Others : Share * All * Left() / Rest;
  return All * Choices;
}

/// Returns the share of each of \p Experts and their sum, or a little more. The
/// shares of the most popular ones are limited to all tokens. std::mt19937_64
/// is the same everywhere, std::shuffle is not.
static std::pair<std::vector<__int128>, __int128>
zipf(const Routing &R, int64_t Experts, int64_t Choices) {
  std::vector<__int128> Shares;
  for (int64_t I = 1; I <= Experts; ++I)
    Shares.push_back(
        std::llround(0x1p32 * std::pow(static_cast<double>(I), -R.Exponent)));
  __int128 All = std::accumulate(Shares.begin(), Shares.end(), __int128(0));
  if (Shares.front() * Choices > All)
    All = limitShares(Shares, Choices);
  std::mt19937_64 Random(R.Seed);
  for (size_t Left = Shares.size(); Left > 1; --Left)
    std::swap(Shares[Left - 1], Shares[Random() % Left]);
  return {std::move(Shares), All};
}

std::optional<ExpertTokens> foretrace::ir::tokensOfExperts(const Routing &R,
                                                           int64_t Experts,
                                                           int64_t Choices) {
  if (R.Is == Routing::Kind::Zipf) {
    auto [Shares, All] = zipf(R, Experts, Choices);
    return ExpertTokens{std::move(Shares), All};
  }
  ExpertTokens Tokens{{R.Tokens.begin(), R.Tokens.end()}, 0};
  if (R.Is == Routing::Kind::Balanced)
    Tokens.Of.assign(static_cast<size_t>(Experts), 1);
  if (static_cast<int64_t>(Tokens.Of.size()) != Experts)
    return std::nullopt;
  Tokens.All = std::accumulate(Tokens.Of.begin(), Tokens.Of.end(), __int128(0));
  return Tokens;
}

std::optional<size_t> foretrace::ir::findOverfull(const Routing &R,
                                                  int64_t Choices) {
  const __int128 All =
      std::accumulate(R.Tokens.begin(), R.Tokens.end(), __int128(0));
  const auto Most = llvm::max_element(R.Tokens);
  return Most != R.Tokens.end() && __int128(*Most) * Choices > All
             ? std::optional<size_t>(Most - R.Tokens.begin())
             : std::nullopt;
}

/// Returns whether a layer of the model, or of its branch, is of block \p
/// Index.
static bool isUsed(const ModelSpec &M, unsigned Index) {
  auto IsIn = [&](llvm::ArrayRef<LayerRun> Layers) {
    return llvm::any_of(Layers, [&](const LayerRun &R) {
      return llvm::any_of(
          R.Items, [&](const LayerRun::Item &I) { return I.Block == Index; });
    });
  };
  return IsIn(M.Layers) || (M.Branch && IsIn(M.Branch->Layers));
}

/// Returns the number that a layer of \p B has for \p Key; 0 without one.
static int64_t numberIn(const BlockSpec &B, llvm::StringRef Key) {
  for (const LayerUse *Use : {&B.Network, &B.Mixer})
    if (const auto *Of = Use->find<int64_t>(Key); Of && Of->isPresent())
      return **Of;
  return 0;
}

/// Returns the experts of \p B that a token selects, without those that return
/// their input.
static int64_t choicesOf(const BlockSpec &B, int64_t Experts) {
  const __int128 Chosen = __int128(numberIn(B, "topk")) * Experts;
  return static_cast<int64_t>(
      Chosen /
      std::max<__int128>(1, __int128(Experts) + numberIn(B, "zero_experts")));
}

RoutedExperts foretrace::ir::routedExperts(const ModelSpec &M) {
  RoutedExperts All;
  for (const auto &[Index, B] : llvm::enumerate(M.Blocks)) {
    const Located<int64_t> *Here =
        isUsed(M, static_cast<unsigned>(Index)) ? routedExperts(B) : nullptr;
    if (!Here)
      continue;
    if (!All.Count)
      All.Count = Here;
    else if (!All.Other && **Here != **All.Count)
      All.Other = Here;
    All.Choices = std::max(All.Choices, choicesOf(B, **Here));
    All.Groups = std::max(All.Groups, numberIn(B, "router_groups"));
  }
  return All;
}
