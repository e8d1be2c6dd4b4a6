// SPDX-License-Identifier: Apache-2.0
//
// A buffer of Megatron-FSDP: what is gathered and reduced as one (distributed/
// fsdp/src/megatron_fsdp/param_and_grad_buffer.py, since core 0.14). Private to
// `sync`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace foretrace {

/// A parameter of a buffer.
struct FsdpParam {
  int64_t Elements, Columns;
  bool IsSummed; ///< whether ranks of tp sum its gradients
};

class FsdpBuffer {
public:
  /// Parameters are added in the order in which modules register them. Of more
  /// than that many there is no layout.
  static constexpr size_t MostParams = size_t(1) << 14;
  void add(const FsdpParam &P) {
    if (!isFull())
      Params.push_back(P);
  }
  bool isFull() const { return Params.size() > MostParams; }

  struct Layout {
    int64_t Elements; ///< with what fills up
    int64_t Summed;   ///< elements that the first rank has of summed ones
  };
  /// Lays the parameters out for so many ranks; nothing if they are too many,
  /// or if rows are too long. The time grows with the square of
  /// parameters whose rows leave gaps.
  std::optional<Layout> layout(int64_t Ranks) &&;

private:
  bool setStep();
  int64_t rest(const FsdpParam &P) const { return P.Elements % Step; }
  void place(const FsdpParam &P, int64_t Begin);
  void placeWithRest(std::vector<FsdpParam> &Small, size_t First);

  std::vector<FsdpParam> Params;
  int64_t Step = 1; ///< whole rows of all parameters
  int64_t End = 0;  ///< of what has been placed
  std::vector<std::pair<int64_t, int64_t>> Summed; ///< from and to
};

} // namespace foretrace
