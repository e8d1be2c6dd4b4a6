// SPDX-License-Identifier: Apache-2.0
#include "backends/simai/AicbTimes.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cmath>
#include <optional>

using namespace foretrace;
using namespace foretrace::simai;

namespace {

using Filter = llvm::function_ref<bool(llvm::StringRef)>;

/// Sums the sections for which \p Counts holds, as floating-point ns, and
/// rounds once, half to even, as Python does. Nothing if there are none.
std::optional<int64_t> sum(const ir::Spec &S, Filter Counts, Filter Twice) {
  double Total = 0;
  bool Any = false;
  for (const ir::ProfileTime &T : S.Cost.Profile) {
    if (!Counts(T.Section))
      continue;
    Any = true;
    Total += T.Microseconds * 1000 * (Twice(T.Section) ? 2 : 1);
  }
  if (!Any)
    return std::nullopt;
  return static_cast<int64_t>(std::nearbyint(Total));
}

} // namespace

AicbTimes foretrace::simai::groupTimes(const ir::Spec &S,
                                       const aicb::GeneratorJob &J) {
  AicbTimes T;
  if (!J.Timed)
    return T;
  auto Never = [](llvm::StringRef) { return false; };
  auto Single = [&](llvm::StringRef Name) {
    return sum(
        S, [&](llvm::StringRef Section) { return Section == Name; }, Never);
  };
  // Core attention is recomputed; the first version did not know that.
  auto Recomputed = [&](llvm::StringRef Section) {
    return J.Recompute && J.Version != aicb::Version::V2024_10 &&
           Section.contains("flash");
  };
  T.Embedding = Single("Emb").value_or(1);
  T.Attention =
      sum(
          S,
          [](llvm::StringRef Section) {
            return Section == "layernorm" || Section.contains("atten");
          },
          Recomputed)
          .value_or(1);
  T.Mlp = sum(
              S,
              [](llvm::StringRef Section) {
                return Section == "layernorm2" || Section.contains("mlp");
              },
              Never)
              .value_or(1);
  T.GradForward = Single("param_time_min").value_or(0);
  T.GradBackward = Single("param_time_avg").value_or(0);
  static constexpr llvm::StringLiteral Latent[] = {
      "attention_linear_q_lora", "attention_q_column",
      "attention_linear_kv_lora", "attention_kv_column", "attention_o_row"};
  for (size_t I = 0; I < std::size(Latent); ++I)
    T.Latent[I] = Single(Latent[I]).value_or(0);
  return T;
}
