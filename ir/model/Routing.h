// SPDX-License-Identifier: Apache-2.0
//
// Distribution of tokens over experts: `routing` of `train` or `serve`, and the
// loads of ranks that follow from it.
#pragma once

#include "ir/model/Spec.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace foretrace::ir {

/// A value of `routing`. As text it is `balanced`, `zipf(1.2, 7)` or
/// `tokens(5, 3, 1)`, which is what a file says.
struct Routing {
  enum class Kind : unsigned char { Balanced, Zipf, Tokens };

  Kind Is = Kind::Balanced;
  double Exponent = 0;         ///< of zipf; at least 0
  uint64_t Seed = 0;           ///< of zipf
  std::vector<int64_t> Tokens; ///< by expert, at least 0; not all are 0

  /// Reads the text; nothing if it is none.
  static std::optional<Routing> parse(llvm::StringRef Text);
  std::string text() const;

  static constexpr int MaxExponent = 16;
};

/// Experts of a token: \p TopK of those in \p GroupTopK of \p Groups groups,
/// all equally likely.
struct TokenChoice {
  int64_t Experts, TopK, Groups, GroupTopK;

  friend bool operator==(const TokenChoice &A, const TokenChoice &B) {
    return A.Experts == B.Experts && A.TopK == B.TopK && A.Groups == B.Groups &&
           A.GroupTopK == B.GroupTopK;
  }
};

/// Millionths of a token.
inline constexpr int64_t WholeToken = 1000000;

/// Returns the expected number of parts with at least one expert of a token, in
/// millionths, rounded up, if the experts are divided into \p Parts in order.
/// Returns nothing if a part is neither some whole groups nor a whole fraction
/// of one. Probabilities are rounded in units of 10^-15.
std::optional<int64_t> expectedParts(const TokenChoice &Of, int64_t Parts);

/// Upper bound of the experts of a layer whose tokens are spread unevenly.
inline constexpr int64_t MaxRoutedExperts = 1 << 16;

/// The load of a rank with as many tokens as the mean.
inline constexpr int64_t MeanLoad = 1000000;

/// Tokens of experts, in any unit.
struct ExpertTokens {
  std::vector<__int128> Of; ///< by expert
  __int128 All;             ///< their sum, or a little more
};

/// Returns the tokens of each of \p Experts, of which a token selects \p
/// Choices different ones, so that no expert gets more than all tokens. Returns
/// nothing if \p R is for another number of experts.
std::optional<ExpertTokens> tokensOfExperts(const Routing &R, int64_t Experts,
                                            int64_t Choices);

/// Returns an expert with more than 1 / \p Choices of the tokens that \p R
/// lists, if there is one.
std::optional<size_t> findOverfull(const Routing &R, int64_t Choices);

/// The experts of the layers of a model whose tokens `routing` spreads.
struct RoutedExperts {
  const Located<int64_t> *Count = nullptr; ///< null without such experts
  const Located<int64_t> *Other = nullptr; ///< another number, of another layer
  int64_t Choices = 0; ///< experts of a token, in the layer with most of them
  int64_t Groups = 1;  ///< of the router, in the layer with most of them
};
RoutedExperts routedExperts(const ModelSpec &M);

} // namespace foretrace::ir
