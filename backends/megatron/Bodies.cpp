// SPDX-License-Identifier: Apache-2.0
#include "backends/megatron/Bodies.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::megatron;

namespace {

enum class Dialects : unsigned char { Any, V1, V2, V1Run, V1Scaling, V2Run };
enum class Pass : unsigned char { Forward, Backward };
enum class When : unsigned char { Always, TpCall, TpAlone, EpCall };
enum class Shape : unsigned char {
  BSH,
  SBH,
  TH,
  SB,
  Copies,
  Received,
  Experts
};
enum class DType : unsigned char { Param, float32, int64 };

/// A row of SubOperations.def.
struct Call {
  Dialects In;
  Pass Direction;
  ir::OpKind Kind;
  llvm::StringLiteral Module;
  When Condition;
  llvm::StringLiteral Function, Name, Group, Comm;
  Shape Size;
  DType Type;
};
constexpr Call Calls[] = {
#define CALL(DIALECTS, PASS, KIND, MODULE, WHEN, FUNCTION, NAME, GROUP, COMM,  \
             SHAPE, DTYPE)                                                     \
  {Dialects::DIALECTS,                                                         \
   Pass::PASS,                                                                 \
   ir::OpKind::KIND,                                                           \
   MODULE,                                                                     \
   When::WHEN,                                                                 \
   FUNCTION,                                                                   \
   NAME,                                                                       \
   GROUP,                                                                      \
   COMM,                                                                       \
   Shape::SHAPE,                                                               \
   DType::DTYPE},
#include "backends/megatron/SubOperations.def"
};

std::string list(std::initializer_list<int64_t> Sizes) {
  return "[" +
         llvm::join(llvm::map_range(
                        Sizes, [](int64_t N) { return std::to_string(N); }),
                    ", ") +
         "]";
}

std::string torchType(ir::ElementType T) {
  switch (T) {
  case ir::ElementType::BF16:
    return "torch.bfloat16";
  case ir::ElementType::FP16:
    return "torch.float16";
  case ir::ElementType::FP32:
    return "torch.float32";
  case ir::ElementType::I64:
    return "torch.int64";
  }
  llvm_unreachable("every type is handled");
}

class Maker {
public:
  Maker(const ir::Program &P, const ir::Stage &S, Instrumentation How)
      : P(P), S(S), How(How), Par(P.Spec.Parallel),
        Sequence(*P.Spec.Train.Sequence / *Par.Cp),
        Batch(*P.Spec.Train.MicroBatch), Hidden(*P.Spec.Model.Hidden),
        Param(torchType(ir::elementTypeOf(*P.Spec.Train.Precision))) {}

  StageBodies run() const;

private:
  RowBody getBatch() const;
  RowBody loss() const;
  RowBody message(llvm::StringRef Op) const;
  RowBody chunk(llvm::StringRef Op, Pass Direction,
                const ir::LayerSequence &Layers) const;
  struct Gradients {
    int64_t Dense = 0, Expert = 0;
    bool HasExpertBuffer = false;
    std::optional<int64_t> Tied; ///< of the word embedding
  };
  Gradients gradients() const;
  RowBody reduction(llvm::StringRef Kind, llvm::StringRef Description,
                    std::string Shape) const;
  std::vector<RowBody> finalize() const;
  std::vector<RowBody> finalizeScaling() const;
  /// What scaling runs of v2 say of themselves.
  std::string simulation() const {
    return How.Scaling && !How.isV1() ? "simulation" : "";
  }
  void addCalls(RowBody &To, Pass Direction, const ir::Block &B,
                const ir::BlockSpec *Spec) const;
  std::string shapeOf(Shape K, const ir::BlockSpec *Spec) const;
  bool logs(Dialects In) const {
    switch (In) {
    case Dialects::Any:
      return true;
    case Dialects::V1:
      return How.isV1();
    case Dialects::V2:
      return !How.isV1();
    case Dialects::V1Run:
      return How.isV1() && !How.Scaling;
    case Dialects::V1Scaling:
      return How.isV1() && How.Scaling;
    case Dialects::V2Run:
      return !How.isV1() && !How.Scaling;
    }
    llvm_unreachable("every row is handled");
  }
  bool happens(When W) const {
    return W == When::Always || (W == When::TpCall && *Par.Tp > 1) ||
           (W == When::TpAlone && *Par.Tp == 1) ||
           (W == When::EpCall && *Par.Ep > 1);
  }
  const ir::BlockSpec *specOf(const ir::Block &B) const {
    for (const ir::BlockSpec &Spec : P.Spec.Model.Blocks)
      if (Spec.Name == B.Name)
        return &Spec;
    return nullptr;
  }

  const ir::Program &P;
  const ir::Stage &S;
  const Instrumentation How;
  const ir::ParallelSpec &Par;
  const int64_t Sequence, Batch, Hidden; ///< of a micro-batch on one rank
  const std::string Param;               ///< torch type
};

} // namespace

std::string Maker::shapeOf(Shape K, const ir::BlockSpec *Spec) const {
  switch (K) {
  case Shape::BSH:
    return list({Batch, Sequence, Hidden});
  case Shape::SBH:
    return list({Sequence, Batch, Hidden});
  case Shape::TH:
    return list({Sequence * Batch, Hidden});
  case Shape::SB:
    return list({Sequence, Batch});
  case Shape::Copies:
    return list({Sequence * Batch * *Spec->Moe->TopK, Hidden});
  case Shape::Received:
    return "[R, " + std::to_string(Hidden) + "]";
  case Shape::Experts:
    return list({*Spec->Moe->Experts});
  }
  llvm_unreachable("every shape is handled");
}

void Maker::addCalls(RowBody &To, Pass Direction, const ir::Block &B,
                     const ir::BlockSpec *Spec) const {
  auto AddOp = [&](const ir::Op &O) {
    if (O.Phase != ir::Phase::Forward)
      return;
    for (const Call &C : Calls)
      if (C.Direction == Direction && C.Kind == O.Kind && C.Module == O.Name &&
          logs(C.In) && happens(C.Condition))
        To.SubOperations.push_back({C.Function.str(), shapeOf(C.Size, Spec),
                                    C.Type == DType::Param     ? Param
                                    : C.Type == DType::float32 ? "torch.float32"
                                                               : "torch.int64",
                                    C.Name.str(), C.Group.str(), C.Comm.str(),
                                    O.Origin.Range});
  };
  if (Direction == Pass::Forward)
    llvm::for_each(B.Ops, AddOp);
  else
    for (size_t I = B.Ops.size(); I-- > 0;)
      AddOp(B.Ops[B.Ops.idAt(I)]);
}

RowBody Maker::chunk(llvm::StringRef Op, Pass Direction,
                     const ir::LayerSequence &Layers) const {
  std::vector<ir::BlockId> Order;
  for (const ir::LayerGroup &G : Layers)
    for (int64_t Period = 0; Period < G.Periods; ++Period)
      for (const ir::BlockRun &R : G.Runs)
        Order.insert(Order.end(), static_cast<size_t>(R.Count), R.Block);
  if (Direction == Pass::Backward)
    std::reverse(Order.begin(), Order.end());
  RowBody Body;
  Body.Op = Op.str();
  Body.Description = simulation();
  Body.Why = P.Spec.Model.LayersRange;
  for (ir::BlockId B : Order) {
    const ir::BlockSpec *Spec = specOf(P.Blocks[B]);
    const bool RunsAgain = Spec && Direction == Pass::Backward &&
                           *P.Spec.Train.Recompute == ir::RecomputeKind::Full;
    if (RunsAgain)
      addCalls(Body, Pass::Forward, P.Blocks[B], Spec);
    addCalls(Body, Direction, P.Blocks[B], Spec);
  }
  return Body;
}

RowBody Maker::message(llvm::StringRef Op) const {
  const int64_t Split = *Par.SequenceParallel ? *Par.Tp : 1;
  return {Op.str(), "", "pp", list({Sequence / Split, Batch, Hidden}),
          Param,    {}, "",   P.Spec.Model.Hidden.Range};
}

/// What the first rank of a tp group reads and broadcasts.
RowBody Maker::getBatch() const {
  RowBody Body;
  Body.Op = "get_batch";
  Body.Why = P.Spec.Train.Sequence.Range;
  Body.Description = simulation();
  Body.GroupKind = How.Scaling ? "tp" : "";
  if (!How.isV1() && *Par.Tp == 1)
    return Body;
  const bool IsFirst = !S.ReceivesForward;
  const bool IsLast = !S.SendsForward;
  const std::string Tokens = list({Batch, Sequence});
  auto Add = [&](llvm::StringRef Name, std::string Shape,
                 llvm::StringRef Type) {
    Body.SubOperations.push_back(
        {How.isV1() ? "_broadcast" : "broadcast_wrapper", std::move(Shape),
         Type.str(), Name.str(), "tp", "broadcast"});
  };
  if (IsFirst)
    Add("tokens", Tokens, "torch.int64");
  if (IsLast) {
    Add("labels", Tokens, "torch.int64");
    Add("loss_mask", Tokens, "torch.float32");
  }
  Add("attention_mask", list({Batch, 1, Sequence, Sequence}), "torch.bool");
  if (IsFirst)
    Add("position_ids", Tokens, "torch.int64");
  return Body;
}

RowBody Maker::loss() const {
  std::string Description = simulation();
  if (!Description.empty())
    Description += ": ";
  Description += "loss_func, calculate and DP allreduce for the last stage";
  return {
      "loss_func",
      std::move(Description),
      "",
      "",
      "",
      {{"allreduce", "[1]", "torch.float32", "loss_func", "dp", "allreduce"}},
      ""};
}

/// The element count of the step's value \p Name, if it has one.
static std::optional<int64_t> countOf(const ir::Block &Step,
                                      llvm::StringRef Name) {
  for (const ir::Value &V : Step.Values)
    if (V.Name == Name)
      return V.Type.Dims[0].Size;
  return std::nullopt;
}

/// What a step reduces, in elements of one rank.
Maker::Gradients Maker::gradients() const {
  const ir::Block &Step = P.Blocks[S.Step];
  Gradients G;
  G.Dense = countOf(Step, "grads.dense").value_or(0);
  G.Expert = countOf(Step, "grads.expert").value_or(0);
  G.Tied = countOf(Step, "grads.word_embeddings");
  // Experts get a buffer of their own only if they are spread.
  G.HasExpertBuffer = G.Expert > 0 && *Par.Ep > 1;
  if (!G.HasExpertBuffer)
    G.Dense += std::exchange(G.Expert, 0);
  return G;
}

/// Reduce-scatters of a distributed optimizer are logged without a shape.
RowBody Maker::reduction(llvm::StringRef Kind, llvm::StringRef Description,
                         std::string Shape) const {
  if (*Par.Zero > 0 && Kind != "ep")
    return {(Kind + "_allreduce").str(),
            Description.str(),
            Kind.str(),
            "",
            "",
            {},
            "finalize",
            Par.Zero.Range};
  return {(Kind + "_allreduce").str(),
          Description.str(),
          Kind.str(),
          std::move(Shape),
          torchType(ir::elementTypeOf(*P.Spec.Train.GradPrecision)),
          {},
          "finalize",
          P.Spec.Model.LayersRange};
}

static constexpr llvm::StringLiteral AllGradients =
    "model_chunk.finish_grad_sync(), All-reduce / reduce-scatter across DP "
    "replicas";
static constexpr llvm::StringLiteral DenseGradients =
    "Regular DP gradient synchronization (non-expert parameters)";
static constexpr llvm::StringLiteral ExpertGradients =
    "Expert DP gradient synchronization (expert parameters)";

std::vector<RowBody> Maker::finalize() const {
  const Gradients G = gradients();
  std::vector<RowBody> Rows;
  if (!G.HasExpertBuffer) {
    Rows.push_back(reduction("dp", AllGradients, list({G.Dense})));
  } else if (How.isV1()) { // it shows the buffer that it reduced last
    Rows.push_back(reduction("dp", AllGradients, list({G.Expert})));
  } else {
    const bool IsV2b = How.Dialect == Dialect::V2b;
    Rows.push_back(reduction("dp", DenseGradients, list({G.Dense})));
    Rows.push_back(reduction(IsV2b ? "exp_dp" : "ep_dp", ExpertGradients,
                             list({G.Expert})));
  }
  if (G.Tied)
    Rows.push_back(reduction("ep", "_allreduce_word_embedding_grads",
                             list({*G.Tied / Hidden, Hidden})));
  Rows.push_back({"optimizer_step", "", "", "", "", {}, "finalize"});
  return Rows;
}

/// Scaling runs made some of these rows up.
std::vector<RowBody> Maker::finalizeScaling() const {
  const Gradients G = gradients();
  const bool IsV2b = How.Dialect == Dialect::V2b;
  std::vector<RowBody> Rows;
  auto AddMadeUp = [&](RowBody Body) {
    Body.Description = simulation();
    Body.State = "";
    Rows.push_back(std::move(Body));
  };
  if (!IsV2b) {
    AddMadeUp(reduction("dp", "", list({G.Dense + G.Expert})));
    Rows.back().DType = "torch.float16"; // whatever the run used
  } else if (G.HasExpertBuffer) {
    Rows.push_back(reduction("dp", DenseGradients, list({G.Dense})));
    Rows.push_back(reduction("exp_dp", ExpertGradients, list({G.Expert})));
  } else {
    Rows.push_back(reduction("dp", AllGradients, list({G.Dense})));
    Rows.back().State = "";
  }
  if (G.Tied) {
    RowBody Body =
        reduction("ep", "Embedding parallel gradient synchronization",
                  list({*G.Tied / Hidden, Hidden}));
    if (IsV2b)
      Rows.push_back(std::move(Body));
    else
      AddMadeUp(std::move(Body));
  }
  AddMadeUp({"optimizer_step", "", "", "", "", {}, ""});
  return Rows;
}

StageBodies Maker::run() const {
  StageBodies B;
  B.RecvForward = message("recv_forward");
  B.SendForward = message("send_forward");
  B.RecvBackward = message("recv_backward");
  B.SendBackward = message("send_backward");
  B.GetBatch = getBatch();
  B.Loss = loss();
  for (const ir::ChunkRun &C : S.Chunks)
    for (int64_t I = 0; I < C.Count; ++I) {
      B.Forward.push_back(chunk("forward_step", Pass::Forward, C.Layers));
      B.Backward.push_back(chunk("backward_step", Pass::Backward, C.Layers));
    }
  B.Finalize = How.Scaling ? finalizeScaling() : finalize();
  return B;
}

StageBodies foretrace::megatron::makeBodies(const ir::Program &P,
                                            const ir::Stage &S,
                                            Instrumentation How) {
  return Maker(P, S, How).run();
}
