// SPDX-License-Identifier: Apache-2.0
//
// Units of PyTorch's FSDP in the tasks of a stage. Each gathers its weights,
// and reduces their gradients, in one call
// (torch/distributed/fsdp/_fully_shard/ _fsdp_param_group.py,
// _fsdp_collectives.py).
#include "ir/model/Measure.h"
#include "ir/model/OpKinds.h"
#include "ir/ranks/StageTasks.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

/// The layers of the unit that contains \p Layer.
StageTasks::UnitLayers StageTasks::unitOf(const ChunkTasks &Of,
                                          const size_t &Layer) {
  return llvm::is_contained(Of.Roots, Layer) ? UnitLayers(Of.Roots)
                                             : UnitLayers(Layer);
}

/// Walks through a step in order. In the backward pass the next unit is
/// gathered before a layer runs, and the root unit is reduced last
/// (_prefetch_unshard, _root_post_backward_final_callback).
void StageTasks::walkStep(const ChunkTasks &Of, bool IsForward,
                          llvm::function_ref<void(UnitLayers, UnitPart)> Unit,
                          llvm::function_ref<void(size_t)> Layer) const {
  const size_t Count = Of.Layers.size();
  llvm::SmallVector<size_t, 0> Units; // in order
  for (size_t N = 0; HasUnits && N < Count; ++N)
    if (const size_t L = IsForward ? N : Count - 1 - N;
        !llvm::is_contained(Of.Roots, L))
      Units.push_back(L);
  if (IsForward)
    Unit(Of.Roots, UnitPart::Gather);
  else if (!Units.empty())
    Unit(Units.front(), UnitPart::GatherAgain);
  size_t Next = 0;
  for (size_t N = 0; N < Count; ++N) {
    const size_t L = IsForward ? N : Count - 1 - N;
    if (Next == Units.size() || Units[Next] != L) {
      Layer(L);
      continue;
    }
    ++Next;
    if (IsForward)
      Unit(L, UnitPart::Gather);
    else if (Next < Units.size())
      Unit(Units[Next], UnitPart::GatherAgain);
    Layer(L);
    if (!IsForward) {
      Unit(L, UnitPart::Reduce);
      Unit(L, UnitPart::Sum);
    }
  }
  if (!IsForward) {
    Unit(Of.Roots, UnitPart::Reduce);
    Unit(Of.Roots, UnitPart::Sum);
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

void StageTasks::unit(const Action &A, UnitLayers Layers, UnitPart Part,
                      Visitor Visit) {
  const ChunkTasks &Chunk = Chunks[static_cast<size_t>(A.Chunk)];
  for (const UnitCall &Call : callsOf(Chunk, Layers, Part)) {
    Task T;
    T.Kind = TaskKind::Collective;
    T.Action = A.Kind;
    T.MicroBatch = A.MicroBatch;
    T.Chunk = A.Chunk;
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
