// SPDX-License-Identifier: Apache-2.0
#include "tools/exporters/JobValue.h"
#include "ir/model/SpecFields.h"
#include "ir/model/Spellings.h"

using namespace llvm;
using foretrace::importers::ForeignValue;

namespace foretrace::exporters {

static ForeignValue make(int64_t V, SourceRange Range) {
  return ForeignValue::of(V, Range);
}
static ForeignValue make(bool V, SourceRange Range) {
  return ForeignValue::of(V, Range);
}
static ForeignValue make(const std::string &V, SourceRange Range) {
  return ForeignValue::of(V, Range);
}
template <typename EnumT, typename = std::enable_if_t<std::is_enum_v<EnumT>>>
static ForeignValue make(EnumT V, SourceRange Range) {
  return ForeignValue::of(ir::getSpelling(V).str(), Range);
}

namespace {

/// Collects fields that have a value.
struct MemberCollector {
  std::vector<ForeignValue::Member> &To;

  template <typename T>
  void operator()(const ir::FieldRow &Row, const Located<T> &F) {
    if (F.isPresent())
      To.push_back({{Row.Name.str(), F.Range}, make(*F, F.Range)});
  }
};

} // namespace

template <typename SpecT> static ForeignValue sectionOf(const SpecT &S) {
  std::vector<ForeignValue::Member> Members;
  ir::visitFields(S, MemberCollector{Members});
  return ForeignValue::of(std::move(Members));
}

static ForeignValue valueOf(const ir::LayerUse &Use) {
  std::vector<ForeignValue::Member> Members = {
      {{"kind", Use.Range}, ForeignValue::of(Use.Kind, Use.Range)}};
  ir::visitKeys(Use, "", 0, MemberCollector{Members});
  return ForeignValue::of(std::move(Members), Use.Range);
}

static ForeignValue valueOf(const ir::BlockSpec &B) {
  std::vector<ForeignValue::Member> Members = {
      {{"name", B.Range}, ForeignValue::of(B.Name, B.Range)},
      {{"attention", B.Range}, valueOf(B.Mixer)},
      {{"ffn", B.Range}, valueOf(B.Network)}};
  // `train` has the number of what `derive` set in first layers of chunks.
  ir::visitFields(B, [&](const ir::FieldRow &Row, const auto &F) {
    if (F.isStated())
      MemberCollector{Members}(Row, F);
  });
  return ForeignValue::of(std::move(Members), B.Range);
}

/// Returns a list with one value for each layer of the runs.
static ForeignValue layersOf(const ir::ModelSpec &M,
                             ArrayRef<ir::LayerRun> Runs, SourceRange Range) {
  std::vector<ForeignValue> Blocks, Layers;
  for (const ir::BlockSpec &B : M.Blocks)
    Blocks.push_back(valueOf(B));
  for (const ir::LayerRun &R : Runs)
    for (int64_t P = 0; P != R.Periods; ++P)
      for (const ir::LayerRun::Item &I : R.Items)
        Layers.insert(Layers.end(), I.Count, Blocks[I.Block]);
  return ForeignValue::of(std::move(Layers), Range);
}

static ForeignValue layoutOf(const ir::ParallelSpec &P) {
  std::vector<ForeignValue> Layout;
  for (const Located<int64_t> &Layers : P.Layout)
    Layout.push_back(ForeignValue::of(*Layers, Layers.Range));
  return ForeignValue::of(std::move(Layout), P.LayoutRange);
}

/// Returns the number of layers up to the end of each chunk of a layout.
static ForeignValue layoutEnds(const ir::ParallelSpec &P) {
  std::vector<ForeignValue> Ends;
  int64_t Sum = 0; // at most the layers of the model
  for (const Located<int64_t> &Layers : P.Layout)
    Ends.push_back(ForeignValue::of(Sum += *Layers, Layers.Range));
  return ForeignValue::of(std::move(Ends), P.LayoutRange);
}

ForeignValue valueOf(const ir::Spec &S) {
  const ir::ModelSpec &M = S.Model;
  std::vector<ForeignValue::Member> Members = {
      {{"name", M.Range}, ForeignValue::of(M.Name, M.Range)},
      {{"model", M.Range}, sectionOf(M)},
      {{"layers", M.LayersRange}, layersOf(M, M.Layers, M.LayersRange)},
      {{"train", {}}, sectionOf(S.Train)},
      {{"parallel", {}}, sectionOf(S.Parallel)},
      {{"layout", S.Parallel.LayoutRange}, layoutOf(S.Parallel)},
      {{"layout_ends", S.Parallel.LayoutRange}, layoutEnds(S.Parallel)}};
  if (S.Cluster)
    Members.push_back({{"cluster", {}}, sectionOf(*S.Cluster)});
  if (M.Branch) {
    Members.push_back({{"branch", M.Range}, valueOf(*M.branch())});
    Members.push_back({{"branch_layers", M.Branch->LayersRange},
                       layersOf(M, M.Branch->Layers, M.Branch->LayersRange)});
  }
  return ForeignValue::of(std::move(Members), M.Range);
}

} // namespace foretrace::exporters
