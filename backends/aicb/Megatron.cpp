// SPDX-License-Identifier: Apache-2.0
//
// Megatron-LM on rank 0: what is sent around the layers, and the pipeline.
#include "backends/aicb/Workload.h"
#include "backends/aicb/Writer.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::aicb;

namespace {

/// How a linear layer is split over tp: not, by its outputs or by its inputs.
enum class LinearSplit : unsigned char { Replicated, Column, Row };

struct Linear {
  LinearSplit Split;
  llvm::StringLiteral Name;
  int64_t In, Out; ///< of all ranks
};

/// Writes messages and computations of the layers of a stage, forward and
/// backward.
class MegatronLayers {
public:
  /// With \p Computes products are written, too.
  MegatronLayers(const GeneratorJob &J, bool Computes, LogItemWriter &Out);

  void forward();
  void backward();

private:
  void embedding(llvm::StringRef Phase);
  void forward(const Linear &L);
  void backward(const Linear &L);
  void columnBackward(const Linear &L);
  void rowBackward(const Linear &L);
  void experts();
  void expertsOfSeven();
  bool hasExperts(int64_t Layer) const;

  void multiply(llvm::ArrayRef<int64_t> Left, llvm::ArrayRef<int64_t> Right,
                const llvm::Twine &Stage);
  /// Adds a message over tp, if tp > 1.
  void sendOverTp(LoggedComm C, int64_t Size, llvm::StringRef Stage);
  /// Adds a message over tp with an activation of \p Width channels.
  void sendActivation(LoggedComm C, int64_t Width, llvm::StringRef Stage);

  const GeneratorJob &J;
  const bool Computes;
  LogItemWriter &Out;
  std::vector<Linear> Attention, Network;
};

} // namespace

static std::vector<Linear> attentionOf(const GeneratorJob &J) {
  if (!J.IsDeepSeek) {
    const int64_t Width = J.Heads * J.HeadDim;
    return {{LinearSplit::Column, "attention_column", J.Hidden, 3 * Width},
            {LinearSplit::Row, "attention_row", Width, J.Hidden}};
  }
  return {
      {LinearSplit::Replicated, "attention_linear_q_lora", J.Hidden, J.QLora},
      {LinearSplit::Column, "attention_q_column", J.QLora,
       J.Heads * (J.NopeDim + J.RopeDim)},
      {LinearSplit::Replicated, "attention_linear_kv_lora", J.Hidden,
       J.KvLora + J.RopeDim},
      {LinearSplit::Column, "attention_kv_column", J.KvLora,
       J.Heads * (J.NopeDim + J.VDim)},
      {LinearSplit::Row, "attention_o_row", J.Heads * J.VDim, J.Hidden}};
}

MegatronLayers::MegatronLayers(const GeneratorJob &J, bool Computes,
                               LogItemWriter &Out)
    : J(J), Computes(Computes), Out(Out),
      Attention(attentionOf(J)), Network{{LinearSplit::Column, "mlp_column",
                                          J.Hidden, J.Ffn},
                                         {LinearSplit::Row, "mlp_row", J.Ffn,
                                          J.Hidden}} {}

void MegatronLayers::multiply(llvm::ArrayRef<int64_t> Left,
                              llvm::ArrayRef<int64_t> Right,
                              const llvm::Twine &Stage) {
  if (Computes)
    Out.multiply(Left, Right, Stage.str());
}

void MegatronLayers::sendOverTp(LoggedComm C, int64_t Size,
                                llvm::StringRef Stage) {
  if (J.Tp > 1)
    Out.send({C, {CommGroup::Tp, J.Tp}, Size, Stage.str()});
}

void MegatronLayers::sendActivation(LoggedComm C, int64_t Width,
                                    llvm::StringRef Stage) {
  sendOverTp(C, 2 * J.Sequence * J.MicroBatch * Width, Stage);
}

void MegatronLayers::embedding(llvm::StringRef Phase) {
  sendActivation(LoggedComm::AllReduce, J.Hidden,
                 (Phase + ".MegatronEmbedding").str());
}

/// With sequence parallelism, columns multiply all tokens tp times over: the
/// generator takes the length of the sequence for that of a rank's part.
static int64_t columnSequence(const GeneratorJob &J) {
  return J.SequenceParallel ? J.Sequence * J.Tp : J.Sequence;
}

void MegatronLayers::forward(const Linear &L) {
  static constexpr llvm::StringLiteral Column = "forward.MegatronColumnLinear";
  static constexpr llvm::StringLiteral Row = "forward.MegatronRowLinear";
  switch (L.Split) {
  case LinearSplit::Replicated:
    return multiply({J.Sequence, J.MicroBatch, L.In}, {L.In, L.Out},
                    "forward.Linear." + L.Name);
  case LinearSplit::Column:
    if (J.SequenceParallel)
      sendActivation(LoggedComm::AllGather, L.In, Column);
    return multiply({columnSequence(J), J.MicroBatch, L.In},
                    {L.In, L.Out / J.Tp}, Column + "." + L.Name);
  case LinearSplit::Row:
    multiply({J.Sequence, J.MicroBatch, L.In / J.Tp}, {L.In / J.Tp, L.Out},
             Row + "." + L.Name);
    return sendActivation(J.SequenceParallel ? LoggedComm::ReduceScatter
                                             : LoggedComm::AllReduce,
                          L.Out, Row);
  }
}

void MegatronLayers::columnBackward(const Linear &L) {
  static constexpr llvm::StringLiteral Stage = "backward.MegatronColumnLinear";
  const int64_t Sequence = columnSequence(J), Tokens = Sequence * J.MicroBatch;
  const int64_t Outputs = L.Out / J.Tp;
  if (J.SequenceParallel)
    sendActivation(LoggedComm::AllGather, L.In, Stage);
  multiply({Sequence, J.MicroBatch, Outputs}, {Outputs, L.In},
           Stage + "." + L.Name);
  if (J.SequenceParallel)
    sendActivation(LoggedComm::ReduceScatter, L.In, Stage);
  multiply({Outputs, Tokens}, {Tokens, L.In}, Stage + "." + L.Name);
  if (!J.SequenceParallel)
    sendActivation(LoggedComm::AllReduce, L.In, Stage);
}

void MegatronLayers::rowBackward(const Linear &L) {
  static constexpr llvm::StringLiteral Stage = "backward.MegatronRowLinear";
  const int64_t Inputs = L.In / J.Tp, Tokens = J.Sequence * J.MicroBatch;
  if (J.SequenceParallel)
    sendActivation(LoggedComm::AllGather, L.Out, Stage);
  // This name has no point before it.
  multiply({J.Sequence, J.MicroBatch, L.Out}, {L.Out, Inputs}, Stage + L.Name);
  multiply({L.Out, Tokens}, {Tokens, Inputs}, Stage + L.Name);
}

void MegatronLayers::backward(const Linear &L) {
  const int64_t Tokens = J.Sequence * J.MicroBatch;
  switch (L.Split) {
  case LinearSplit::Replicated:
    return multiply({L.Out, Tokens}, {Tokens, L.In},
                    "backward.Linear." + L.Name);
  case LinearSplit::Column:
    return columnBackward(L);
  case LinearSplit::Row:
    return rowBackward(L);
  }
}

/// Each token is sent to its experts by the ranks of ep, and gathered over tp.
void MegatronLayers::experts() {
  const int64_t Copies = J.Sequence * J.Hidden * J.MicroBatch * J.TopK;
  const Members Ep = {CommGroup::Ep, std::nullopt},
                Tp = {CommGroup::Tp, std::nullopt};
  const LogItem Dispatch = {LoggedComm::AllToAll, Ep, Copies / J.Tp * 2,
                            "forward.MoE.dispatch"};
  if (!J.IsDeepSeek && (J.Tp > 1 || J.Ep > 1))
    Out.send({LoggedComm::AllGather, Ep, 2 * J.Ep * J.Experts * J.Tp,
              "forward.MoE.preprocess"});
  if (J.Ep > 1 && J.IsDeepSeek)
    Out.sendScaled(Dispatch);
  else if (J.Ep > 1)
    Out.send(Dispatch);
  if (J.Tp > 1) {
    Out.send(
        {LoggedComm::AllGather, Tp, 2 * Copies, "forward.MoE.permutation"});
    Out.send({LoggedComm::ReduceScatter, Tp, 2 * Copies,
              "forward.MoE.unpermutation"});
  }
  if (J.Ep > 1)
    Out.send(
        {LoggedComm::AllToAll, Ep, Copies / J.Tp * 2, "forward.MoE.combine"});
}

/// Writes the exchanges up to 2025-09-15: seven, those over ep even to oneself.
void MegatronLayers::expertsOfSeven() {
  const int64_t Tokens = J.Sequence * J.Hidden * J.MicroBatch;
  const int64_t Copies = Tokens * J.TopK;
  const Members Ep = {CommGroup::Ep, std::nullopt},
                Tp = {CommGroup::Tp, std::nullopt};
  if (!J.IsDeepSeek)
    Out.send({LoggedComm::AllGather, Tp, 2 * Tokens, "forward.MoE.preprocess"});
  sendOverTp(LoggedComm::AllToAll, Tokens / J.Tp * 2, "forward.MoE");
  if (J.IsDeepSeek)
    Out.sendScaled(
        {LoggedComm::AllToAll, Ep, Copies / J.Tp * 2, "forward.MoE"});
  else // a copy to one expert only
    Out.send({LoggedComm::AllToAll, Ep, Tokens / J.Tp * 2, "forward.MoE"});
  if (J.Tp > 1) {
    Out.send(
        {LoggedComm::AllGather, Tp, 2 * Copies, "forward.MoE.permutation"});
    Out.send({LoggedComm::ReduceScatter, Tp, 2 * Copies,
              "forward.MoE.unpermutation"});
  }
  Out.send({LoggedComm::AllToAll, Ep, Copies / J.Tp * 2, "forward.MoE"});
  if (J.Tp > 1)
    Out.send({LoggedComm::AllToAll, Tp, 2 * Tokens / J.Tp, "forward.MoE"});
}

bool MegatronLayers::hasExperts(int64_t Layer) const {
  return Layer >= J.Layers - J.expertLayers();
}

void MegatronLayers::forward() {
  embedding("forward");
  for (int64_t I = 0; I < J.Layers; ++I) {
    for (const Linear &L : Attention)
      forward(L);
    if (hasExperts(I)) {
      if (J.Version < Version::V2025_12)
        expertsOfSeven();
      else
        experts();
    }
    if (!hasExperts(I) || J.Shared > 0)
      for (const Linear &L : Network)
        forward(L);
  }
}

/// Skips the experts: the generator drops what they send backward.
void MegatronLayers::backward() {
  for (int64_t I = J.Layers; I-- > 0;) {
    for (const Linear &L : Attention)
      backward(L);
    if (!hasExperts(I) || J.Shared > 0)
      for (const Linear &L : Network)
        backward(L);
  }
  embedding("backward");
}

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

/// Logs the broadcasts of the data loader on the first rank of tp.
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

/// Writes one forward and one backward pass, on the first stage.
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
