// SPDX-License-Identifier: Apache-2.0
//
// Megatron-LM on rank 0: what is sent around the layers, and the pipeline.
#include "backends/aicb/MegatronLayers.h"
#include "backends/aicb/Workload.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::aicb;

namespace {

class Megatron final : public Workload {
public:
  Megatron(const ir::Spec &S, const Options &O, OutputStream &OS)
      : Workload(S, O, OS), Layers(J, O.Computes, Out),
        Params(countParams(J).Objects.value()),
        SharesOptimizer(*S.Parallel.Zero > 0) {}

private:
  void init() override;
  void forward() override;
  void backward() override { Layers.backward(); }
  void step() override;
  void pipeline() override;

  void setUp(LoggedComm C, const Members &M, int64_t Size);
  void batch();
  /// To or from the next stage.
  void exchange(LoggedComm C, llvm::StringLiteral What, llvm::StringRef Stage);

  MegatronLayers Layers;
  const int64_t Params;
  const bool SharesOptimizer;
};

} // namespace

void Megatron::setUp(LoggedComm C, const Members &M, int64_t Size) {
  Out.send({C, M, Size, "init.model_setup"});
}

void Megatron::init() {
  setUp(LoggedComm::AllReduce, dataParallel(), 8);
  for (int I = 0; I < 3; ++I) {
    setUp(LoggedComm::AllReduce, dataParallel(), 8);
    if (J.Pp > 1)
      setUp(LoggedComm::AllReduce, {CommGroup::Pp, J.Pp}, 8);
  }
  setUp(LoggedComm::AllGather, dataParallel(), 32);
  Out.send({LoggedComm::Broadcast, tensorParallel(), 24, "init.model_setup",
            std::nullopt, 0});
  if (J.Pp > 1 && O.PpRank == J.Pp - 1)
    for (Elements Table : {countWords(J), countPositions(J)})
      setUp(LoggedComm::AllReduce, tensorParallel(), 2 * Table.value());
  setUp(LoggedComm::AllGather, dataParallel(), 64);
}

/// What the data loader of the first rank of tp tells the others.
void Megatron::batch() {
  for (int64_t Size : {int64_t(40), 8 * (J.World + J.Sequence * J.MicroBatch)})
    Out.send({LoggedComm::Broadcast, tensorParallel(), Size, "forward_step",
              std::nullopt, 0});
}

void Megatron::forward() {
  if (J.Tp > 1)
    batch();
  Layers.forward();
  for (int I = 0; I < 3; ++I)
    Out.send({LoggedComm::AllReduce, tensorParallel(),
              4 * J.MicroBatch * J.Sequence,
              "forward_step._VocabParallelCrossEntropy"});
  Out.send({LoggedComm::AllReduce, dataParallel(), 4,
            "forward_step.average_losses_across_data_parallel_group"});
}

void Megatron::exchange(LoggedComm C, llvm::StringLiteral What,
                        llvm::StringRef Stage) {
  Out.send({C,
            {CommGroup::Pp, 1},
            activationBytes(J).value(),
            Stage.str(),
            std::nullopt,
            std::nullopt,
            What});
}

/// One forward, one backward, on the first stage.
void Megatron::pipeline() {
  const int64_t WarmUp = std::min(J.Pp - 1, J.Ga);
  for (int64_t I = 0; I < WarmUp; ++I) {
    batch();
    Layers.forward();
    exchange(LoggedComm::ISend, "send_next", "forward_step");
  }
  for (int64_t I = WarmUp; I < J.Ga && !Out.isFull(); ++I) {
    batch();
    Layers.forward();
    exchange(LoggedComm::IReceive, "recv_next", "forward_step");
    exchange(LoggedComm::ISend, "send_next", "forward_step");
    Layers.backward();
  }
  for (int64_t I = 0; I < WarmUp; ++I) {
    exchange(LoggedComm::IReceive, "recv_next", "backward_step");
    Layers.backward();
  }
}

/// Parameters are those of a stage, and divided by the number of stages again.
void Megatron::step() {
  if (SharesOptimizer) {
    Out.send(
        {LoggedComm::ReduceScatter, dataParallel(), 4 * Params / J.Pp, "step"});
    Out.send(
        {LoggedComm::AllGather, dataParallel(), 2 * Params / J.Pp, "step"});
  } else {
    Out.send({LoggedComm::AllReduce, dataParallel(), 4 * Params / J.Pp,
              "step.finish_grad_sync"});
  }
  // No parameter is marked as one of a norm.
  Out.send({LoggedComm::AllReduce, tensorParallel(), 0,
            "step._allreduce_layernorm_grads"});
  Out.send({LoggedComm::AllReduce, tensorParallel(), 4, "step.check_for_nan"});
}

std::unique_ptr<Workload> foretrace::aicb::makeMegatron(const ir::Spec &S,
                                                        const Options &O,
                                                        OutputStream &OS) {
  return std::make_unique<Megatron>(S, O, OS);
}
