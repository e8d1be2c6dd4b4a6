// SPDX-License-Identifier: Apache-2.0
//
// The part of `derive` that concerns layers of the job's own: defaults of their
// keys, what they require, and the conditions that decide which ops they have.

#include "ir/model/Spellings.h"
#include "lang/diagnostics/Passes.h"
#include "passes/HomeLayout.h"
#include "passes/LayerBody.h"
#include "lang/ShippedLayers.h"
#include "passes/derive/Deriver.h"
#include "llvm/ADT/StringSet.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Asks of jobs like this one what the text of a layer does.
class Deriver::LayerRules final : public LayerBody {
public:
  LayerRules(Deriver &D, LayerUse &Use, BlockBuilder &Scratch)
      : LayerBody(D.Program, Scratch, nullptr, &Use, D.Diags), D(D), Use(Use) {}

  bool run() {
    setDefaults();
    if (!isGood())
      return false;
    const ValueId X = addHidden("x");
    const auto Outputs = add(*Use.Is, {X});
    if (isGood() && !D.Failed && !isAlike(dimsOf(X), dimsOf(Outputs[0])))
      fail(Use.Is->Range, "the output has another shape than the input");
    return isGood();
  }

private:
  void setDefaults();
  void setDefault(LayerKey &Key, const layers::Statement &S, Frame &F);
  void addSource(const layers::Statement &S, Frame &F) override;
  void addOp(const layers::Statement &S, Frame &F) override;
  void require(const layers::Statement &S, Frame &F) override;
  bool isStopped() const override { return D.Failed; }
  int64_t decide(Expr Comparison) override { return D.decide(Comparison); }
  bool demand(Expr Condition) override;

  bool meets(const Node &E, Frame &F, const Located<int64_t> &Blamed);
  void checkExtent(const Node &Dim, llvm::StringRef Tensor, Frame &F);
  void checkExtents(const layers::Tensor &T, Frame &F);
  const Located<int64_t> *blamed(const Node &E, Frame &F);
  std::string message(const layers::Statement &S, Frame &F);

  Deriver &D;
  LayerUse &Use;
  llvm::StringSet<> Sources; ///< parameters and inputs so far
};

void Deriver::LayerRules::setDefault(LayerKey &Key, const layers::Statement &S,
                                     Frame &F) {
  const Node &Default = S.Values.front();
  std::visit(
      [&](auto &Field) {
        using T = std::decay_t<decltype(*Field)>;
        if constexpr (std::is_same_v<T, int64_t>) {
          if (Default.Is == Node::Kind::Number)
            Field.setDefault(std::get<int64_t>(scalar(Default, F)));
          else
            D.define(Field, number(Default, F), Use.Range, Key.Name);
        } else {
          const Scalar Is = scalar(Default, F);
          if (const auto *Value = std::get_if<T>(&Is))
            Field.setDefault(*Value);
          else
            fail(Default.Range, "the default of `" + S.Name +
                                    "` is of another type than the key");
        }
      },
      Key.Value);
}

void Deriver::LayerRules::setDefaults() {
  Frame F;
  F.IsOutermost = true;
  for (const layers::Statement &S : Use.Is->Body)
    for (LayerKey &Key : Use.Keys)
      if (S.Is == layers::Statement::Kind::Key && S.Name == Key.Name &&
          !S.Values.empty() && isGood() &&
          std::visit([](auto &Field) { return !Field.isPresent(); }, Key.Value))
        setDefault(Key, S, F);
}

/// The first number in \p E that the job states, or else the last of all.
const Located<int64_t> *Deriver::LayerRules::blamed(const Node &E, Frame &F) {
  const Located<int64_t> *Found = nullptr;
  const auto Deeper = nest();
  if (isBeyondLimits(E))
    return nullptr;
  if (E.Is == Node::Kind::Name) {
    if (const auto Key = F.Keys.find(E.Text); Key != F.Keys.end())
      return blamed(*Key->second.Is, *Key->second.In);
    visitKey(E.Text, F, [&](const auto &Member) {
      if constexpr (std::is_same_v<std::decay_t<decltype(Member)>,
                                   Located<int64_t>>)
        Found = &Member;
    });
  }
  for (const Node &Operand : E.Operands)
    if (!Found || !Found->Range.isValid())
      if (const Located<int64_t> *Other = blamed(Operand, F))
        Found = Other;
  return Found;
}

bool Deriver::LayerRules::meets(const Node &E, Frame &F,
                                const Located<int64_t> &Blamed) {
  if (E.Is == Node::Kind::And)
    return meets(E.Operands[0], F, Blamed) && meets(E.Operands[1], F, Blamed);
  if (E.Is == Node::Kind::Or)
    return holds(E.Operands[0], F) || meets(E.Operands[1], F, Blamed);
  if (const std::optional<Expr> Of = comparison(E, F))
    return D.holds(*Of, diag::LayerRequirement, Blamed);
  return holds(E, F);
}

/// `{heads}` is the value of the key.
std::string Deriver::LayerRules::message(const layers::Statement &S, Frame &F) {
  llvm::StringRef Text = S.Doc;
  std::string Out;
  while (!Text.empty()) {
    const auto [Before, Rest] = Text.split('{');
    Out += Before;
    const auto [Name, After] = Rest.split('}');
    Text = After;
    if (Name.empty())
      continue;
    const Scalar Is = scalar({Node::Kind::Name, Name, {}, S.Range}, F);
    Out += std::visit([](const auto &V) { return spell(V); }, Is);
  }
  return Out;
}

void Deriver::LayerRules::require(const layers::Statement &S, Frame &F) {
  const Node &Condition = S.Values.front();
  const Located<int64_t> *Blamed = blamed(Condition, F);
  if (!isGood() ||
      (Blamed ? meets(Condition, F, *Blamed) : holds(Condition, F)) ||
      !isGood())
    return;
  const std::string Needs = S.Doc.empty() ? "a condition" : message(S, F);
  if (!isGood())
    return;
  D.error(Blamed && Blamed->Range.isValid() ? Blamed->Range : Use.Range,
          diag::LayerRequirement, Use.Kind, Needs)
      .note(isOfLibrary(S) ? caller() : S.Range, diag::RequiredHere);
}

/// Returns the number of ranks along an axis that splits tensors of layers, or
/// null.
const Located<int64_t> *Deriver::sizeAlong(Axis A) const {
  const ParallelSpec &Par = S.Parallel;
  const Located<int64_t> *Size = A == Axis::Tp    ? &Par.Tp
                                 : A == Axis::Cp  ? &Par.Cp
                                 : A == Axis::Etp ? &Par.Etp
                                 : A == Axis::Ep  ? &Par.Ep
                                                  : nullptr;
  return Size && Size->isPresent() ? Size : nullptr;
}

/// Extents are counts, and tensors are split over the axes that their
/// dimensions name.
void Deriver::LayerRules::checkExtent(const Node &E, llvm::StringRef Tensor,
                                      Frame &F) {
  const auto Deeper = nest();
  if (isBeyondLimits(E))
    return;
  if (E.Is == Node::Kind::Conditional)
    return checkExtent(E.Operands[holds(E.Operands[0], F) ? 1 : 2], Tensor, F);
  if (const auto Key = F.Keys.find(E.Text);
      Key != F.Keys.end() && E.Is == Node::Kind::Name)
    return checkExtent(*Key->second.Is, Tensor, *Key->second.In);
  const auto Kind = findSpelling<DimKind>(E.Text);
  if (!Kind || E.Is != Node::Kind::Call)
    return;
  const Expr Extent = number(E.Operands[0], F);
  if (!isGood())
    return;
  const Located<int64_t> *Key = blamed(E.Operands[0], F);
  const Located<int64_t> &Blamed = Key ? *Key : D.S.Parallel.Tp;
  auto Report = [&](diag::Id Id, const auto &...Args) {
    D.error(Key && Key->Range.isValid() ? Key->Range : Use.Range, Id, Use.Kind,
            Tensor, E.Text, Args...)
        .note(E.Range.isValid() ? E.Range : caller(), diag::RequiredHere);
  };
  if (!D.exists(Extent, Blamed))
    return Report(diag::LayerExtent, "no whole number below 2^63");
  if (!D.holds(less(D.number(0), Extent), diag::LayerExtent, Blamed))
    return Report(diag::LayerExtent, std::to_string(Extent.value()));
  Expr Ranks = D.number(1);
  std::string Axes;
  for (const Axis A : axesOfActivation(*Kind))
    if (const Located<int64_t> *Size = D.sizeAlong(A)) {
      Ranks = Ranks * D.of(*Size);
      Axes += (Axes.empty() ? "" : " x ") + getSpelling(A).str();
    }
  if (!Axes.empty() &&
      !D.holds(D.isMultiple(Extent, Ranks), diag::LayerIndivisible, Blamed))
    Report(diag::LayerIndivisible, Extent.value(), Axes, Ranks.value());
}

void Deriver::LayerRules::checkExtents(const layers::Tensor &T, Frame &F) {
  for (const Node &Dim : T.Dims)
    if (isGood() && !D.Failed)
      checkExtent(Dim, nameIn(F.Path, T.Name), F);
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
  if (isGood() && !isStopped())
    LayerBody::addSource(S, F);
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

/// The ops of the layer are made for nothing but their shapes.
void Deriver::deriveLayer(LayerUse &Use) {
  if (!Use.Is) {
    error(Use.Range, diag::LayerUnknown, Use.Kind);
    return;
  }
  Block Scratch;
  BlockBuilder B(Scratch, "derive");
  if (LayerRules(*this, Use, B).run())
    return;
  Failed = true;
  ask({Check::Kind::Condition, number(0), 0, diag::LayerText});
}

void Deriver::deriveLayers() {
  for (const layers::Layer *L : S.Layers)
    if (findShippedLayer(L->Name))
      error(L->Range, diag::LayerOfLibrary, L->Name);
  for (BlockSpec &B : S.Model.Blocks)
    for (std::optional<LayerUse> *Use : {&B.Mixer, &B.Network})
      if (*Use)
        deriveLayer(**Use);
}
