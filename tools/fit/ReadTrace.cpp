// SPDX-License-Identifier: Apache-2.0
//
// Reads traces of PyTorch's profiler (Kineto). Kernels name the op of the host
// that launched them by its `External id`; the op has the shapes of its inputs.
// Kernels of collectives have the sizes of their messages.
#include "ir/model/OpKinds.h"
#include "lang/ParseJson.h"
#include "lang/diagnostics/Tools.h"
#include "tools/fit/Measurements.h"
#include "tools/runs/Fit.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace llvm;

namespace foretrace::fit {

using ir::ElementType;
using ir::OpKind;

namespace {

/// Ops of which the first two matrices among the inputs from \p First are
/// multiplied.
struct ProductOp {
  StringLiteral Name;
  size_t First;
};
constexpr ProductOp Products[] = {
    {"aten::mm", 0}, {"aten::addmm", 1}, {"aten::_scaled_mm", 0}};

/// Attention, whose queries, keys and values follow input \p First, of
/// dimensions batch, sequence, heads, channels; input \p Causal says whether
/// there is a mask.
struct AttentionOp {
  StringLiteral Name;
  bool IsBackward;
  size_t First, Causal;
};
constexpr AttentionOp AttentionOps[] = {
    {"aten::_flash_attention_forward", false, 0, 8},
    {"aten::_flash_attention_backward", true, 1, 11},
    {"flash_attn::_flash_attn_forward", false, 0, 5},
    {"flash_attn::_flash_attn_backward", true, 1, 11}};

/// Ops that read their inputs; \p Results of the size of the first are written.
struct StreamOp {
  StringLiteral Name;
  int Results;
};
constexpr StreamOp Streams[] = {
    {"aten::copy_", 0}, // its first input is the destination
    {"aten::add", 1},
    {"aten::mul", 1},
    {"aten::silu", 1},
    {"aten::gelu", 1},
    {"aten::native_layer_norm", 1},
    {"aten::_fused_rms_norm", 1}};

/// Names of c10d for collectives.
struct CollectiveName {
  StringLiteral Name;
  OpKind Kind;
};
constexpr CollectiveName CollectiveNames[] = {
    {"allreduce", OpKind::AllReduce},
    {"all_reduce", OpKind::AllReduce},
    {"_allgather_base", OpKind::AllGather},
    {"allgather", OpKind::AllGather},
    {"all_gather", OpKind::AllGather},
    {"allgather_into_tensor_coalesced", OpKind::AllGather},
    {"_reduce_scatter_base", OpKind::ReduceScatter},
    {"reduce_scatter", OpKind::ReduceScatter},
    {"reduce_scatter_tensor_coalesced", OpKind::ReduceScatter},
    {"all_to_all", OpKind::AllToAll},
    {"all_to_allv", OpKind::AllToAll},
    {"alltoall_base", OpKind::AllToAll}};

/// Types as traces call them.
struct TypeName {
  StringLiteral Name;
  ElementType Type;
};
constexpr TypeName Types[] = {{"BFloat16", ElementType::BF16},
                              {"Half", ElementType::FP16},
                              {"Float", ElementType::FP32},
                              {"float", ElementType::FP32},
                              {"Float8_e4m3fn", ElementType::FP8},
                              {"Float8_e5m2", ElementType::FP8},
                              {"Byte", ElementType::U8},
                              {"Long", ElementType::I64},
                              {"Int", ElementType::I32}};

/// An input of an op.
struct Tensor {
  std::optional<ElementType> Type;
  SmallVector<double, 4> Dims;

  double bytes() const {
    double Size = Type ? static_cast<double>(ir::getInfo(*Type).Bits) / 8 : 0;
    for (const double Dim : Dims)
      Size *= Dim;
    return Size;
  }
};

/// Gathers the durations of one trace.
class TraceMeasurer {
public:
  explicit TraceMeasurer(MeasurementReader &In) : In(In) {}

  void run(const json::Array &Events);

private:
  /// An op of the host, by its id.
  struct HostOp {
    StringRef Name;
    const json::Object *Args;
    double Micros = 0; ///< of its kernels
  };
  void takeCollective(const json::Object &Args, double Micros);
  void takeOp(const HostOp &Of);
  /// A key of a shape: numbers that are equal if shapes are.
  using ShapeKey = std::vector<double>;
  struct Samples {
    Measurement Of;
    std::vector<double> Seconds;
  };
  template <typename ShapeT>
  void add(ShapeKey Key, const ShapeT &S, double Micros);

  MeasurementReader &In;
  std::map<int64_t, HostOp> Ops;
  std::map<ShapeKey, Samples> Kernels, Messages;
};

} // namespace

template <typename RowsT>
static const auto *findRow(const RowsT &Rows, StringRef Name) {
  const auto *Row =
      find_if(Rows, [&](const auto &R) { return R.Name == Name; });
  return Row == std::end(Rows) ? nullptr : Row;
}

static std::optional<ElementType> typeOf(StringRef Name) {
  Name.consume_front("c10::");
  const TypeName *Row = findRow(Types, Name);
  return Row ? std::optional(Row->Type) : std::nullopt;
}

static std::vector<Tensor> inputsOf(const json::Object &Args) {
  std::vector<Tensor> Inputs;
  const json::Array *Dims = Args.getArray("Input Dims");
  const json::Array *Names = Args.getArray("Input type");
  if (!Dims || !Names)
    return Inputs;
  for (const auto &[Of, Name] : zip(*Dims, *Names)) {
    Tensor &T = Inputs.emplace_back();
    if (const std::optional<StringRef> Word = Name.getAsString())
      T.Type = typeOf(*Word);
    if (const json::Array *Numbers = Of.getAsArray())
      for (const json::Value &Dim : *Numbers)
        T.Dims.push_back(Dim.getAsNumber().value_or(0));
  }
  return Inputs;
}

template <typename ShapeT>
void TraceMeasurer::add(ShapeKey Key, const ShapeT &S, double Micros) {
  std::map<ShapeKey, Samples> &To =
      std::is_same_v<ShapeT, CollectiveShape> ? Messages : Kernels;
  Samples &Of =
      To.try_emplace(std::move(Key), Samples{{S, 0}, {}}).first->second;
  Of.Seconds.push_back(Micros * 1e-6);
}

/// Ranks of a group as a trace has them: `[0, 8, 16, ...]`, possibly cut off.
static double ranksInDomain(const json::Object &Args, double Ranks,
                            double Devices) {
  SmallVector<StringRef, 16> Words;
  StringRef Text = Args.getString("Process Group Ranks").value_or("");
  Text.trim("[]").split(Words, ',');
  int64_t First = 0, Second = 0;
  if (Words.size() < 2 || Words[0].trim().getAsInteger(10, First) ||
      Words[1].trim().getAsInteger(10, Second) || Second <= First)
    return std::min(Ranks, Devices);
  return std::min(Ranks,
                  std::max(1.0, Devices / static_cast<double>(Second - First)));
}

void TraceMeasurer::takeCollective(const json::Object &Args, double Micros) {
  const CollectiveName *Of =
      findRow(CollectiveNames, Args.getString("Collective name").value_or(""));
  const std::optional<ElementType> Type =
      typeOf(Args.getString("dtype").value_or(""));
  const double Ranks = Args.getNumber("Group size").value_or(0);
  const double Elements =
      std::max(Args.getNumber("In msg nelems").value_or(0),
               Args.getNumber("Out msg nelems").value_or(0));
  if (!Of || !Type || Ranks < 2 || Elements <= 0)
    return;
  const LinkPlace At =
      In.placeOf(Ranks, ranksInDomain(Args, Ranks, In.devicesOfDomain()));
  if (At.isSpread() && At.OuterRate == 0)
    return;
  const double Size =
      Elements * static_cast<double>(ir::getInfo(*Type).Bits) / 8;
  add({static_cast<double>(Of->Kind), Ranks, At.OnDomain, Size},
      CollectiveShape{Of->Kind, At, Size}, Micros);
}

void TraceMeasurer::takeOp(const HostOp &Of) {
  const std::vector<Tensor> Inputs = inputsOf(*Of.Args);
  auto AreThere = [&](size_t First, size_t Count, size_t Dims) {
    return Inputs.size() >= First + Count &&
           all_of(ArrayRef(Inputs).slice(First, Count), [&](const Tensor &T) {
             return T.Type && T.Dims.size() == Dims && T.bytes() > 0;
           });
  };
  if (const ProductOp *Op = findRow(Products, Of.Name)) {
    if (!AreThere(Op->First, 2, 2))
      return;
    const Tensor &Left = Inputs[Op->First], &Right = Inputs[Op->First + 1];
    ProductShape S;
    S.Operand = *Left.Type;
    S.Result = isScaled(*Left.Type) ? ElementType::BF16 : *Left.Type;
    S.IsOfWeight = S.IsGrouped = false;
    S.Groups = 1;
    S.M = Left.Dims[0];
    S.K = Left.Dims[1];
    S.N = Right.Dims[1];
    add({0, static_cast<double>(S.Operand), S.M, S.N, S.K}, S, Of.Micros);
    return;
  }
  if (const AttentionOp *Op = findRow(AttentionOps, Of.Name)) {
    if (!AreThere(Op->First, 3, 4))
      return;
    const Tensor &Q = Inputs[Op->First], &K = Inputs[Op->First + 1],
                 &V = Inputs[Op->First + 2];
    AttentionShape S;
    S.IsBackward = Op->IsBackward;
    S.Batch = Q.Dims[0];
    S.Queries = Q.Dims[1];
    S.Keys = K.Dims[1];
    const json::Array *Values = Of.Args->getArray("Concrete Inputs");
    const bool IsCausal =
        !Values || Values->size() <= Op->Causal ||
        (*Values)[Op->Causal].getAsString().value_or("True") != "False";
    S.Pairs = S.Queries * S.Keys / (IsCausal ? 2 : 1);
    S.QueryChannels = Q.Dims[2] * Q.Dims[3];
    S.KeyChannels = K.Dims[2] * K.Dims[3];
    S.ContextChannels = Q.Dims[2] * V.Dims[3];
    S.Heads = Q.Dims[2];
    add({1, S.IsBackward ? 1.0 : 0.0, S.Batch, S.Queries, S.Keys, S.Pairs,
         S.QueryChannels, S.KeyChannels, S.ContextChannels, S.Heads},
        S, Of.Micros);
    return;
  }
  if (const StreamOp *Op = findRow(Streams, Of.Name)) {
    if (Inputs.empty())
      return;
    double Size = Op->Results * Inputs.front().bytes();
    for (const Tensor &T : Inputs)
      Size += T.bytes();
    if (Size > 0)
      add({2, Size}, StreamShape{KernelClass::Stream, 0, Size}, Of.Micros);
  }
}

void TraceMeasurer::run(const json::Array &Events) {
  for (const json::Value &V : Events) {
    const json::Object *E = V.getAsObject();
    const json::Object *Args = E ? E->getObject("args") : nullptr;
    if (!Args || E->getString("cat").value_or("") != "cpu_op")
      continue;
    if (const std::optional<int64_t> Id = Args->getInteger("External id"))
      Ops[*Id] = {E->getString("name").value_or(""), Args};
  }
  for (const json::Value &V : Events) {
    const json::Object *E = V.getAsObject();
    const json::Object *Args = E ? E->getObject("args") : nullptr;
    if (!Args || E->getString("cat").value_or("") != "kernel")
      continue;
    const double Micros = E->getNumber("dur").value_or(0);
    if (Micros <= 0)
      continue;
    if (Args->get("Collective name"))
      takeCollective(*Args, Micros);
    else if (const std::optional<int64_t> Id = Args->getInteger("External id"))
      if (const auto It = Ops.find(*Id); It != Ops.end())
        It->second.Micros += Micros;
  }
  for (const auto &[Id, Of] : Ops)
    if (Of.Micros > 0)
      takeOp(Of);
  for (auto &[Key, Of] : Kernels)
    In.Found.push_back({Of.Of.Shape, runs::median(std::move(Of.Seconds))});
  for (auto &[Key, Of] : Messages)
    In.Found.push_back(
        {Of.Of.Shape, *std::min_element(Of.Seconds.begin(), Of.Seconds.end())});
}

void MeasurementReader::readTrace(SourceText Text) {
  Expected<json::Value> Root = parseJson(Text.str());
  if (!Root) {
    Diags.report(Text.range().atStart(), diag::MeasurementJson,
                 toString(Root.takeError()));
    return;
  }
  const json::Array *Events = Root->getAsArray();
  if (const json::Object *O = Root->getAsObject())
    Events = O->getArray("traceEvents");
  if (Events)
    TraceMeasurer(*this).run(*Events);
}

} // namespace foretrace::fit
