// SPDX-License-Identifier: Apache-2.0
#include "passes/StructureCache.h"
#include "ir/model/SpecFields.h"
#include "ir/model/SpecKeys.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// Writes what decides as bytes that are equal if it is.
class KeyWriter {
public:
  template <typename... Ts> void add(const Ts &...Of) { (put(Of), ...); }
  /// Numbers of a spec are leaves: which are there is all that counts.
  void operator()(const FieldRow &, const Located<int64_t> &F) {
    put(F.isPresent());
  }
  template <typename T> void operator()(const FieldRow &, const Located<T> &F) {
    add(F.isPresent(), F.Value);
  }

  std::string Bytes;

private:
  template <typename T> void put(const T &Of) {
    static_assert(std::is_scalar_v<T>);
    Bytes.append(reinterpret_cast<const char *>(&Of), sizeof(T));
  }
  void put(const std::string &Text) {
    put(Text.size());
    Bytes += Text;
  }
  void put(SourceRange R) { add(R.File, R.Begin, R.End); }
  void put(ExprId E) { put(E.Index); }
};

} // namespace

/// Ops remember the sections that they were made for: of a block that stands
/// elsewhere they are others.
static void addBlock(const BlockSpec &B, KeyWriter &Key) {
  Key.add(B.Name, B.Range, B.IsEntry);
  for (const std::vector<std::string> *Names :
       {&B.Receives, &B.Passes, &B.Shares, &B.Aliases, &B.Copies, &B.Sums}) {
    Key.add(Names->size());
    for (const std::string &Name : *Names)
      Key.add(Name);
  }
  for (const LayerUse *Use : {&B.Mixer, &B.Network})
    Key.add(reinterpret_cast<uintptr_t>(Use->Is), Use->Range);
  visitBlock(B, [&](const FieldRow &Row, const auto &F) {
    Key(Row, F);
    Key.add(F.Range); // text can make a key the origin of ops
  });
}

static void addPattern(llvm::ArrayRef<LayerRun> Layers, KeyWriter &Key) {
  for (const LayerRun &R : Layers) {
    Key.add(R.Periods, R.Items.size());
    for (const LayerRun::Item &I : R.Items)
      Key.add(I.Block, I.Count);
  }
}

static void addModel(const ModelSpec &M, KeyWriter &Key) {
  Key.add(M.Vocab.Range, M.MaxPositions.Range, M.Blocks.size(),
          M.Layers.size());
  for (const BlockSpec &B : M.Blocks)
    addBlock(B, Key);
  addPattern(M.Layers, Key);
  if (!M.Branch)
    return;
  Key.add(M.Branch->Block, M.Branch->Layers.size());
  addPattern(M.Branch->Layers, Key);
}

/// What the passes read of \p P, which is derived, but for the values of
/// numbers. The expressions that there are so far are part of it, since ids
/// speak of them.
static std::string keyOf(const Program &P) {
  KeyWriter Key;
  addModel(P.Spec.Model, Key);
  visitJob(P.Spec, Key);
  for (const Check &C : P.Checks)
    if (C.Is == Check::Kind::Decision)
      Key.add(C.Of, C.Decided);
  for (const ExprNode &N : P.Sizes) {
    Key.add(N.Op, N.Left, N.Right);
    if (N.Op == ExprOp::Key)
      Key.add(N.Key.Id, N.Key.Block, N.Key.Stage);
    else
      Key.add(N.Value);
  }
  return std::move(Key.Bytes);
}

std::vector<const PassInfo *> StructureCache::passes() {
  std::vector<const PassInfo *> Passes = pipelineFor({Fact::Totals});
  llvm::erase_if(Passes, [](const PassInfo *Pass) {
    return Pass->Establishes.contains(Fact::Complete);
  });
  return Passes;
}

bool StructureCache::complete(Program &P,
                              llvm::function_ref<bool(Program &)> Run) {
  const auto [Found, IsFirst] = Known.try_emplace(keyOf(P));
  std::optional<Program> &Kept = Found->second;
  if (!Kept) {
    if (!Run(P))
      return false;
    if (!IsFirst)
      Kept = P;
    return true;
  }
  const Program &Made = *Kept;
  P.Blocks = Made.Blocks;
  P.Layers = Made.Layers;
  P.Facts = Made.Facts;
  P.Sizes.extend(Made.Sizes,
                 [&](ir::Key K) { return findField(P.Spec, K)->Value; });
  return true;
}
