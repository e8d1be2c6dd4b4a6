// SPDX-License-Identifier: Apache-2.0
//
// The part of `derive` that concerns how layers are split over the stages and
// chunks of the pipeline.

#include "ir/model/Spellings.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Passes.h"
#include "passes/derive/Deriver.h"
#include "llvm/Support/MathExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

void Deriver::noteTower(DiagnosticBuilder Report) const {
  if (const int64_t Tower = S.Model.towerLayers(); Tower > 0)
    Report.note(S.Model.LayersRange, diag::TowerLayers, Tower);
}

/// Checks a partition into unequal stages.
void Deriver::checkPartition() {
  const ParallelSpec &P = S.Parallel;
  const llvm::StringRef Name = getSpelling(*P.Partition);
  dropKeys("with partition = " + Name);
  dropEnds("with partition = " + Name);
  if (exceeds(P.Vpp, 1))
    error(P.Vpp.Range, diag::PartitionVpp, *P.Vpp, Name);
  else if (placementOf(P) != PlacementKind::Loop)
    error(P.Schedule.Range, diag::PartitionCopies, getSpelling(*P.Schedule),
          Name);
  const int64_t Layers = S.Model.splitLayers();
  if (*P.Partition != PartitionKind::ModuleCount &&
      !holds(isAtMost(of(P.Pp), number(Layers)), diag::PartitionStages, P.Pp))
    noteTower(error(P.Pp.Range, diag::PartitionStages, Layers, *P.Pp, Name)
                  .note(S.Model.LayersRange, diag::ValueFromHere, "layers",
                        S.Model.layerCount()));
}

/// Checks first and last stages of their own size, with the others equal, as in
/// Megatron-LM (transformer_config.py, __post_init__): a stage's layers are
/// split over its chunks, and none is without.
void Deriver::checkEnds() {
  const ParallelSpec &P = S.Parallel;
  dropKeys("beside stages of their own size");
  const int64_t Layers = S.Model.splitLayers();
  Expr Rest = number(Layers), Others = of(P.Pp);
  bool IsEmpty = false;
  for (const auto &[Name, Key] :
       {std::pair("first_stage_layers", &P.FirstStageLayers),
        std::pair("last_stage_layers", &P.LastStageLayers)}) {
    if (!Key->isPresent())
      continue;
    if (!holds(isAtMost(number(1), of(*Key)), diag::StageEmpty, *Key)) {
      IsEmpty = true;
      error(Key->Range, diag::StageEmpty, Name)
          .note({}, diag::RefusedBy, "Megatron-LM",
                "transformer_config.py, __post_init__");
    }
    if (!holds(isMultiple(of(*Key), of(P.Vpp)), diag::StageChunks, *Key))
      error(Key->Range, diag::StageChunks, **Key, *P.Vpp);
    Rest += of(*Key) * number(-1);
    Others += number(-1);
  }
  if (IsEmpty)
    return;
  const Located<int64_t> &Stated =
      P.FirstStageLayers.isPresent() ? P.FirstStageLayers : P.LastStageLayers;
  const bool HasOthers = decide(isAtMost(number(1), Others)) != 0;
  if (!holds(isAtMost(number(HasOthers), Rest), diag::StageRest, Stated) ||
      !holds(HasOthers ? isMultiple(Rest, Others * of(P.Vpp))
                       : combine(ExprOp::Equal, Rest, number(0)),
             diag::StageRest, Stated))
    noteTower(error(Stated.Range, diag::StageRest,
                    std::max<int64_t>(Rest.value(), 0), Others.value(), *P.Vpp)
                  .note(S.Model.LayersRange, diag::ValueFromHere, "layers",
                        S.Model.layerCount())
                  .noteValue("pp", P.Pp));
}

/// Drops keys that only an even split reads.
void Deriver::dropKeys(const llvm::Twine &Why) {
  ParallelSpec &P = S.Parallel;
  for (const auto &[Name, Key] :
       {std::pair("embedding_as_layer", &P.EmbeddingAsLayer),
        std::pair("loss_as_layer", &P.LossAsLayer)})
    if (**Key) {
      error(Key->Range, diag::KeyWithoutEffect, Name, Why.str());
      Key->setDefault(false);
    }
}

/// Drops the keys for the sizes of the pipeline's ends.
void Deriver::dropEnds(const llvm::Twine &Why) {
  ParallelSpec &P = S.Parallel;
  for (const auto &[Name, Key] :
       {std::pair("first_stage_layers", &P.FirstStageLayers),
        std::pair("last_stage_layers", &P.LastStageLayers)})
    if (Key->isPresent()) {
      error(Key->Range, diag::KeyWithoutEffect, Name, Why.str());
      *Key = {};
    }
}

void Deriver::checkLayout() {
  ParallelSpec &P = S.Parallel;
  dropKeys("beside `layout`");
  dropEnds("beside `layout`");
  if (*P.Partition != PartitionKind::Uniform) {
    error(P.Partition.Range, diag::KeyWithoutEffect, "partition",
          "beside `layout`");
    P.Partition.setDefault(PartitionKind::Uniform);
  }
  int64_t Chunks = *P.Pp * *P.Vpp;
  const auto Stated = static_cast<int64_t>(P.Layout.size());
  if (!holds(combine(ExprOp::Equal, of(P.Pp) * of(P.Vpp), number(Stated)),
             diag::LayoutLength, P.Pp)) {
    error(P.LayoutRange, diag::LayoutLength, P.Layout.size(), Chunks);
    return;
  }
  int64_t Sum = 0;
  for (const Located<int64_t> &L : P.Layout)
    if (llvm::AddOverflow(Sum, *L, Sum)) {
      error(L.Range, diag::SizeOverflow, "layers of `layout`");
      return;
    }
  if (Sum != S.Model.splitLayers())
    noteTower(error(P.LayoutRange, diag::LayoutSum, Sum, S.Model.splitLayers())
                  .note(S.Model.LayersRange, diag::ValueFromHere, "layers",
                        S.Model.layerCount()));
}

/// Reports a tower that does not come first. A model of a tower alone has no
/// other layers.
void Deriver::checkTower() {
  int64_t Left = S.Model.towerLayers();
  if (Left == 0 || !exceeds(S.Parallel.Pp, 1))
    return;
  for (const LayerRun &R : S.Model.Layers)
    for (const LayerRun::Item &I : R.Items) {
      const BlockSpec &B = S.Model.Blocks[I.Block];
      if (B.isOfTower() && Left <= 0) {
        error(R.Range.isValid() ? R.Range : S.Model.LayersRange,
              diag::TowerBehind, B.Name);
        return;
      }
      Left -= R.Periods * I.Count;
    }
}

void Deriver::checkPipeline() {
  ParallelSpec &P = S.Parallel;
  checkTower();
  if (S.Model.layerCount() > ModelSpec::MaxLayers) {
    error(S.Model.LayersRange, diag::LayerLimit, S.Model.layerCount(),
          ModelSpec::MaxLayers);
    return;
  }
  const Expr Chunks = of(P.Pp) * of(P.Vpp);
  if (!exists(Chunks, P.Vpp)) {
    error(P.Vpp.Range, diag::SizeOverflow, "pp x vpp");
    return;
  }
  if (!holds(max(isAtMost(of(P.Vpp), number(1)), isAtMost(number(2), of(P.Pp))),
             diag::VppWithoutPp, P.Vpp))
    error(P.Vpp.Range, diag::VppWithoutPp, *P.Vpp).noteValue("pp", P.Pp);
  if (!P.Layout.empty())
    checkLayout();
  if (P.Balance.isStated() && *P.Partition != PartitionKind::Balanced) {
    error(P.Balance.Range, diag::KeyWithoutEffect, "balance",
          "without `partition = balanced`");
    P.Balance.setDefault(BalanceKind::Parameters);
  }
  if (!P.Layout.empty())
    return;
  if (*P.Partition != PartitionKind::Uniform)
    return checkPartition();
  if (!exceeds(P.Pp, 1)) {
    dropKeys("with pp = 1");
    dropEnds("with pp = 1");
  }
  if (placementOf(P) != PlacementKind::Loop)
    dropEnds("with schedule = " + getSpelling(*P.Schedule) +
             ", whose stages hold a part from each end of the model");
  if (P.FirstStageLayers.isPresent() || P.LastStageLayers.isPresent())
    return checkEnds();
  const int64_t Layers = S.Model.splitLayers();
  int64_t Counted = Layers + *P.EmbeddingAsLayer + *P.LossAsLayer;
  if (holds(isMultiple(number(Counted), Chunks), diag::LayersIndivisible, P.Pp))
    return;
  noteTower(error(S.Model.LayersRange, diag::LayersIndivisible, Counted, *P.Pp,
                  *P.Vpp, Chunks.value())
                .noteValue("pp", P.Pp));
}

/// Reports values that go to another stage, although no layer sends them.
void Deriver::checkSent(const std::set<std::string> &Values) {
  for (const std::string &Name : Values)
    for (const BlockSpec &B : S.Model.Blocks)
      if (B.Mixer.Is && B.Mixer.Is->isOfSameStage() &&
          llvm::is_contained(B.Mixer.reads(), Name)) {
        const bool HasLayout = !S.Parallel.Layout.empty();
        error(HasLayout ? S.Parallel.LayoutRange : S.Parallel.Pp.Range,
              diag::ValueOfStage, Name, B.Mixer.Kind)
            .note(S.Model.LayersRange, diag::ValueFromHere, "layers",
                  S.Model.layerCount());
        return;
      }
}
