// SPDX-License-Identifier: Apache-2.0
//
// The numbers that Chakra traces and their group file name communicators by.
#pragma once

#include "backends/ranks/RankFiles.h"
#include "ir/model/Ranks.h"

namespace foretrace::chakra {

/// Every group that a collective of the program has, kind after kind. All names
/// have as many digits, so that traces of two ranks differ in no length. Group
/// `0` is all ranks: that is what ASTRA-sim takes it for, and runs on all
/// dimensions of its network.
class GroupNames {
public:
  explicit GroupNames(const ir::Program &P);

  /// Digits of every name but 0.
  size_t width() const { return Width; }
  /// Returns whether the groups of a kind are one of all ranks, `0`.
  bool isWorld(const ir::Group &G) const {
    return G.size(P.Mesh) == *P.Spec.Parallel.World;
  }
  /// Returns the name of the group of that kind which contains \p Rank.
  std::string name(const ir::Group &G, int64_t Rank) const;
  /// Writes the group file: of all ranks, or of the groups of \p Ranks.
  void write(const RankList &Ranks, llvm::raw_ostream &OS) const;

private:
  struct Kind {
    ir::Group Of;
    int64_t First; ///< number
  };
  int64_t number(const Kind &K, int64_t Rank) const {
    return K.First + K.Of.number(Map, Rank);
  }
  template <typename FnT>
  void forEachGroup(const RankList &Of, FnT Visit) const;

  const ir::Program &P;
  const ir::RankMap Map;
  std::vector<Kind> Kinds;
  size_t Width = 1;
};

} // namespace foretrace::chakra
