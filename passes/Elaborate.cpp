// SPDX-License-Identifier: Apache-2.0
//
// elaborate: from the spec to the model level. Every kind of layer becomes one
// block of forward ops on whole tensors, with Megatron-LM's module names; the
// layer pattern stays folded. Nothing here knows how the job is spread.

#include "lang/ShippedLayers.h"
#include "lang/diagnostics/Passes.h"
#include "passes/LayerBody.h"
#include "passes/Passes.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// Makes the model level of a program from its spec.
class Elaborator {
public:
  Elaborator(Program &P, DiagnosticEngine &Diags)
      : P(P), S(P.Spec), Diags(Diags) {}

  bool run();

private:
  llvm::SmallVector<ValueId, 1> end(BlockBuilder &B, llvm::StringRef Name,
                                    llvm::ArrayRef<ValueId> Inputs,
                                    LayerBody::Sources *Shared = nullptr);
  llvm::SmallVector<ValueId, 1> sublayer(BlockBuilder &B, const LayerUse &Of,
                                         llvm::StringRef Section,
                                         llvm::ArrayRef<ValueId> Inputs,
                                         LayerBody::Sources *Shared = nullptr,
                                         const BlockSpec *In = nullptr);
  void embedding();
  ValueId sublayer(BlockBuilder &B, const BlockSpec *In, const LayerUse &Of,
                   llvm::StringRef Section, ValueId X,
                   llvm::StringMap<ValueId> &Known,
                   LayerBody::Sources *Shared = nullptr);
  void refuse(const BlockSpec &Spec, llvm::StringRef Name);
  void layer(const BlockSpec &Spec, Block &Blk);
  void branch(const BlockSpec &Spec, Block &Blk);
  ValueId depth(BlockBuilder &B, const BlockSpec &Spec, ValueId X,
                LayerBody::Sources &Shared, const std::string &Prefix);
  void head();
  void checkServed();

  Program &P;
  const Spec &S;
  DiagnosticEngine &Diags;
  /// Types of values besides the hidden state that layers pass, by name.
  llvm::StringMap<TensorType> Passed;
  bool IsDone = true;
};

} // namespace

void Elaborator::embedding() {
  Block Blk;
  Blk.Name = "embedding";
  Blk.Range = S.Model.Vocab.Range;
  BlockBuilder B(Blk, "elaborate");
  B.setOrigin(S.Model.Vocab.Range, "token embedding");
  Blk.Signature.Outputs = end(B, "embedding", {});
  P.Blocks.add(std::move(Blk));
}

/// Appends an end of the model.
llvm::SmallVector<ValueId, 1> Elaborator::end(BlockBuilder &B,
                                              llvm::StringRef Name,
                                              llvm::ArrayRef<ValueId> Inputs,
                                              LayerBody::Sources *Shared) {
  LayerBody Body(P, B, nullptr, Diags);
  if (Shared)
    Body.share(*Shared);
  auto Outputs = Body.add(*findShippedLayer(Name), Inputs);
  IsDone &= Body.isGood();
  return Outputs;
}

/// Returns the part of the model that the parameters of a section are counted
/// in unless its layer sets another.
static llvm::StringRef partOf(llvm::StringRef Section) {
  return Section == "ffn"      ? "dense networks"
         : Section == "branch" ? "multi-token prediction"
                               : Section;
}

/// Appends a layer of a block.
llvm::SmallVector<ValueId, 1>
Elaborator::sublayer(BlockBuilder &B, const LayerUse &Of,
                     llvm::StringRef Section, llvm::ArrayRef<ValueId> Inputs,
                     LayerBody::Sources *Shared, const BlockSpec *In) {
  B.setOrigin(Of.Range, Section);
  if (!Of.Is) {
    Diags.report(Of.Range, diag::LayerUnknown, Of.Kind);
    IsDone = false;
    return {};
  }
  LayerBody Body(P, B, &Of, Diags);
  Body.setPart(partOf(Section));
  if (In)
    Body.setBlock(*In);
  if (Shared)
    Body.share(*Shared);
  auto Outputs = Body.add(*Of.Is, Inputs);
  IsDone &= Body.isGood();
  return Outputs;
}

/// Marks the parameters of \p B from the value \p First on, if layers of
/// \p Spec are not trained.
static void freeze(Block &B, const BlockSpec &Spec, size_t First) {
  if (!Spec.Frozen.isPresent() || !*Spec.Frozen)
    return;
  for (size_t I = First; I < B.Values.size(); ++I)
    if (Value &V = B.Values[B.Values.idAt(I)]; V.Kind == ValueKind::Param)
      V.Frozen = true;
}

/// Appends a layer of the block \p In, null for a branch, to \p X and the
/// values that it reads of \p Known; those that it makes are known then.
/// Returns the new hidden state.
ValueId Elaborator::sublayer(BlockBuilder &B, const BlockSpec *In,
                             const LayerUse &Of, llvm::StringRef Section,
                             ValueId X, llvm::StringMap<ValueId> &Known,
                             LayerBody::Sources *Shared) {
  llvm::SmallVector<ValueId, 2> Inputs = {X};
  for (const llvm::StringRef Name : Of.reads())
    Inputs.push_back(Known.lookup(Name));
  const auto Outputs = sublayer(B, Of, Section, Inputs, Shared, In);
  if (!IsDone)
    return X;
  for (const auto &[Name, V] :
       llvm::zip_equal(Of.writes(), llvm::drop_begin(Outputs))) {
    Known[Name] = V;
    // Layers can write the same extents in different ways.
    TensorType &Type = B.block().Values[V].Type;
    Type = Passed.try_emplace(Name, Type).first->second;
  }
  return Outputs.front();
}

/// Reports a value that a block receives or passes, and no layer makes:
/// `derive` sets none such, but text can have it.
void Elaborator::refuse(const BlockSpec &Spec, llvm::StringRef Name) {
  Diags.report(Spec.Range, diag::NotMade, Spec.Name, Name);
  IsDone = false;
}

void Elaborator::layer(const BlockSpec &Spec, Block &Blk) {
  Blk.Name = Spec.Name;
  Blk.Range = Spec.Range;
  BlockBuilder B(Blk, "elaborate");
  B.setOrigin(Spec.Mixer.Range, "attention");
  const ValueId X = B.value(ValueKind::Input, "x", LayerBody::hiddenType(P));
  Blk.Signature.Inputs = {X};
  llvm::StringMap<ValueId> Known;
  for (const std::string &Name : Spec.Receives) {
    if (!Passed.count(Name))
      return refuse(Spec, Name);
    Known[Name] = B.value(ValueKind::Input, Name, Passed.lookup(Name));
    Blk.Signature.Inputs.push_back(Known[Name]);
  }
  ValueId Out = sublayer(B, &Spec, Spec.Mixer, "attention", X, Known);
  if (IsDone)
    Out = sublayer(B, &Spec, Spec.Network, "ffn", Out, Known);
  if (!IsDone)
    return;
  Blk.Signature.Outputs = {Out};
  freeze(Blk, Spec, 0);
  const bool Writes =
      !Spec.Mixer.writes().empty() || !Spec.Network.writes().empty();
  if (Out == X && !Writes) {
    Diags.report(Spec.Range, diag::BlockEmpty, Spec.Name);
    IsDone = false;
  }
  for (const std::string &Name : Spec.Passes) {
    const ValueId V = Known.lookup(Name);
    if (!V.isValid() || !Passed.count(Name))
      return refuse(Spec, Name);
    Blk.Signature.Outputs.push_back(V);
  }
}

/// Appends one depth of a branch: the input of its layers, the layers, and a
/// norm.
ValueId Elaborator::depth(BlockBuilder &B, const BlockSpec &Spec, ValueId X,
                          LayerBody::Sources &Shared,
                          const std::string &Prefix) {
  llvm::StringMap<ValueId> Known; // that its layers pass
  auto Append = [&](const LayerUse &Use, llvm::StringRef Section) {
    Shared.Section = Section;
    for (const llvm::StringRef Name : Use.reads())
      if (!Known.count(Name))
        return refuse(Spec, Name);
    if (IsDone)
      X = sublayer(B, nullptr, Use, Section, X, Known, &Shared);
  };
  Shared.Prefix = Prefix;
  Append(Spec.Mixer, "branch");
  int64_t Layer = 0;
  for (const LayerRun &R : S.Model.Branch->Layers)
    for (int64_t Period = 0; Period < R.Periods; ++Period)
      for (const LayerRun::Item &I : R.Items)
        for (int64_t N = 0; N < I.Count; ++N) {
          Shared.Prefix = Prefix + "layers." + std::to_string(Layer++) + ".";
          const BlockSpec &Of = S.Model.Blocks[I.Block];
          const size_t First = B.block().Values.size();
          Append(Of.Mixer, "attention");
          Append(Of.Network, "ffn");
          freeze(B.block(), Of, First);
        }
  Shared.Prefix = Prefix;
  Shared.Section = "";
  return IsDone ? end(B, "final_norm", {X}, &Shared).front() : X;
}

/// Multi-token prediction (Megatron-LM, transformer/multi_token_prediction.py):
/// each depth continues the one before; the first, the normalized hidden state.
/// All of them go to the head.
void Elaborator::branch(const BlockSpec &Spec, Block &Blk) {
  Blk.Name = Spec.Name;
  Blk.Range = Spec.Range;
  BlockBuilder B(Blk, "elaborate");
  B.setOrigin(Spec.Mixer.Range, "branch");
  ValueId X = B.value(ValueKind::Input, "x", LayerBody::hiddenType(P));
  Blk.Signature.Inputs = {X};
  LayerBody::Sources Shared;
  const auto Normed = end(B, "final_norm", {X}, &Shared);
  if (!IsDone)
    return;
  Blk.Signature.Outputs = Normed;
  X = Normed.front();
  const bool AreShared = *Spec.Mixer.flag("shared");
  for (int64_t Depth = 0; IsDone && Depth < *Spec.Mixer.number("depths");
       ++Depth) {
    X = depth(B, Spec, X, Shared,
              Spec.Name + ".layers." + std::to_string(AreShared ? 0 : Depth) +
                  ".");
    Blk.Signature.Outputs.push_back(X);
  }
}

void Elaborator::head() {
  Block Blk;
  Blk.Name = "head";
  Blk.Range = S.Model.Vocab.Range;
  BlockBuilder B(Blk, "elaborate");
  B.setOrigin(S.Model.Vocab.Range, "output layer");
  auto AddInput = [&](llvm::StringRef Name) {
    const ValueId In =
        B.value(ValueKind::Input, Name, LayerBody::hiddenType(P));
    Blk.Signature.Inputs.push_back(In);
    return In;
  };
  llvm::SmallVector<ValueId, 1> X = {AddInput("x")};
  LayerBody::Sources Shared;
  const LayerUse *Branch = S.Model.branch();
  if (!Branch) // it normalizes the hidden state, too
    X = end(B, "final_norm", X, &Shared);
  llvm::SmallVector<ValueId, 2> Depths;
  for (int64_t Depth = 0; Branch && Depth < *Branch->number("depths"); ++Depth)
    Depths.push_back(AddInput("branch"));
  for (const ValueId Each : Depths)
    end(B, "further_prediction", {Each}, &Shared);
  end(B, "prediction", X, &Shared);
  P.Blocks.add(std::move(Blk));
}

bool Elaborator::run() {
  constexpr size_t Ends = 2, Steps = 4; // steps come with `sync`
  P.Blocks.reserve(S.Model.Blocks.size() + Ends + Steps);
  embedding();
  std::vector<BlockId> Ids;
  const std::optional<BranchSpec> &Branch = S.Model.Branch;
  const BlockSpec *BranchBlock =
      Branch ? &S.Model.Blocks[Branch->Block] : nullptr;
  for (size_t I = 0; I < S.Model.Blocks.size(); ++I)
    Ids.push_back(P.Blocks.add({}));
  for (const unsigned I : S.Model.blocksInOrder()) {
    const BlockSpec &B = S.Model.Blocks[I];
    &B == BranchBlock ? branch(B, P.Blocks[Ids[I]])
                      : layer(B, P.Blocks[Ids[I]]);
    if (!IsDone)
      return false;
  }
  BlockId Head = P.Blocks.idAt(P.Blocks.size());
  head();
  P.Layers.push_back({1, {{P.Blocks.idAt(0), 1}}});
  for (const LayerRun &R : S.Model.Layers) {
    LayerGroup G;
    G.Periods = R.Periods;
    for (const LayerRun::Item &I : R.Items)
      G.Runs.push_back({Ids[I.Block], I.Count});
    P.Layers.push_back(std::move(G));
  }
  if (Branch)
    P.Layers.push_back({1, {{Ids[Branch->Block], 1}}});
  P.Layers.push_back({1, {{Head, 1}}});
  if (S.Serve)
    checkServed();
  return IsDone;
}

/// Returns whether the keys of the attention \p Of need no cache of this layer:
/// those of an earlier layer, or of a tower, whose tokens come with a prompt.
static bool hasOtherKeys(const Block &B, const Op &Of) {
  bool IsProjected = false;
  auto RootOf = [&](ValueId V) {
    for (const Op &O : llvm::reverse(B.Ops))
      if (llvm::is_contained(O.Results, V)) {
        IsProjected |= O.Kind == OpKind::MatMul;
        V = O.Operands.front();
      }
    return V;
  };
  const ValueId Key = RootOf(Of.Operands[1]);
  return llvm::is_contained(B.Signature.received(), Key) &&
         (!IsProjected || RootOf(Of.Operands[0]) == Key);
}

/// Nothing is trained, and later tokens read what earlier ones left: refuses
/// layers whose text does not say what that is.
void Elaborator::checkServed() {
  for (Block &B : P.Blocks) {
    for (Value &V : B.Values)
      V.Frozen |= V.Kind == ValueKind::Param;
    const bool Keeps =
        llvm::any_of(B.Ops, [](const Op &O) { return isCache(O.Kind); });
    const bool Mixes = llvm::any_of(B.Ops, [&](const Op &O) {
      return O.Kind == OpKind::Scan || O.Kind == OpKind::Conv ||
             (hasTrait(O.Kind, Attends) && !hasOtherKeys(B, O));
    });
    if (Keeps || !Mixes)
      continue;
    Diags.report(B.Range, diag::ServeLayer, B.Name);
    IsDone = false;
  }
}

bool foretrace::elaborate(Program &P, DiagnosticEngine &Diags) {
  return Elaborator(P, Diags).run();
}
