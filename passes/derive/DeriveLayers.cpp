// SPDX-License-Identifier: Apache-2.0
//
// The part of `derive` that concerns layers: defaults of their keys, what they
// require, and the conditions that decide which ops they have.

#include "ir/model/Spellings.h"
#include "lang/ShippedLayers.h"
#include "lang/diagnostics/Passes.h"
#include "passes/HomeLayout.h"
#include "passes/derive/LayerRules.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <set>

using namespace foretrace;
using namespace foretrace::ir;

using SeenLayers = llvm::SmallPtrSet<const layers::Layer *, 8>;

static bool hasExperts(const Spec &S, const layers::Layer &L, SeenLayers &Seen);

/// Returns whether a statement, or a layer that it calls, has tensors with
/// dimensions split over ep.
static bool hasExperts(const Spec &S, const layers::Statement &Of,
                       SeenLayers &Seen) {
  auto IsSplit = [&](const layers::Expr &Dim) {
    const auto Kind = findDim(S, Dim.Text);
    return Kind &&
           llvm::is_contained(infoOf(S, *Kind).ActivationAxes, Axis::Ep);
  };
  auto AreSplit = [&](const layers::Tensor &T) {
    return llvm::any_of(T.Dims, IsSplit);
  };
  auto InBody = [&](const layers::Statement &Inner) {
    return hasExperts(S, Inner, Seen);
  };
  if (llvm::any_of(Of.Tensors, AreSplit) || llvm::any_of(Of.Then, InBody) ||
      llvm::any_of(Of.Else, InBody))
    return true;
  if (Of.Is != layers::Statement::Kind::Layer)
    return false;
  const layers::Layer *Called = findCalled(S, Of);
  return Called && hasExperts(S, *Called, Seen);
}

static bool hasExperts(const Spec &S, const layers::Layer &L,
                       SeenLayers &Seen) {
  return Seen.insert(&L).second &&
         llvm::any_of(L.Body, [&](const layers::Statement &Of) {
           return hasExperts(S, Of, Seen);
         });
}

static bool hasExperts(const Spec &S, const LayerUse &Use) {
  SeenLayers Seen;
  return Use.Is && hasExperts(S, *Use.Is, Seen);
}

bool Deriver::LayerRules::run() {
  setDefaults();
  if (!isGood())
    return false;
  // The text of experts reads it.
  if (ParallelSpec &P = D.S.Parallel;
      !P.Etp.isPresent() && hasExperts(D.S, Use))
    D.define(P.Etp, D.expertTp(), P.Tp.Range, "etp");
  llvm::SmallVector<ValueId, 2> Inputs = {addInput("x", hiddenType(P))};
  for (const llvm::StringRef Name : Use.reads())
    Inputs.push_back(addReceived(Name));
  if (!isGood())
    return false;
  const auto Outputs = add(*Use.Is, Inputs);
  if (isGood() && !D.Failed && !isAlike(dimsOf(Inputs[0]), dimsOf(Outputs[0])))
    fail(Use.Is->Range, "the output has another shape than the input");
  if (isGood() && !D.Failed)
    notePassed(Inputs, Outputs);
  if (isGood() && !D.Failed)
    checkSizes();
  return isGood();
}

/// Adds a value that a layer before makes as an input of the block.
ValueId Deriver::LayerRules::addReceived(llvm::StringRef Name) {
  const auto Made = D.Passed.find(Name);
  if (Made != D.Passed.end())
    return addInput(Name, Made->second);
  if (!isStopped())
    fail(Use.Is->Range,
         "no layer before `" + Use.Kind + "` makes `" + Name + "`");
  return {};
}

/// Notes the types of values for later layers. Each is made by an op, or is the
/// input of the same name.
void Deriver::LayerRules::notePassed(llvm::ArrayRef<ValueId> Inputs,
                                     llvm::ArrayRef<ValueId> Outputs) {
  for (const auto &[Index, Name] : llvm::enumerate(Use.writes())) {
    const ValueId V = Outputs[Index + 1];
    const Value &Made = block().Values[V];
    const auto *Input = llvm::find(Use.reads(), Name);
    const bool IsPassed = Input != Use.reads().end() &&
                          Inputs[Input - Use.reads().begin() + 1] == V;
    if (!IsPassed && Made.Kind != ValueKind::Activation)
      return fail(Use.Is->Range, "`" + Name +
                                     "` is not made by an op, nor an input of "
                                     "the same name");
    if (llvm::is_contained(Outputs.take_front(Index + 1), V))
      return fail(Use.Is->Range, "`" + Name + "` is another output, too");
    const auto [Known, IsFirst] = D.Passed.try_emplace(Name, Made.Type);
    if (!IsFirst && (Known->second.Element != Made.Type.Element ||
                     !isAlike(Known->second.Dims, Made.Type.Dims)))
      return fail(Use.Is->Range,
                  "`" + Name +
                      "` has another type than where a layer before makes it");
  }
}

void Deriver::LayerRules::addSource(const layers::Statement &S, Frame &F) {
  const layers::Tensor &T = S.Tensors.front();
  if (!T.isTyped())
    return fail(S.Range, "`" + T.Name + "` needs a type");
  if (!Sources.insert(nameIn(F.Path, T.Name)).second)
    return fail(isOfLibrary(S) ? caller() : S.Range,
                "a second `" + nameIn(F.Path, T.Name) +
                    "`; name the module with `as`");
  checkExtents(T, F);
  AreUnitsShared = false;
  if (isGood() && !isStopped())
    LayerBody::addSource(S, F);
  if (AreUnitsShared && !IsShipped && isGood())
    checkColumns(T, F);
  if (S.Is != layers::Statement::Kind::Input && !F.Weights.empty() &&
      isGood() && !isStopped())
    shareWeight(T, F);
}

/// Notes a parameter that layers share, which is the same in all of them.
void Deriver::LayerRules::shareWeight(const layers::Tensor &T, Frame &F) {
  std::vector<std::string> &Shares = D.S.Model.Blocks[D.BlockAtHand].Shares;
  if (!llvm::is_contained(Shares, F.Weights))
    Shares.push_back(F.Weights.str());
  const TensorType &Type = block().Values[tensor(T.Name, T.Range, F)].Type;
  const std::string Name = nameIn(F.Path, T.Name);
  const std::string Key = (F.Weights + ":" + Name).str();
  if (!D.SharedOfBlock.insert({D.BlockAtHand, Key}).second)
    return fail(T.Range, "a block has `" + Name + "` of the weights `" +
                             F.Weights + "` twice");
  const BlockSpec &Block = D.S.Model.Blocks[D.BlockAtHand];
  const bool IsFrozen = Block.Frozen.is(true);
  if (D.AreFrozen.try_emplace(F.Weights, IsFrozen).first->second != IsFrozen)
    return fail(T.Range, "the weights `" + F.Weights +
                             "` are frozen in one block and trained in "
                             "another");
  const auto [Known, IsFirst] = D.SharedWeights.try_emplace(Key, Type);
  if (!IsFirst && (Known->second.Element != Type.Element ||
                   !isAlike(Known->second.Dims, Type.Dims)))
    fail(T.Range, "`" + Name + "` of the weights `" + F.Weights +
                      "` has another type in another layer");
}

void Deriver::LayerRules::addOp(const layers::Statement &S, Frame &F) {
  for (const layers::Tensor &T : S.Tensors)
    checkExtents(T, F);
  if (isGood() && !isStopped())
    LayerBody::addOp(S, F);
}

bool Deriver::LayerRules::demand(Expr Condition) {
  const Located<int64_t> *Key = &D.S.Model.Hidden;
  for (const LayerKey &K : Use.Keys)
    if (const auto *Count = std::get_if<Located<int64_t>>(&K.Value))
      Key = Count;
  return D.holds(Condition, diag::LayerText, *Key);
}

/// Returns whether a layer of the model has experts, judging by its text.
bool Deriver::findExperts() const {
  return llvm::any_of(S.Model.Blocks, [&](const BlockSpec &B) {
    return hasExperts(S, B.Mixer) || hasExperts(S, B.Network);
  });
}

/// The ops of the layer are made for nothing but their shapes.
void Deriver::deriveLayer(LayerUse &Use) {
  if (!Use.Is) {
    error(Use.Range, diag::LayerUnknown, Use.Kind);
    return;
  }
  BlockBuilder B(Bodies.emplace_back(), "derive");
  if (LayerRules(*this, Use, B).run())
    return;
  Failed = true;
  ask({Check::Kind::Condition, number(0), 0, diag::LayerText});
}

void Deriver::deriveLayers() {
  if (!S.Model.QkvBias.isPresent())
    S.Model.QkvBias.derive(*S.Model.Bias, S.Model.Bias.Range);
  const std::optional<BranchSpec> &Branch = S.Model.Branch;
  for (const unsigned I : S.Model.blocksInOrder()) {
    if (Branch && Branch->Block == I)
      continue;
    BlockAtHand = I;
    deriveLayer(S.Model.Blocks[I].Mixer);
    deriveLayer(S.Model.Blocks[I].Network);
  }
  if (!Failed)
    checkSharedParameters();
  if (Failed)
    Bodies.clear();
}

/// Reports weights with parameters that only some of the blocks have.
void Deriver::checkSharedParameters() {
  for (const auto &[Index, B] : llvm::enumerate(S.Model.Blocks))
    for (const auto &Shared : SharedWeights) {
      const auto [Weights, Name] = Shared.first().split(':');
      if (!llvm::is_contained(B.Shares, Weights) ||
          SharedOfBlock.count(
              {static_cast<unsigned>(Index), Shared.first().str()}))
        continue;
      error(B.Range, diag::SharedParameters, Weights, B.Name, Name);
      return;
    }
}

/// Reports layers of a branch that read values of other layers or share
/// weights: a branch starts from the hidden state.
void Deriver::checkBranchLayers() {
  const ModelSpec &M = S.Model;
  if (!M.Branch)
    return;
  std::set<llvm::StringRef> Made;
  for (const LayerRun &R : M.Branch->Layers)
    for (const LayerRun::Item &I : R.Items) {
      const BlockSpec &B = M.Blocks[I.Block];
      for (const LayerUse *Use : {&B.Mixer, &B.Network}) {
        const auto *Other =
            llvm::find_if(Use->reads(), [&](llvm::StringRef Name) {
              return !Made.count(Name);
            });
        if (Other != Use->reads().end())
          error(M.Branch->LayersRange, diag::BranchApart, Use->Kind,
                ("reads `" + *Other +
                 "`, which no layer before it in the "
                 "branch makes")
                    .str());
        else if (!B.Shares.empty())
          error(M.Branch->LayersRange, diag::BranchApart, Use->Kind,
                "shares weights with other layers");
        else {
          Made.insert(Use->writes().begin(), Use->writes().end());
          continue;
        }
        return;
      }
    }
}

/// A branch has the table of words, whose size is derived after other layers.
void Deriver::deriveBranch() {
  if (!S.Model.Branch)
    return;
  BlockAtHand = S.Model.Branch->Block;
  LayerUse &Branch = S.Model.Blocks[BlockAtHand].Mixer;
  deriveLayer(Branch);
  if (Failed)
    return;
  // How many depths there are decides which ops there are.
  const Located<int64_t> &Depths = Branch.number("depths");
  decide(equal(of(Depths), number(*Depths)));
}
