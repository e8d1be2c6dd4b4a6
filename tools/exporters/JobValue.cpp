// SPDX-License-Identifier: Apache-2.0
#include "tools/exporters/JobValue.h"
#include "ir/model/SpecFields.h"
#include "ir/model/Spellings.h"
#include "lang/Library.h"
#include "tools/importers/ServedModels.h"

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

/// Returns whether all that is stated of the model is in the library: a job can
/// change its keys.
static bool isOfLibrary(const ir::ModelSpec &M, const SourceFiles &Sources) {
  const auto IsThere = [&](SourceRange Range) {
    return !Range.isValid() ||
           Sources.name(Range.File).starts_with(LibraryFolder);
  };
  bool Is = IsThere(M.Range) && IsThere(M.LayersRange);
  const auto Check = [&](const ir::FieldRow &, const auto &F) {
    Is &= !F.isStated() || IsThere(F.Range);
  };
  ir::visitFields(M, Check);
  for (const ir::BlockSpec &B : M.Blocks)
    ir::visitBlock(B, Check);
  return Is;
}

/// Returns what the library knows of the model of a job; nothing if it has
/// another one.
static std::optional<ForeignValue> libraryOf(const ir::ModelSpec &M,
                                             SourceFiles &Sources,
                                             DiagnosticEngine &Diags) {
  const LibraryModel *Known = findLibraryModel("models/" + M.Name + ".fore");
  if (!Known || !isOfLibrary(M, Sources))
    return std::nullopt;
  std::vector<ForeignValue::Member> Members = {
      {{"title", M.Range}, ForeignValue::of(Known->Title.str(), M.Range)},
      {{"type", M.Range},
       ForeignValue::of(importers::Checkpoints(Sources, Diags).typeOf(*Known),
                        M.Range)}};
  if (const std::vector<std::string> Ids = idsOf(*Known); !Ids.empty())
    Members.push_back(
        {{"id", M.Range}, ForeignValue::of(Ids.front(), M.Range)});
  return ForeignValue::of(std::move(Members), M.Range);
}

/// Adds the sections of a job that serves.
static void addServing(const ir::Spec &S, SourceFiles &Sources,
                       DiagnosticEngine &Diags,
                       std::vector<ForeignValue::Member> &To) {
  std::vector<ForeignValue::Member> Stated = {
      {{"name", S.Serve->Range},
       ForeignValue::of(S.Serve->Name, S.Serve->Range)}};
  ir::visitFields(*S.Serve, [&](const ir::FieldRow &Row, const auto &F) {
    if (F.isStated())
      MemberCollector{Stated}(Row, F);
  });
  To.push_back({{"serve", S.Serve->Range},
                ForeignValue::of(std::move(Stated), S.Serve->Range)});
  To.push_back({{"requests", S.Requests->Range}, sectionOf(*S.Requests)});
  if (S.Draft)
    To.push_back({{"draft", S.Draft->Range}, sectionOf(*S.Draft)});
  if (S.Lora)
    To.push_back({{"lora", S.Lora->Range}, sectionOf(*S.Lora)});
  if (std::optional<ForeignValue> Library = libraryOf(S.Model, Sources, Diags))
    To.push_back({{"library", S.Model.Range}, std::move(*Library)});
}

ForeignValue valueOf(const ir::Spec &S, SourceFiles &Sources,
                     DiagnosticEngine &Diags) {
  const ir::ModelSpec &M = S.Model;
  std::vector<ForeignValue::Member> Members = {
      {{"name", M.Range}, ForeignValue::of(M.Name, M.Range)},
      {{"model", M.Range}, sectionOf(M)},
      {{"layers", M.LayersRange}, layersOf(M, M.Layers, M.LayersRange)},
      {{"train", {}}, sectionOf(S.Train)},
      {{"parallel", {}}, sectionOf(S.Parallel)},
      {{"layout", S.Parallel.LayoutRange}, layoutOf(S.Parallel)},
      {{"layout_ends", S.Parallel.LayoutRange}, layoutEnds(S.Parallel)}};
  if (S.Serve)
    addServing(S, Sources, Diags, Members);
  if (S.Cluster)
    Members.push_back({{"cluster", {}}, sectionOf(*S.Cluster)});
  if (M.Branch) {
    Members.push_back({{"branch", M.Range}, valueOf(*M.branch())});
    Members.push_back({{"branch_layers", M.Branch->LayersRange},
                       layersOf(M, M.Branch->Layers, M.Branch->LayersRange)});
  }
  return ForeignValue::of(std::move(Members),
                          S.Serve ? S.Serve->Range : M.Range);
}

} // namespace foretrace::exporters
