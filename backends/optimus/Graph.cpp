// SPDX-License-Identifier: Apache-2.0
#include "backends/optimus/Graph.h"
#include "backends/KnownLayers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::optimus;
using llvm::StringRef;

namespace {

/// Families with the same rows.
enum class Rows : unsigned char { Llama, GPT2, Mixtral };
enum class Section : unsigned char { Start, Layer, Expert, Merge, End };
enum class Kind : unsigned char { Module, Value, Held };

/// The widths that Families.def names, of a model.
struct Sizes {
  const int64_t None = 0, One = 1, Always = 1;
  const int64_t Mask = 0, Integer = 0; // of values that have a shape of theirs
  int64_t Qkv, Linear, QkNorm, Hidden, HeadDim, Rope, Query, KeyValue, Ffn,
      Vocab, Positions, Experts;

  explicit Sizes(const ir::ModelSpec &M);
};
using Size = const int64_t Sizes::*;

/// A row of Families.def.
struct Row {
  Rows Of;
  Section In;
  Kind Is;
  llvm::StringLiteral Result, Name, Arguments;
  Size Inner, Outer, Bias;
  int First, PerLayer; ///< number of a node
};
constexpr Row AllRows[] = {
#define NODE(ROWS, SECTION, KIND, RESULT, NAME, ARGUMENTS, IN, OUT, BIAS,      \
             FIRST, PER_LAYER)                                                 \
  {Rows::ROWS, Section::SECTION, Kind::KIND,   RESULT, NAME,     ARGUMENTS,    \
   &Sizes::IN, &Sizes::OUT,      &Sizes::BIAS, FIRST,  PER_LAYER},
#include "backends/optimus/Families.def"
};

struct FamilyRow {
  llvm::StringLiteral Class;
  Rows Of;
  llvm::StringLiteral Layers, Experts; ///< paths; none are empty
  int64_t PerLayer, Fixed;             ///< numbers of nodes
};
constexpr FamilyRow Families[] = {
#define FAMILY(ENUMERATOR, NAME, CLASS, ROWS, LAYERS, EXPERTS, PER_LAYER,      \
               FIXED)                                                          \
  {CLASS, Rows::ROWS, LAYERS, EXPERTS, PER_LAYER, FIXED},
#include "backends/optimus/Families.def"
};

const FamilyRow &rowOf(Family F) { return Families[static_cast<unsigned>(F)]; }

class Builder {
public:
  Builder(const ir::ModelSpec &M, Family F, Graph &Out)
      : M(M), Of(rowOf(F)), Widths(M), Out(Out) {}

  void run();

private:
  void section(Section In, int64_t Layer);
  void add(const Row &R, int64_t Layer);
  /// Returns \p Of; 0, which the graph notes, if it overflows.
  int64_t checked(Elements Of) const {
    Out.IsOverflow |= Of.isOverflow();
    return Of.isOverflow() ? 0 : Of.value();
  }
  GraphValue valueOf(const Row &R, int64_t Layer) const;

  const ir::ModelSpec &M;
  const FamilyRow &Of;
  const Sizes Widths;
  Graph &Out;
  llvm::StringMap<unsigned> Latest; ///< values by name
  int64_t Held = 0;                 ///< for the next leaf
  int64_t Expert = 0;               ///< the current one
};

} // namespace

Sizes::Sizes(const ir::ModelSpec &M)
    : Qkv(*M.QkvBias), Linear(*M.Bias), Hidden(*M.Hidden), Vocab(*M.Vocab),
      Positions(M.MaxPositions.isPresent() ? *M.MaxPositions : 0) {
  const ir::BlockSpec &B = M.Blocks.front();
  QkNorm = *B.Mixer.flag("qk_norm") ? 2 : 0; // of queries and of keys
  HeadDim = Rope = *B.Mixer.number("head_dim");
  Query = *B.Mixer.number("heads") * HeadDim;
  KeyValue = *B.Mixer.number("kv_heads") * HeadDim;
  Ffn = *B.Network.number("intermediate");
  Experts = hasExperts(B) ? *B.Network.number("experts") : 0;
}

llvm::StringRef foretrace::optimus::getClass(Family F) {
  return rowOf(F).Class;
}

std::optional<Family> foretrace::optimus::familyOf(const ir::ModelSpec &M) {
  const ir::BlockSpec &B = M.Blocks.front();
  const bool HasExperts = hasExperts(B), HasGate = isGated(B);
  if (*M.Norm == ir::NormKind::LayerNorm &&
      *M.Positions == ir::PositionKind::Learned && *M.Bias && !HasGate &&
      !HasExperts)
    return Family::GPT2;
  if (*M.Norm != ir::NormKind::RMSNorm ||
      *M.Positions != ir::PositionKind::Rope || *M.Bias || !HasGate ||
      hasLatentAttention(B))
    return std::nullopt;
  const bool HasHeadNorm = *B.Mixer.flag("qk_norm");
  if (HasExperts)
    return (*B.Network.number("shared") == 0 ||
            *B.Network.number("shared_intermediate") == 0) &&
                   !HasHeadNorm && !*M.QkvBias
               ? std::optional(Family::Mixtral)
               : std::nullopt;
  if (HasHeadNorm)
    return Family::Qwen3;
  return *M.QkvBias ? Family::Qwen2 : Family::Llama;
}

std::optional<int64_t>
foretrace::optimus::graphLength(Family F, StringRef Version, int64_t Layers) {
  const FamilyRow &Of = rowOf(F);
  return Version == "4.46" && Of.PerLayer > 0
             ? std::optional(Of.PerLayer * Layers + Of.Fixed)
             : std::nullopt;
}

Elements GraphValue::elements(int64_t Batch, int64_t Sequence) const {
  const Elements Tokens = Elements(Batch) * Sequence;
  switch (Shape) {
  case ShapeKind::Tokens:
    return Tokens * Width;
  case ShapeKind::Mask:
    return Tokens * Sequence + Tokens;
  case ShapeKind::Rope:
    return Elements(Sequence) * Width;
  case ShapeKind::Integer:
    return {};
  }
  llvm_unreachable("every shape is handled");
}

GraphValue Builder::valueOf(const Row &R, int64_t Layer) const {
  GraphValue V;
  V.Width = Widths.*R.Outer;
  V.Shape = R.Outer == &Sizes::Mask      ? ShapeKind::Mask
            : R.Outer == &Sizes::Rope    ? ShapeKind::Rope
            : R.Outer == &Sizes::Integer ? ShapeKind::Integer
                                         : ShapeKind::Tokens;
  if (R.Is == Kind::Value) {
    const int64_t Number = R.First + R.PerLayer * std::max<int64_t>(Layer, 0);
    V.Path = R.Result.str();
    V.Node = R.First < 0 ? "?" : R.Name.str();
    if (R.First >= 0 && Number > 0)
      V.Node += "_" + std::to_string(Number);
    return V;
  }
  auto Below = [](StringRef Path, int64_t Index) {
    return Path.str() + "." + std::to_string(Index) + ".";
  };
  V.Path = (Layer >= 0 ? Below(Of.Layers, Layer) : "") +
           (R.In == Section::Expert ? Below(Of.Experts, Expert) : "") +
           R.Name.str();
  V.Node = V.Path;
  std::replace(V.Node.begin(), V.Node.end(), '.', '_');
  return V;
}

void Builder::add(const Row &R, int64_t Layer) {
  const int64_t Size =
      checked(Elements(Widths.*R.Inner + Widths.*R.Bias) * (Widths.*R.Outer));
  if (R.Is == Kind::Held) {
    Held = checked(Elements(Held) + Elements(Size));
    return;
  }
  Step S{R.Is == Kind::Module,
         {},
         static_cast<unsigned>(Out.Values.size()),
         Layer,
         0};
  llvm::SmallVector<StringRef> Names;
  R.Arguments.split(Names, ' ', -1, false);
  for (StringRef Name : Names)
    S.Arguments.push_back(Latest.lookup(Name));
  if (S.IsModule) {
    S.Parameters = checked(Elements(Size) + Elements(std::exchange(Held, 0)));
    ++Out.Modules;
  }
  Latest[R.Result] = S.Result;
  Out.Values.push_back(valueOf(R, Layer));
  Out.Steps.push_back(std::move(S));
}

void Builder::section(Section In, int64_t Layer) {
  for (const Row &R : AllRows)
    if (R.Of == Of.Of && R.In == In)
      add(R, Layer);
}

void Builder::run() {
  Out.Values.push_back({"input_ids", "input_ids", ShapeKind::Tokens, 1});
  Latest["input_ids"] = 0;
  section(Section::Start, -1);
  for (int64_t Layer = 0; Layer < M.layerCount(); ++Layer) {
    section(Section::Layer, Layer);
    for (Expert = 0; Expert < Widths.Experts; ++Expert)
      section(Section::Expert, Layer);
    section(Section::Merge, Layer);
  }
  section(Section::End, -1);
  Elements All, OfLayer;
  for (const Step &S : Out.Steps) {
    All += Elements(S.Parameters);
    if (S.Layer == 0)
      OfLayer += Elements(S.Parameters);
  }
  Out.LayerParameters = checked(OfLayer);
  Out.Parameters = checked(All);
  if (*M.Tied && !Out.IsOverflow)
    Out.Parameters -= *M.Vocab * *M.Hidden;
}

Quantity<PartUnit> Graph::countParts(const ir::ModelSpec &M) {
  int64_t Experts = 0;
  for (const ir::BlockSpec &B : M.Blocks)
    if (hasExperts(B))
      Experts = std::max(Experts, *B.Network.number("experts"));
  const Quantity<PartUnit> Layers(M.layerCount());
  return Layers + Layers * Experts;
}

Graph::Graph(const ir::ModelSpec &M, Family F) { Builder(M, F, *this).run(); }
