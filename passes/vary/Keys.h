// SPDX-License-Identifier: Apache-2.0
//
// All keys of a job, and jobs with another value of one of them. What the keys
// that are numbers, words or flags can be follows from their types alone; those
// for which more is known are in passes/vary/Moves.def.
#pragma once

#include "ir/model/SpecFields.h"
#include "llvm/ADT/Twine.h"
#include <functional>
#include <set>

namespace foretrace::vary {

/// A key of a job that is not a field of ir/model/Spec.def.
constexpr llvm::StringLiteral LayersPath = "model.layers";
constexpr llvm::StringLiteral BranchPath = "model.branch.layers";
constexpr llvm::StringLiteral LayoutPath = "parallel.layout";
constexpr llvm::StringLiteral SchedulePath = "parallel.schedule";
constexpr llvm::StringLiteral StepsPath = "parallel.steps";

/// Calls \p Visit with the path, as -D has it, the key, the row and the member
/// of every field of a spec, in the order of ir/model/Spec.def.
template <typename SpecT, typename VisitT>
void visitPaths(SpecT &S, VisitT Visit) {
  auto Under = [&](std::string Path, unsigned Block = ir::Key::NoBlock) {
    return [&Visit, Path = std::move(Path), Block](const ir::FieldRow &Row,
                                                   auto &F) {
      Visit((Path + "." + Row.Name).str(), ir::Key{Row.Id, Block}, Row, F);
    };
  };
  ir::visitJob(S, [&](const ir::FieldRow &Row, auto &F) {
    Visit(ir::pathOf(Row), ir::Key{Row.Id}, Row, F);
  });
  for (unsigned I = 0; I < S.Model.Blocks.size(); ++I) {
    auto &B = S.Model.Blocks[I];
    const auto &Branch = S.Model.Branch;
    const bool IsBranch = Branch && Branch->Block == I;
    const bool IsModel =
        S.Model.Blocks.size() == 1 && B.Name == ir::BlockSpec::Implicit;
    const std::string Path =
        IsModel ? "model"
                : "model." + (IsBranch ? std::string("branch") : B.Name);
    ir::visitLayerKeys(B, [&](const ir::FieldRow &Row, auto &F) {
      Under(Row.Section == "Block" || IsBranch
                ? Path
                : Path + "." + ir::keywordOf(Row.Section),
            I)(Row, F);
    });
    ir::visitFields(B, Under(Path, I));
  }
  ir::visitFields(S.Cost, Under("cost"));
  ir::visitFields(S.Cost.Device, Under("cost.device"));
  for (auto &L : S.Cost.Links)
    ir::visitFields(L, Under(("cost.links." + ir::getName(L.Axis)).str()));
  if (!S.Cluster)
    return;
  ir::visitFields(*S.Cluster, Under("cluster"));
  ir::visitFields(S.Cluster->Device, Under("cluster.device"));
  for (auto &T : S.Cluster->Tiers)
    ir::visitFields(T, Under("cluster.tiers." + T.Name));
}

/// Makes the key at \p Path what it is in \p From; false if that cannot be said
/// of this key alone.
bool replaceKey(ir::Spec &In, llvm::StringRef Path, const ir::Spec &From);

/// A number, a flag or a word of `model`, `train` or `parallel` that has a
/// value. A section of the model that several blocks share is in the spec once
/// for each, and one key.
struct ValueKey {
  std::string Name;  ///< `parallel.ep`, `ffn.bias`
  SourceRange Range; ///< of the value; invalid for a default
  int64_t Value;     ///< a number, 0 or 1, or the index of an enumerator
  std::function<std::string(int64_t)> Spell;
  bool IsNumber;
  /// All values of a flag or a word, the least value of a number.
  int64_t Least, Most;
};
std::vector<ValueKey> valueKeysOf(const ir::Spec &S);

/// Other values of \p K that are worth a try, from the smallest: all of a flag
/// or a word; of a number those next to it, simple multiples and fractions, and
/// those of \p Numbers that are not much larger or smaller.
std::set<int64_t> othersOf(const ValueKey &K, const std::set<int64_t> &Numbers);

void setValue(ir::Spec &S, const ValueKey &K, int64_t Value);

} // namespace foretrace::vary
