// SPDX-License-Identifier: Apache-2.0
#include "backends/megatron/Bodies.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::megatron;

std::string
foretrace::megatron::printShape(std::initializer_list<int64_t> Sizes) {
  return "[" +
         llvm::join(llvm::map_range(
                        Sizes, [](int64_t N) { return std::to_string(N); }),
                    ", ") +
         "]";
}

std::string foretrace::megatron::torchType(ir::ElementType T) {
  switch (T) {
  case ir::ElementType::BF16:
    return "torch.bfloat16";
  case ir::ElementType::FP16:
    return "torch.float16";
  case ir::ElementType::FP32:
    return "torch.float32";
  case ir::ElementType::I64:
    return "torch.int64";
  case ir::ElementType::I32:
    return "torch.int32";
  case ir::ElementType::Bool:
    return "torch.bool";
  }
  llvm_unreachable("every type is handled");
}

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
  void addTransfers(RowBody &To, Pass Direction, const ir::Block &B) const;
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
    return printShape({Batch, Sequence, Hidden});
  case Shape::SBH:
    return printShape({Sequence, Batch, Hidden});
  case Shape::TH:
    return printShape({Sequence * Batch, Hidden});
  case Shape::SB:
    return printShape({Sequence, Batch});
  case Shape::Copies:
    return printShape({Sequence * Batch * *Spec->Moe->TopK, Hidden});
  case Shape::Received:
    return "[R, " + std::to_string(Hidden) + "]";
  case Shape::Experts:
    return printShape({*Spec->Moe->Experts});
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

/// ZeRO gathers parameters, and scatters gradients, layer by layer.
void Maker::addTransfers(RowBody &To, Pass Direction,
                         const ir::Block &B) const {
  for (const ir::Op &O : B.Ops)
    if ((O.Phase == ir::Phase::Forward) == (Direction == Pass::Forward) &&
        movesParameters(O, B)) {
      addTransfer(To, P, B, O, How);
      if (O.Kind != ir::OpKind::AllGather)
        To.Gradients += elementsPerRank(B.Values[O.Operands[0]], P.Mesh);
    }
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
  Body.Description = simulation(How);
  Body.Why = P.Spec.Model.LayersRange;
  for (ir::BlockId B : Order) {
    const ir::BlockSpec *Spec = specOf(P.Blocks[B]);
    const bool RunsAgain = Spec && Direction == Pass::Backward &&
                           *P.Spec.Train.Recompute == ir::RecomputeKind::Full;
    if (RunsAgain)
      addCalls(Body, Pass::Forward, P.Blocks[B], Spec);
    addCalls(Body, Direction, P.Blocks[B], Spec);
    addTransfers(Body, Direction, P.Blocks[B]);
  }
  return Body;
}

RowBody Maker::message(llvm::StringRef Op) const {
  const int64_t Split = *Par.SequenceParallel ? *Par.Tp : 1;
  return {Op.str(), "", "pp", printShape({Sequence / Split, Batch, Hidden}),
          Param,    {}, "",   P.Spec.Model.Hidden.Range};
}

/// What the first rank of a tp group reads and broadcasts.
RowBody Maker::getBatch() const {
  RowBody Body;
  Body.Op = "get_batch";
  Body.Why = P.Spec.Train.Sequence.Range;
  Body.Description = simulation(How);
  Body.GroupKind = How.Scaling ? "tp" : "";
  if (!How.isV1() && *Par.Tp == 1)
    return Body;
  const bool IsFirst = !S.ReceivesForward;
  const bool IsLast = !S.SendsForward;
  const std::string Tokens = printShape({Batch, Sequence});
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
  Add("attention_mask", printShape({Batch, 1, Sequence, Sequence}),
      "torch.bool");
  if (IsFirst)
    Add("position_ids", Tokens, "torch.int64");
  return Body;
}

RowBody Maker::loss() const {
  std::string Description = simulation(How);
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
  B.Finalize = makeStepRows(P, S, How);
  return B;
}

StageBodies foretrace::megatron::makeBodies(const ir::Program &P,
                                            const ir::Stage &S,
                                            Instrumentation How) {
  return Maker(P, S, How).run();
}
