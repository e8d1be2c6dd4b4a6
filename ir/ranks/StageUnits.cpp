// SPDX-License-Identifier: Apache-2.0
//
// The order of layers in a step of a stage, and units of FSDP and of DeepSpeed
// among them. Each gathers its weights, and reduces their gradients, in one
// call (torch/distributed/fsdp/ _fully_shard/_fsdp_param_group.py,
// _fsdp_collectives.py; Megatron-FSDP's param_and_grad_buffer.py).
#include "ir/model/Measure.h"
#include "ir/model/OpKinds.h"
#include "ir/model/Shares.h"
#include "ir/ranks/StageTasks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::ir;

/// The layers of the unit that contains \p Layer.
StageTasks::UnitLayers StageTasks::unitOf(const ChunkTasks &Of, size_t Layer,
                                          UnitPart Part) {
  const bool IsGather = Part <= UnitPart::GatherAgain;
  for (const UnitOfLayers &U : IsGather ? Of.Gathers : Of.Reductions)
    if (llvm::is_contained(U, Layer))
      return U;
  llvm_unreachable("every layer is in a unit");
}

/// Elements of the weights, or gradients, that ops of a layer are for.
int64_t StageTasks::elementsOf(const LayerTasks &L, UnitPart Part) const {
  Elements Sum;
  const Block &B = L.Of->block();
  for (size_t N = 0; N < B.Ops.size(); ++N)
    if (const OpId I = B.Ops.idAt(N); L.Of->part(I) == Part) {
      const ValueId Whole = Part == UnitPart::Reduce ? B.Ops[I].Operands.front()
                                                     : B.Ops[I].Results.front();
      Sum += P.Sizes.value(B.Values[Whole].OnRank);
    }
  constexpr int64_t Most = int64_t(1) << 61;
  return Sum.isOverflow() ? Most : std::min(Sum.value(), Most);
}

/// Returns whether all layers are gathered with those before them, and again
/// with those after them (AllGatherPipeline.all_gather_params of Megatron-FSDP,
/// suggested_AG_prefetch_size).
bool StageTasks::areFew(const ChunkTasks &Of) const {
  constexpr int64_t Prefetched = 500'000'000;
  int64_t Left = Prefetched;
  for (const UnitOfLayers &U : Of.Gathers)
    for (const size_t L : U) {
      if (Left == 0)
        return false;
      Left -= std::min(Left, elementsOf(Of.Layers[L], UnitPart::Gather));
    }
  return true;
}

/// In DeepSpeed weights are gathered together until they have as many elements
/// as prefetch_bucket_size says, and gradients wait for others while no more
/// than reduce_bucket_size are there; here those of a layer do so together
/// (runtime/zero/partitioned_param_coordinator.py, fetch_sub_module; stage3.py
/// and stage_1_and_2.py, reduce_independent_p_g_buckets_and_remove_grads).
void StageTasks::addUnits(ChunkTasks &Of) const {
  constexpr int64_t PrefetchBucket = 50'000'000, ReduceBucket = 500'000'000;
  if (!HasUnits)
    return;
  const size_t Count = Of.Layers.size();
  const ParallelSpec &Par = P.Spec.Parallel;
  if (isOfTorch(Par) || (isMegatronFsdp(Par) && *Par.Zero == 3)) {
    UnitOfLayers Roots;
    for (size_t L = 0; L < Count; ++L)
      (isOutsideLayers(P, Of.Layers[L].Of->block()) ? Roots
                                                    : Of.Gathers.emplace_back())
          .push_back(L);
    Of.Reductions.assign(Of.Gathers.rbegin(), Of.Gathers.rend());
    if (isMegatronFsdp(Par) && areFew(Of))
      for (const UnitOfLayers &U : Of.Gathers)
        Of.Ahead +=
            static_cast<int64_t>(callsOf(Of, U, UnitPart::Gather).size());
    Of.Gathers.insert(Of.Gathers.begin(), Roots);
    Of.Reductions.push_back(Roots);
    return;
  }
  int64_t Gathered = PrefetchBucket, Reduced = ReduceBucket;
  for (size_t L = 0; L < Count; ++L) {
    if (Gathered >= PrefetchBucket) {
      Of.Gathers.emplace_back();
      Gathered = 0;
    }
    Of.Gathers.back().push_back(L);
    Gathered += elementsOf(Of.Layers[L], UnitPart::Gather);
  }
  for (size_t L = Count; L-- > 0;) {
    const int64_t Size = elementsOf(Of.Layers[L], UnitPart::Reduce);
    if (Of.Reductions.empty() ||
        (Size > ReduceBucket - Reduced && !isMegatronFsdp(Par))) {
      Of.Reductions.emplace_back();
      Reduced = 0;
    }
    Of.Reductions.back().insert(Of.Reductions.back().begin(), L);
    Reduced += Size;
  }
}

/// Layers that are recomputed together run again before the backward pass of
/// the last of them (transformer/transformer_block.py, _checkpointed_forward,
/// method uniform).
void StageTasks::joinRecomputed(ChunkTasks &Of) const {
  const auto &Unit = P.Spec.Train.RecomputeUnit;
  const size_t Most = Unit.isPresent() ? static_cast<size_t>(*Unit) : 1;
  size_t First = 0;
  bool IsOpen = false;
  for (size_t L = 0; L < Of.Layers.size(); ++L) {
    const BlockTasks &Plan = *Of.Layers[L].Of;
    const bool IsLayer = !isOutsideLayers(P, Plan.block()) &&
                         Plan.countAgain(ActionKind::Backward) != 0;
    if (!IsOpen || !IsLayer || L - First == Most)
      First = L;
    IsOpen = IsLayer;
    Of.Layers[L].First = First;
  }
  size_t Last = 0;
  for (size_t L = Of.Layers.size(); L-- > 0;) {
    if (L + 1 == Of.Layers.size() || Of.Layers[L + 1].First == L + 1)
      Last = L;
    Of.Layers[L].Last = Last;
  }
}

/// Walks through a step in order. In the backward pass the next unit is
/// gathered before a layer runs, and the root unit is reduced last
/// (_prefetch_unshard, _root_post_backward_final_callback). Megatron-FSDP may
/// gather all units before the first layer, and again before the last one.
void StageTasks::walkStep(
    const ChunkTasks &Of, bool IsForward,
    llvm::function_ref<void(UnitLayers, UnitPart)> Unit,
    llvm::function_ref<void(size_t, LayerPart)> Layer) const {
  const size_t Count = Of.Layers.size();
  if (IsForward) {
    auto Next = Of.Gathers.begin();
    for (; Of.Ahead != 0 && Next != Of.Gathers.end(); ++Next)
      Unit(*Next, UnitPart::Gather);
    for (size_t L = 0; L < Count; ++L) {
      if (Of.Ahead != 0 && L + 1 == Count)
        for (const UnitOfLayers &U : Of.Gathers)
          Unit(U, UnitPart::GatherAgain);
      if (Next != Of.Gathers.end() && Next->front() == L)
        Unit(*Next++, UnitPart::Gather);
      Layer(L, LayerPart::Whole);
    }
    return;
  }
  auto Again = Of.Ahead != 0 ? Of.Gathers.rend() : Of.Gathers.rbegin();
  auto Reduced = Of.Reductions.begin();
  auto GatherAgain = [&] {
    if (Again != Of.Gathers.rend())
      Unit(*Again, UnitPart::GatherAgain);
  };
  GatherAgain();
  for (size_t L = Count; L-- > 0;) {
    if (Again != Of.Gathers.rend() && Again->back() == L) {
      ++Again;
      GatherAgain();
    }
    const size_t First = Of.Layers[L].First, Last = Of.Layers[L].Last;
    for (size_t M = First; L == Last && First < Last && M <= Last; ++M)
      Layer(M, LayerPart::Again);
    Layer(L, First < Last ? LayerPart::Rest : LayerPart::Whole);
    if (Reduced != Of.Reductions.end() && Reduced->front() == L) {
      Unit(*Reduced, UnitPart::Reduce);
      Unit(*Reduced++, UnitPart::Sum);
    }
  }
}

void StageTasks::addLayers(ChunkTasks &To, const LayerSequence &Layers) {
  for (const LayerGroup &G : Layers)
    for (int64_t Period = 0; Period < G.Periods; ++Period)
      for (const BlockRun &R : G.Runs)
        To.Layers.insert(To.Layers.end(), static_cast<size_t>(R.Count),
                         {&plan(R.Block), {}});
  orderReads(To);
  addUnits(To);
  joinRecomputed(To);
  for (ActionKind Step :
       {ActionKind::Forward, ActionKind::Backward, ActionKind::BackwardInput,
        ActionKind::BackwardWeight}) {
    // Units are not those of half steps, which only pipelines have.
    const bool IsForward = Step == ActionKind::Forward;
    const bool IsHalf = !IsForward && Step != ActionKind::Backward;
    int64_t Before = IsForward ? -To.Ahead : 0;
    walkStep(
        To, IsForward,
        [&](UnitLayers Of, UnitPart Part) {
          for (size_t Layer : IsHalf ? UnitLayers() : Of)
            To.Layers[Layer].Unit[static_cast<size_t>(Part)] = Before;
          Before += static_cast<int64_t>(callsOf(To, Of, Part).size());
        },
        [&](size_t Layer, LayerPart Part) {
          LayerTasks &L = To.Layers[Layer];
          const int64_t Again = L.Of->countAgain(Step);
          if (Part != LayerPart::Rest)
            L.Again[static_cast<size_t>(Step)] = Before;
          if (Part == LayerPart::Again) {
            Before += Again;
            return;
          }
          Before -= Part == LayerPart::Rest ? Again : 0;
          L.Before[static_cast<size_t>(Step)] = Before;
          Before += L.Of->count(Step);
          if (IsForward)
            Before -= static_cast<int64_t>(L.Of->reads().size());
        });
  }
}

llvm::SmallVector<StageTasks::UnitCall, 2>
StageTasks::callsOf(const ChunkTasks &Of, UnitLayers Layers,
                    UnitPart Part) const {
  llvm::SmallVector<UnitCall, 2> Calls;
  for (size_t Layer : Layers) {
    const BlockTasks &Plan = *Of.Layers[Layer].Of;
    for (size_t N = 0; HasUnits && N < Plan.block().Ops.size(); ++N) {
      const OpId I = Plan.block().Ops.idAt(N);
      if (Plan.part(I) != Part)
        continue;
      const Group &Over = Plan.block().Ops[I].Group;
      auto *Call = llvm::find_if(
          Calls, [&](const UnitCall &C) { return C.Over == Over; });
      if (Call == Calls.end())
        Call = &Calls.emplace_back(UnitCall{Over, {}});
      Call->Ops.push_back({Layer, I});
    }
  }
  return Calls;
}

/// Returns whether a unit was gathered at the end of the previous iteration
/// (megatron_fsdp.py, start_param_sync).
bool StageTasks::isFromBefore(const Action &A, UnitPart Part) const {
  return Part == UnitPart::Gather && A.MicroBatch == 0 &&
         Chunks[static_cast<size_t>(A.Chunk)].Ahead != 0;
}

void StageTasks::unit(const Action &A, UnitLayers Layers, UnitPart Part,
                      Visitor Visit) {
  const ChunkTasks &Chunk = Chunks[static_cast<size_t>(A.Chunk)];
  for (const UnitCall &Call : callsOf(Chunk, Layers, Part)) {
    Task T;
    T.Kind = TaskKind::Collective;
    T.Action = A.Kind;
    T.MicroBatch = A.MicroBatch;
    T.Chunk = A.Chunk;
    if (A.Kind == ActionKind::Step)
      T.Data = Computed;
    T.Layer = Chunk.FirstLayer + static_cast<int64_t>(Call.Ops.front().Layer);
    for (const Read &Of : Call.Ops) {
      const BlockTasks &Plan = *Chunk.Layers[Of.Layer].Of;
      const Op &O = Plan.block().Ops[Of.Of];
      if (T.Of) {
        T.With.push_back(&O);
      } else {
        T.In = &Plan.block();
        T.Of = &O;
      }
      T.Size += messageBytes(P, O);
      for (ValueId V : O.Operands)
        addSources(A, Of.Layer, Plan.sources(V), T.Data);
    }
    T.Control = Communicated;
    Communicated = {Next};
    visit(T, Visit);
  }
}

/// Gathers one weight after the other.
void StageTasks::gatherEach(const Op &Of, const Block &In, const Task &T,
                            Visitor Visit) {
  const int64_t OfElement =
      Of.Group.size(P.Mesh) *
      bytesPerElement(In.Values[Of.Operands.front()].Type.Element);
  for (const int64_t Share : wholeShares(P))
    collective(Of, bytesOf(Elements(Share), OfElement), T, Visit);
}
