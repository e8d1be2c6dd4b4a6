// SPDX-License-Identifier: Apache-2.0
#include "backends/simai/Aicb.h"
#include "backends/simai/AicbCounts.h"
#include "backends/simai/AicbTimes.h"
#include "llvm/ADT/STLExtras.h"
#include <cassert>

using namespace foretrace;
using namespace foretrace::simai;

namespace {

/// What one column of a row sends.
struct Message {
  simai::Comm Comm = Comm::None;
  Bytes Size;
  simai::Group Group = Group::Column;
  bool IsFloat = false;
};

/// Times of the three columns, ns.
struct Times {
  int64_t Forward = 1, Backward = 1, Update = 1;
};

class Generator {
public:
  Generator(const ir::Spec &S, Version V)
      : J(AicbJob::of(S, V)), P(countParams(J)), T(groupTimes(S, J)),
        Activation(activationBytes(J)) {}

  Table run();
  bool hasOverflown() const { return Overflown; }

private:
  Header header() const;
  std::vector<Row> gradients();
  Row embedding(int64_t Carried);
  std::vector<Row> layer(bool HasExperts);
  void attention(std::vector<Row> &Rows);
  void latentAttention(std::vector<Row> &Rows);
  void mlp(std::vector<Row> &Rows);
  void experts(std::vector<Row> &Rows);
  void fiveExpertRows(std::vector<Row> &Rows);
  void sevenExpertRows(std::vector<Row> &Rows);
  std::vector<Row> afterLayers();
  std::vector<Row> afterMicroBatches();
  Part microBatch(Table &Out, int64_t Carried, int64_t Repeat);
  int64_t leftOver() const;

  Row row(llvm::StringRef Name, Times Ns, const Message &Forward,
          const Message &Backward = {}, const Message &Update = {});
  void fill(Cell &C, int64_t Time, const Message &M);
  Row column(llvm::StringRef Name, Times Ns, Bytes ForwardSize);
  Row rowParallel(llvm::StringRef Name, Times Ns, Bytes ForwardSize);
  Row whole(llvm::StringRef Name, int64_t Ns, Bytes ForwardSize);
  Message tensorParallel(Comm C, Bytes Size) const;
  Message expertParallel() const;
  Message dispatch() const;

  bool zeroesSilence() const {
    return J.Timed && J.Version == Version::V2025_12;
  }
  /// The activation once per chosen expert.
  Bytes copies() const { return Activation * J.TopK; }
  /// Forward bytes of attention, which untimed tables double to recompute.
  Bytes attentionSize() const {
    return !J.Timed && J.Recompute ? Activation * 2 : Activation;
  }
  /// A block's time is shared by its column and its row.
  Times half(int64_t Ns, bool Recomputed = false) const {
    if (!J.Timed)
      return {};
    return {Recomputed ? Ns : Ns / 2, Ns / 2, Ns / 2};
  }

  const AicbJob J;
  const AicbParams P;
  const AicbTimes T;
  const Bytes Activation; ///< 2 b s h
  bool Overflown = false;
};

} // namespace

void Generator::fill(Cell &C, int64_t Time, const Message &M) {
  Overflown |= M.Size.isOverflow();
  C.Time = Time;
  C.Comm = M.Comm;
  C.Group = M.Group;
  C.IsFloat = M.IsFloat;
  if (!M.Size.isOverflow() && !(M.Comm == Comm::None && zeroesSilence()))
    C.Size = M.Size.value();
}

Row Generator::row(llvm::StringRef Name, Times Ns, const Message &Forward,
                   const Message &Backward, const Message &Update) {
  Row R;
  R.Name = Name.str();
  fill(R.Forward, Ns.Forward, Forward);
  fill(R.Backward, Ns.Backward, Backward);
  fill(R.Update, Ns.Update, Update);
  return R;
}

/// Timed tables know that one rank has nobody to talk to.
Message Generator::tensorParallel(Comm C, Bytes Size) const {
  return {J.Timed && J.Tp == 1 ? Comm::None : C, Size};
}

Message Generator::expertParallel() const {
  if (!J.Timed || J.Ep > 1)
    return {Comm::AllToAll, copies().dividedDown(J.Tp), Group::Expert};
  if (J.Version == Version::V2025_12)
    return {};
  return {Comm::AllToAll, Bytes(1), Group::Expert};
}

/// DeepSeek sends one byte per element and a 4-byte scale per 128 of them.
Message Generator::dispatch() const {
  Message M = expertParallel();
  if (!J.IsDeepSeek || M.Comm == Comm::None || J.Ep == 1)
    return M;
  M.Size = (M.Size * 33).dividedDown(64); // (1 + 4/128) / 2
  M.IsFloat = J.Version != Version::V2025_12;
  return M;
}

Row Generator::column(llvm::StringRef Name, Times Ns, Bytes ForwardSize) {
  if (!J.Timed)
    return row(Name, Ns, {Comm::AllGather, ForwardSize});
  return row(Name, Ns, tensorParallel(Comm::AllGather, ForwardSize),
             tensorParallel(Comm::ReduceScatter, Bytes()));
}

Row Generator::rowParallel(llvm::StringRef Name, Times Ns, Bytes ForwardSize) {
  if (!J.Timed)
    return row(Name, Ns, {Comm::ReduceScatter, ForwardSize},
               {Comm::None, Activation});
  return row(Name, Ns, tensorParallel(Comm::ReduceScatter, ForwardSize),
             tensorParallel(Comm::AllGather, Activation));
}

/// Without sequence parallelism a block is one row.
Row Generator::whole(llvm::StringRef Name, int64_t Ns, Bytes ForwardSize) {
  if (!J.Timed)
    return row(Name, {}, {Comm::AllReduce, ForwardSize},
               {Comm::AllReduce, Activation});
  return row(Name, {Ns, Ns, Ns}, tensorParallel(Comm::AllReduce, ForwardSize));
}

void Generator::latentAttention(std::vector<Row> &Rows) {
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
          row(Part.Name, {J.Recompute ? 2 * Ns : Ns, Ns, Ns}, Message()));
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

void Generator::attention(std::vector<Row> &Rows) {
  if (!J.SequenceParallel) {
    Rows.push_back(
        whole(J.IsDeepSeek ? "attention_layer_mla" : "attention_layer",
              T.Attention, attentionSize()));
    return;
  }
  if (J.IsDeepSeek)
    return latentAttention(Rows);
  Times Ns = half(T.Attention, J.Recompute);
  Rows.push_back(column("attention_column", Ns, attentionSize()));
  Rows.push_back(rowParallel("attention_row", Ns, attentionSize()));
}

void Generator::mlp(std::vector<Row> &Rows) {
  if (!J.SequenceParallel) {
    Rows.push_back(whole("mlp_layer", T.Mlp, Activation));
    return;
  }
  Rows.push_back(column("mlp_column", half(T.Mlp), Activation));
  Rows.push_back(rowParallel("mlp_row", half(T.Mlp), Activation));
}

void Generator::fiveExpertRows(std::vector<Row> &Rows) {
  auto Add = [&](Times Ns, const Message &Forward, const Message &Backward) {
    Rows.push_back(row("mlp_moelayer", Ns, Forward, Backward));
  };
  Bytes Routing = Bytes(2) * J.Ep * J.Experts * J.Tp;
  Message Gather = tensorParallel(Comm::AllGather, copies());
  Message Scatter = tensorParallel(Comm::ReduceScatter, copies());
  Add({T.Mlp, T.Mlp, 1}, {Comm::AllGather, Routing}, {});
  Add({}, dispatch(), expertParallel());
  Add({}, Gather, Scatter);
  Add({}, Scatter, Gather);
  Add({}, expertParallel(), expertParallel());
}

void Generator::sevenExpertRows(std::vector<Row> &Rows) {
  auto Add = [&](Times Ns, const Message &Forward, const Message &Backward) {
    Rows.push_back(row("mlp_moelayer", Ns, Forward, Backward));
  };
  Message Scores = tensorParallel(Comm::AllGather, Bytes(2) * J.MicroBatch *
                                                       J.Sequence * J.Experts);
  Message Tokens = tensorParallel(Comm::AllToAll, Activation.dividedDown(J.Tp));
  // The untimed variant divides these sizes by tp, and not all of them.
  Bytes Size = J.Timed ? copies() : copies().dividedDown(J.Tp);
  Message Gather = tensorParallel(Comm::AllGather, Size);
  Message Scatter = tensorParallel(Comm::ReduceScatter, Size);
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

void Generator::experts(std::vector<Row> &Rows) {
  if (!J.SequenceParallel)
    Rows.push_back(whole("mlp_moelayer", T.Mlp, Activation));
  else if (J.Version == Version::V2025_12)
    fiveExpertRows(Rows);
  else
    sevenExpertRows(Rows);
  if (J.Shared > 0)
    mlp(Rows);
}

std::vector<Row> Generator::layer(bool HasExperts) {
  std::vector<Row> Rows;
  attention(Rows);
  if (HasExperts)
    experts(Rows);
  else
    mlp(Rows);
  Rows.back().EndsLayer = true;
  return Rows;
}

/// Optimizer steps and gradients, which stand before the micro-batches.
std::vector<Row> Generator::gradients() {
  std::vector<Row> Rows;
  if (J.Timed) {
    assert(!P.Experts.isOverflow() || P.All.isOverflow());
    Elements Dense = P.All.isOverflow()
                         ? Elements::overflow()
                         : Elements(P.All.value() - P.Experts.value());
    Rows.push_back(
        row("grad_gather", {}, {}, {}, {Comm::AllGather, bytesOf(Dense, 2)}));
    Rows.push_back(row("grad_param_comm", {}, {}, {},
                       {Comm::ReduceScatter, bytesOf(Dense, 4)}));
    Rows.push_back(
        row("grad_param_compute", {1, T.GradForward + T.GradBackward, 1}, {}));
  } else {
    Rows.push_back(row("grad_norm", {}, {Comm::AllGather, bytesOf(P.All, 2)},
                       {}, {Comm::ReduceScatter, bytesOf(P.All, 4)}));
  }
  if (!J.SequenceParallel)
    Rows.push_back(
        row("layernorm", {}, {}, {Comm::AllReduce, bytesOf(P.All, 2)}));
  if (J.Timed)
    Rows.push_back(row("embedding_grads", {}, {},
                       tensorParallel(Comm::AllReduce, Activation)));
  if (J.Ep != J.Dp) {
    Rows.push_back(
        row("moe_grad_norm1", {}, {}, {},
            {Comm::AllGather, bytesOf(P.Experts, 2), Group::ExpertData}));
    Rows.push_back(
        row("moe_grad_norm2", {}, {}, {},
            {Comm::ReduceScatter, bytesOf(P.Experts, 4), Group::ExpertData}));
  }
  return Rows;
}

/// \p Carried: the generator forgets to reset its backward time, so this row
/// shows that of whatever came before.
Row Generator::embedding(int64_t Carried) {
  if (J.Timed)
    return row("embedding_layer", {T.Embedding, 1, Carried},
               tensorParallel(Comm::AllReduce, Activation));
  Comm C = J.SequenceParallel ? Comm::None : Comm::AllReduce;
  return row("embedding_layer", {}, {C, Activation}, {C, Activation});
}

std::vector<Row> Generator::afterLayers() {
  std::vector<Row> Rows;
  if (J.SequenceParallel)
    Rows.push_back(column("final_column", half(T.Attention), Activation));
  if (!J.Timed)
    Rows.push_back(row("embedding_norm", {},
                       {Comm::AllReduce, Bytes(2) * J.Vocab * J.Hidden}));
  return Rows;
}

std::vector<Row> Generator::afterMicroBatches() {
  std::vector<Row> Rows;
  for (llvm::StringRef Name :
       {"cross_entropy1", "cross_entropy2", "cross_entropy3"})
    Rows.push_back(
        row(Name, {0, 0, 0},
            {Comm::AllReduce, Bytes(4) * J.MicroBatch * J.Sequence}));
  for (llvm::StringRef Name :
       {"optimizer1", "optimizer2", "optimizer3", "optimizer4"})
    Rows.push_back(row(Name, {0, 0, 0}, {Comm::AllReduce, Bytes(4)}));
  return Rows;
}

Header Generator::header() const {
  Header H;
  H.Tp = J.Tp;
  H.Ep = J.Ep;
  H.Pp = J.Pp;
  H.Ga = J.Ga;
  H.World = J.World;
  if (J.Version == Version::V2024_10)
    return H;
  H.Vpp = J.Layers;
  int64_t Size = Activation.isOverflow() ? 0 : Activation.value();
  if (J.Version == Version::V2024_12)
    H.PpComm = std::to_string(Size);
  else if (J.Pp == 1)
    H.PpComm = "0";
  else if (J.SequenceParallel)
    H.PpComm = std::to_string(Size / J.Tp) + ".0";
  else
    H.PpComm = std::to_string(Size);
  return H;
}

/// The backward time that the last row of a micro-batch leaves behind.
int64_t Generator::leftOver() const {
  return J.SequenceParallel ? half(T.Attention).Update : T.Mlp;
}

Part Generator::microBatch(Table &Out, int64_t Carried, int64_t Repeat) {
  int64_t Dense = !J.HasExperts ? J.Layers : J.IsDeepSeek ? J.DenseLayers : 0;
  Part Each;
  Each.Repeat = Repeat;
  Each.IsMicroBatch = true;
  Each.Runs.push_back({Out.addBody({embedding(Carried)})});
  if (Dense > 0)
    Each.Runs.push_back({Out.addBody(layer(/*HasExperts=*/false)), Dense});
  if (J.Layers > Dense)
    Each.Runs.push_back(
        {Out.addBody(layer(/*HasExperts=*/true)), J.Layers - Dense});
  Each.Runs.push_back({Out.addBody(afterLayers())});
  return Each;
}

Table Generator::run() {
  Table Out;
  Out.Header = header();
  Out.Parts.push_back({{{Out.addBody(gradients())}}});
  if (J.Ga > 0) {
    Out.Parts.push_back(microBatch(Out, T.GradBackward, 1));
    Out.Parts.push_back(microBatch(Out, leftOver(), J.Ga - 1));
  }
  Out.Parts.push_back({{{Out.addBody(afterMicroBatches())}}});
  return Out;
}

/// What the generator refuses, beyond what `derive` does.
static bool checkJob(const ir::Spec &S, DiagnosticEngine &Diags) {
  unsigned Before = Diags.errorCount();
  const ir::ParallelSpec &P = S.Parallel;
  if (*P.Cp > 1)
    Diags.report(P.Cp.Range, diag::SimaiCpIgnored, *P.Cp);
  for (const ir::BlockSpec &B : S.Model.Blocks) {
    bool IsDeepSeek = *B.Attention.Kind == ir::AttentionKind::MLA;
    if (IsDeepSeek && *P.SequenceParallel &&
        *S.Cost.Kind != ir::CostKind::Profile)
      Diags.report(B.Attention.Range, diag::SimaiMlaUntimed);
    if (B.Moe && !IsDeepSeek && !*P.SequenceParallel)
      Diags.report(B.Moe->Experts.Range, diag::SimaiMoeNeedsSp);
  }
  return Diags.errorCount() == Before;
}

std::optional<Table> foretrace::simai::aicbTable(const ir::Spec &S, Version V,
                                                 DiagnosticEngine &Diags) {
  if (!checkJob(S, Diags))
    return std::nullopt;
  Generator G(S, V);
  Table T = G.run();
  if (!G.hasOverflown())
    return T;
  Diags.report(S.Model.Range, diag::SizeOverflow, "a message of the table");
  return std::nullopt;
}
