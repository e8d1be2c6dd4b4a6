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
enum class Kind : unsigned char { Module, Node, Held };
enum class Dim : unsigned char {
  Zero,
  One,
  QkNorm, ///< 2 with normalised queries and keys
  Hidden,
  HeadDim,
  Query,
  KeyValue,
  QueryKeyValue,
  Ffn,
  Vocab,
  Positions,
  Experts,
  // Shapes of nodes.
  Mask,
  Rope,
  Integer,
};
enum class Bias : unsigned char { None, Qkv, Linear, Always };

/// A row of Families.def.
struct Row {
  Rows Of;
  Section In;
  Kind What;
  llvm::StringLiteral Result, Name, Arguments;
  Dim Inner, Outer;
  Bias HasBias;
  int First, PerLayer; ///< number of a node
};
constexpr Row AllRows[] = {
#define MODULE(ROWS, SECTION, RESULT, PATH, ARGUMENTS, IN, OUT, BIAS)          \
  {Rows::ROWS, Section::SECTION, Kind::Module, RESULT, PATH, ARGUMENTS,        \
   Dim::IN,    Dim::OUT,         Bias::BIAS,   0,      0},
#define NODE(ROWS, SECTION, RESULT, FX, FIRST, PER_LAYER, ARGUMENTS, SHAPE)    \
  {Rows::ROWS, Section::SECTION, Kind::Node, RESULT, FX,       ARGUMENTS,      \
   Dim::Zero,  Dim::SHAPE,       Bias::None, FIRST,  PER_LAYER},
#define HELD(ROWS, SECTION, IN, OUT, BIAS)                                     \
  {Rows::ROWS, Section::SECTION, Kind::Held, "", "", "",                       \
   Dim::IN,    Dim::OUT,         Bias::BIAS, 0,  0},
#include "backends/optimus/Families.def"
};

struct FamilyRow {
  llvm::StringLiteral Name, Class;
  Rows Of;
};
constexpr FamilyRow Families[] = {
#define FAMILY(ENUMERATOR, NAME, CLASS, ROWS) {NAME, CLASS, Rows::ROWS},
#include "backends/optimus/Families.def"
};

const FamilyRow &rowOf(Family F) { return Families[static_cast<unsigned>(F)]; }

StringRef pathOfLayers(Rows Of) {
  switch (Of) {
#define LAYERS(ROWS, PATH)                                                     \
  case Rows::ROWS:                                                             \
    return PATH;
#include "backends/optimus/Families.def"
  }
  llvm_unreachable("every family has layers");
}

/// Empty if the family has none.
StringRef pathOfExperts(Rows Of) {
#define EXPERTS(ROWS, PATH)                                                    \
  if (Of == Rows::ROWS)                                                        \
    return PATH;
#include "backends/optimus/Families.def"
  return "";
}

class Builder {
public:
  Builder(const ir::ModelSpec &M, Family F, Graph &Out)
      : M(M), A(M.Blocks.front().Mixer), Of(rowOf(F).Of), Out(Out) {}

  void run();

private:
  void section(Section In, int64_t Layer);
  void add(const Row &R, int64_t Layer);
  int64_t experts() const {
    const ir::BlockSpec &B = M.Blocks.front();
    return hasExperts(B) ? *B.Network.number("experts") : 0;
  }
  int64_t sizeOf(Dim D) const;
  int64_t parameters(const Row &R) const;
  GraphValue valueOf(const Row &R, int64_t Layer) const;

  const ir::ModelSpec &M;
  const ir::LayerUse &A;
  const Rows Of;
  Graph &Out;
  llvm::StringMap<unsigned> Latest; ///< values by name
  int64_t Held = 0;                 ///< for the next leaf
  int64_t Expert = 0;               ///< at hand
};

} // namespace

StringRef foretrace::optimus::getName(Family F) { return rowOf(F).Name; }
StringRef foretrace::optimus::getClass(Family F) { return rowOf(F).Class; }

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
#define LENGTH(ROWS, VERSION, PER_LAYER, FIXED)                                \
  if (rowOf(F).Of == Rows::ROWS && Version == VERSION)                         \
    return PER_LAYER * Layers + FIXED;
#include "backends/optimus/Families.def"
  return std::nullopt;
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

int64_t Builder::sizeOf(Dim D) const {
  const int64_t HeadDim = *A.number("head_dim");
  const int64_t Query = *A.number("heads") * HeadDim;
  const int64_t KeyValue = *A.number("kv_heads") * HeadDim;
  switch (D) {
  case Dim::Zero:
  case Dim::Mask:
  case Dim::Integer:
    return 0;
  case Dim::One:
    return 1;
  case Dim::QkNorm:
    return *A.flag("qk_norm") ? 2 : 0;
  case Dim::Hidden:
    return *M.Hidden;
  case Dim::HeadDim:
  case Dim::Rope:
    return HeadDim;
  case Dim::Query:
    return Query;
  case Dim::KeyValue:
    return KeyValue;
  case Dim::QueryKeyValue:
    return Query + 2 * KeyValue;
  case Dim::Ffn:
    return *M.Blocks.front().Network.number("intermediate");
  case Dim::Vocab:
    return *M.Vocab;
  case Dim::Positions:
    return *M.MaxPositions;
  case Dim::Experts:
    return experts();
  }
  llvm_unreachable("every width is handled");
}

int64_t Builder::parameters(const Row &R) const {
  const bool HasBias = R.HasBias == Bias::Always ||
                       (R.HasBias == Bias::Linear && *M.Bias) ||
                       (R.HasBias == Bias::Qkv && *M.QkvBias);
  const Elements Size = Elements(sizeOf(R.Inner) + HasBias) * sizeOf(R.Outer);
  Out.IsOverflow |= Size.isOverflow();
  return Size.isOverflow() ? 0 : Size.value();
}

GraphValue Builder::valueOf(const Row &R, int64_t Layer) const {
  GraphValue V;
  V.Width = sizeOf(R.Outer);
  V.Shape = R.Outer == Dim::Mask      ? ShapeKind::Mask
            : R.Outer == Dim::Rope    ? ShapeKind::Rope
            : R.Outer == Dim::Integer ? ShapeKind::Integer
                                      : ShapeKind::Tokens;
  if (R.What == Kind::Module) {
    V.Path = R.Name.str();
    if (R.In == Section::Expert)
      V.Path =
          pathOfExperts(Of).str() + "." + std::to_string(Expert) + "." + V.Path;
    if (Layer >= 0)
      V.Path =
          pathOfLayers(Of).str() + "." + std::to_string(Layer) + "." + V.Path;
    V.Node = V.Path;
    std::replace(V.Node.begin(), V.Node.end(), '.', '_');
    return V;
  }
  V.Path = R.Result.str();
  const int64_t Number = R.First + R.PerLayer * std::max<int64_t>(Layer, 0);
  V.Node = R.First < 0 ? "?" : R.Name.str();
  if (R.First >= 0 && Number > 0)
    V.Node += "_" + std::to_string(Number);
  return V;
}

void Builder::add(const Row &R, int64_t Layer) {
  const int64_t Size = parameters(R);
  if (R.What == Kind::Held) {
    const Elements All = Elements(Held) + Elements(Size);
    Out.IsOverflow |= All.isOverflow();
    Held = All.isOverflow() ? 0 : All.value();
    return;
  }
  Step S{R.What == Kind::Module,
         {},
         static_cast<unsigned>(Out.Values.size()),
         Layer,
         0};
  llvm::SmallVector<StringRef> Names;
  R.Arguments.split(Names, ' ', -1, false);
  for (StringRef Name : Names)
    S.Arguments.push_back(Latest.lookup(Name));
  if (S.IsModule) {
    const Elements All = Elements(Size) + Elements(std::exchange(Held, 0));
    Out.IsOverflow |= All.isOverflow();
    S.Parameters = All.isOverflow() ? 0 : All.value();
    ++Out.Modules;
  }
  Latest[R.Result] = S.Result;
  Out.Values.push_back(valueOf(R, Layer));
  Out.Steps.push_back(std::move(S));
}

void Builder::section(Section In, int64_t Layer) {
  for (const Row &R : AllRows)
    if (R.Of == Of && R.In == In)
      add(R, Layer);
}

void Builder::run() {
  Out.Values.push_back({"input_ids", "input_ids", ShapeKind::Tokens, 1});
  Latest["input_ids"] = 0;
  section(Section::Start, -1);
  for (int64_t Layer = 0; Layer < M.layerCount(); ++Layer) {
    section(Section::Layer, Layer);
    for (Expert = 0; Expert < experts(); ++Expert)
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
  Out.IsOverflow |= All.isOverflow();
  if (Out.IsOverflow)
    return;
  Out.Parameters = All.value() - (*M.Tied ? *M.Vocab * *M.Hidden : 0);
  Out.LayerParameters = OfLayer.value();
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
