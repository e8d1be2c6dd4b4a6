// SPDX-License-Identifier: Apache-2.0
#include "backends/aicb/MegatronLayers.h"
#include "llvm/ADT/Twine.h"

using namespace foretrace;
using namespace foretrace::aicb;

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
    : J(J), Computes(Computes), Out(Out), Attention(attentionOf(J)),
      Network{{LinearSplit::Column, "mlp_column", J.Hidden, J.Ffn},
              {LinearSplit::Row, "mlp_row", J.Ffn, J.Hidden}} {}

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
  // Without a point before the name.
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

/// Up to 2025-09-15: seven messages, those over ep even to oneself.
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

/// Nothing of the experts: what they send backward is worked out and dropped.
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
