// SPDX-License-Identifier: Apache-2.0
//
// The public generator's layers: what each of their rows sends.
#include "backends/simai/AicbGenerator.h"

using namespace foretrace;
using namespace foretrace::simai;

void AicbGenerator::fill(WorkloadCell &C, int64_t Time, const AicbMessage &M) {
  Overflown |= M.Size.isOverflow();
  C.Time = Time;
  C.Comm = M.Comm;
  C.Group = M.Group;
  C.IsFloat = M.IsFloat;
  if (!M.Size.isOverflow() && !(M.Comm == Comm::None && zeroesSilence()))
    C.Size = M.Size.value();
}

WorkloadRow AicbGenerator::row(llvm::StringRef Name, ColumnTimes Ns,
                               const AicbMessage &Forward,
                               const AicbMessage &Backward,
                               const AicbMessage &Update) {
  WorkloadRow R;
  R.Name = Name.str();
  fill(R.Forward, Ns.Forward, Forward);
  fill(R.Backward, Ns.Backward, Backward);
  fill(R.Update, Ns.Update, Update);
  return R;
}

/// Timed tables omit collectives over a single rank.
AicbMessage AicbGenerator::tensorParallel(Comm C, Bytes Size) const {
  return {J.Timed && J.Tp == 1 ? Comm::None : C, Size};
}

AicbMessage AicbGenerator::expertParallel() const {
  if (!J.Timed || J.Ep > 1)
    return {Comm::AllToAll, copies().dividedDown(J.Tp), CellGroup::Expert};
  if (J.Version == aicb::Version::V2025_12)
    return {};
  return {Comm::AllToAll, Bytes(1), CellGroup::Expert};
}

/// DeepSeek sends one byte per element and a 4-byte scale per 128 of them.
AicbMessage AicbGenerator::dispatch() const {
  AicbMessage M = expertParallel();
  if (!J.IsDeepSeek || M.Comm == Comm::None || J.Ep == 1)
    return M;
  M.Size = (M.Size * 33).dividedDown(64); // (1 + 4/128) / 2
  M.IsFloat = J.Version != aicb::Version::V2025_12;
  return M;
}

WorkloadRow AicbGenerator::column(llvm::StringRef Name, ColumnTimes Ns,
                                  Bytes ForwardSize) {
  if (!J.Timed)
    return row(Name, Ns, {Comm::AllGather, ForwardSize});
  return row(Name, Ns, tensorParallel(Comm::AllGather, ForwardSize),
             tensorParallel(Comm::ReduceScatter, Bytes()));
}

WorkloadRow AicbGenerator::rowParallel(llvm::StringRef Name, ColumnTimes Ns,
                                       Bytes ForwardSize) {
  if (!J.Timed)
    return row(Name, Ns, {Comm::ReduceScatter, ForwardSize},
               {Comm::None, Activation});
  return row(Name, Ns, tensorParallel(Comm::ReduceScatter, ForwardSize),
             tensorParallel(Comm::AllGather, Activation));
}

/// Without sequence parallelism a block is one row.
WorkloadRow AicbGenerator::whole(llvm::StringRef Name, int64_t Ns,
                                 Bytes ForwardSize) {
  if (!J.Timed)
    return row(Name, {}, {Comm::AllReduce, ForwardSize},
               {Comm::AllReduce, Activation});
  return row(Name, {Ns, Ns, Ns}, tensorParallel(Comm::AllReduce, ForwardSize));
}

void AicbGenerator::latentAttention(std::vector<WorkloadRow> &Rows) {
  // Section, name, and how its product is split over tp.
  enum class Kind : unsigned char { Replicated, Column, Row };
  static constexpr struct {
    size_t Section;
    llvm::StringLiteral Name;
    Kind Split;
  } Parts[] = {{0, "attention_linear_q_lora", Kind::Replicated},
               {1, "attention_q_column", Kind::Column},
               {2, "attention_linear_kv_lora", Kind::Replicated},
               {3, "attention_kv_column", Kind::Column},
               {4, "attention_o_row", Kind::Row}};
  for (const auto &Part : Parts) {
    int64_t Ns = T.Latent[Part.Section];
    switch (Part.Split) {
    case Kind::Replicated:
      Rows.push_back(
          row(Part.Name, {J.Recompute ? 2 * Ns : Ns, Ns, Ns}, AicbMessage()));
      break;
    case Kind::Column:
      Rows.push_back(column(Part.Name, half(Ns, J.Recompute), Activation));
      break;
    case Kind::Row:
      Rows.push_back(rowParallel(Part.Name, half(Ns, J.Recompute), Activation));
      break;
    }
  }
}

void AicbGenerator::attention(std::vector<WorkloadRow> &Rows) {
  if (!J.SequenceParallel) {
    Rows.push_back(
        whole(J.IsDeepSeek ? "attention_layer_mla" : "attention_layer",
              T.Attention, attentionSize()));
    return;
  }
  if (J.IsDeepSeek)
    return latentAttention(Rows);
  ColumnTimes Ns = half(T.Attention, J.Recompute);
  Rows.push_back(column("attention_column", Ns, attentionSize()));
  Rows.push_back(rowParallel("attention_row", Ns, attentionSize()));
}

void AicbGenerator::mlp(std::vector<WorkloadRow> &Rows) {
  if (!J.SequenceParallel) {
    Rows.push_back(whole("mlp_layer", T.Mlp, Activation));
    return;
  }
  Rows.push_back(column("mlp_column", half(T.Mlp), Activation));
  Rows.push_back(rowParallel("mlp_row", half(T.Mlp), Activation));
}

void AicbGenerator::fiveExpertRows(std::vector<WorkloadRow> &Rows) {
  auto Add = [&](ColumnTimes Ns, const AicbMessage &Forward,
                 const AicbMessage &Backward) {
    Rows.push_back(row("mlp_moelayer", Ns, Forward, Backward));
  };
  Bytes Routing = Bytes(2) * J.Ep * J.Experts * J.Tp;
  AicbMessage Gather = tensorParallel(Comm::AllGather, copies());
  AicbMessage Scatter = tensorParallel(Comm::ReduceScatter, copies());
  const bool IsAlone = J.Timed && J.Tp == 1 && J.Ep == 1;
  Add({T.Mlp, T.Mlp, 1}, {IsAlone ? Comm::None : Comm::AllGather, Routing}, {});
  Add({}, dispatch(), expertParallel());
  Add({}, Gather, Scatter);
  Add({}, Scatter, Gather);
  Add({}, expertParallel(), expertParallel());
}

void AicbGenerator::sevenExpertRows(std::vector<WorkloadRow> &Rows) {
  auto Add = [&](ColumnTimes Ns, const AicbMessage &Forward,
                 const AicbMessage &Backward) {
    Rows.push_back(row("mlp_moelayer", Ns, Forward, Backward));
  };
  // The untimed variant forgets the micro-batch ...
  AicbMessage Scores =
      tensorParallel(Comm::AllGather, Bytes(2) * (J.Timed ? J.MicroBatch : 1) *
                                          J.Sequence * J.Experts);
  AicbMessage Tokens =
      tensorParallel(Comm::AllToAll, Activation.dividedDown(J.Tp));
  // ... and divides these sizes by tp, but not all of them.
  Bytes Size = J.Timed ? copies() : copies().dividedDown(J.Tp);
  AicbMessage Gather = tensorParallel(Comm::AllGather, Size);
  AicbMessage Scatter = tensorParallel(Comm::ReduceScatter, Size);
  bool Scatters = J.Timed && J.Ep > 1;
  Add({T.Mlp, T.Mlp, 1}, Scores, Scores);
  Add({}, Tokens, Tokens);
  Add({}, dispatch(), expertParallel());
  Add({}, Gather,
      tensorParallel(Scatters ? Comm::ReduceScatter : Comm::AllGather,
                     copies()));
  Add({}, Scatter, Gather);
  Add({}, expertParallel(), expertParallel());
  Add({}, Tokens, Tokens);
}

void AicbGenerator::experts(std::vector<WorkloadRow> &Rows) {
  if (!J.SequenceParallel)
    Rows.push_back(whole("mlp_moelayer", T.Mlp, Activation));
  else if (J.Version == aicb::Version::V2025_12)
    fiveExpertRows(Rows);
  else
    sevenExpertRows(Rows);
  if (J.Shared > 0)
    mlp(Rows);
}

std::vector<WorkloadRow> AicbGenerator::layer(bool HasExperts) {
  std::vector<WorkloadRow> Rows;
  attention(Rows);
  if (HasExperts)
    experts(Rows);
  else
    mlp(Rows);
  Rows.back().EndsLayer = true;
  return Rows;
}
