// SPDX-License-Identifier: Apache-2.0
#include "passes/ReadCheck.h"

#ifndef NDEBUG

#include "ir/model/SpecFields.h"
#include "ir/model/SpecKeys.h"
#include "passes/StructureCache.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ErrorHandling.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// What the pass that runs may read.
struct Reads {
  llvm::StringRef Pass;
  llvm::StringSet<> Declared;
  llvm::DenseMap<const void *, std::string> Keys;
  /// Numbers that it must not read.
  llvm::DenseSet<const void *> Undecided;
};
thread_local std::optional<Reads> Current;

/// Takes the numbers that \p Of is made of out of \p Undecided.
void decide(const Program &P, ExprId Of,
            llvm::DenseSet<const void *> &Undecided) {
  const ExprNode &N = P.Sizes[Of];
  if (N.Op == ExprOp::Key) {
    Undecided.erase(findField(P.Spec, N.Key));
    return;
  }
  for (const ExprId Operand : {N.Left, N.Right})
    if (Operand.isValid())
      decide(P, Operand, Undecided);
}

/// Text has no decisions: it is a structure of its own.
void addUndecided(const Program &P, const PassInfo &Pass,
                  llvm::DenseSet<const void *> &Undecided) {
  if (P.Checks.empty() || !llvm::is_contained(StructureCache::passes(), &Pass))
    return;
  forEachNumber(P.Spec,
                [&](Key, const Located<int64_t> &F) { Undecided.insert(&F); });
  for (const ir::Check &C : P.Checks)
    if (C.Is == ir::Check::Kind::Decision)
      decide(P, C.Of, Undecided);
  // A block like another one has the numbers of that.
  forEachNumber(P.Spec, [&](Key K, const Located<int64_t> &F) {
    const std::optional<ExprId> Id = P.Sizes.find(K);
    if (!Id || !P.Sizes[*Id].Left.isValid())
      return;
    const ExprNode &As = P.Sizes[P.Sizes[*Id].Left];
    if (As.Op == ExprOp::Key && !Undecided.contains(findField(P.Spec, As.Key)))
      Undecided.erase(&F);
  });
}

void check(const void *Value, bool IsCarried) {
  auto Found = Current->Keys.find(Value);
  if (Found == Current->Keys.end())
    return; // of another spec, or no key
  const llvm::StringRef Key = Found->second;
  if (!IsCarried && Current->Undecided.contains(Value))
    llvm::report_fatal_error("pass `" + Current->Pass + "` reads the number `" +
                             Key + "`, by which `derive` decided nothing");
  if (Current->Declared.contains(Key) ||
      Current->Declared.contains((Key.split('.').first + ".*").str()))
    return;
  llvm::report_fatal_error("pass `" + Current->Pass + "` reads `" + Key +
                           "`, which passes/Passes.def does not say");
}

} // namespace

ReadCheck::ReadCheck(const Program &P, const PassInfo &Pass) {
  const Spec &S = P.Spec;
  Current.emplace();
  Current->Pass = Pass.Name;
  llvm::SmallVector<llvm::StringRef, 32> Declared;
  Pass.Reads.split(Declared, ' ', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef Key : Declared)
    Current->Declared.insert(Key);
  auto Add = [](const FieldRow &Row, const auto &F) {
    Current->Keys[&F] = pathOf(Row);
  };
  visitJob(S, Add);
  for (const BlockSpec &B : S.Model.Blocks)
    visitBlock(B, Add);
  visitFields(S.Cost, Add);
  visitFields(S.Cost.Device, Add);
  if (S.Cluster) {
    visitFields(*S.Cluster, Add);
    visitFields(S.Cluster->Device, Add);
    for (const TierSpec &T : S.Cluster->Tiers)
      visitFields(T, Add);
  }
  addUndecided(P, Pass, Current->Undecided);
  OnRead = check;
}

ReadCheck::~ReadCheck() {
  OnRead = nullptr;
  Current.reset();
}

#endif
