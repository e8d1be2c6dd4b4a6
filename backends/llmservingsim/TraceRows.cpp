// SPDX-License-Identifier: Apache-2.0
#include "backends/llmservingsim/TraceRows.h"
#include "analysis/CachePool.h"
#include "backends/chakra/ChakraCollectives.h"
#include "ir/model/OpKinds.h"
#include "ir/model/Ranks.h"
#include "ir/ranks/StageTasks.h"
#include "lang/diagnostics/Backends.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <set>

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::llmservingsim;

namespace {

/// Makes the rows of all stages, one after the other.
class RowMaker {
public:
  using Visitor = llvm::function_ref<void(const StepRow &)>;

  RowMaker(const EmitRequest &Request, DiagnosticEngine &Diags, Visitor Visit);

  StepShape run();

private:
  /// The op of a block before which its cache is complete, and the bytes that
  /// a layer of it caches of the prompt.
  struct Kept {
    const Op *After;
    Bytes Size;
  };

  void findKept();
  void task(const Task &T);
  void compute(const Task &T);
  void collective(const Task &T);
  std::string dimensionsOf(const Op &O, bool &IsWithin);
  void stage(int64_t Number);
  void sample();
  void put(StepRow Row);
  void flush();
  void refuse(SourceRange Range, const llvm::Twine &What);

  const Program &P;
  DiagnosticEngine &Diags;
  const Visitor Visit;
  const RankMap Map;
  const Dimensions Network;
  std::map<const Block *, Kept> KeptBytes;
  std::optional<StepRow> Last; ///< not visited yet
  int64_t Received = 0;        ///< bytes from the stage before
  StepShape Shape;
};

} // namespace

/// Names that LLMServingSim has for ops (profiler/models/llama.yaml).
static llvm::StringRef nameOf(llvm::StringRef Op) {
  static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> Names[] =
      {{"word_embeddings", "embedding"}, {"input_layernorm", "layernorm"},
       {"linear_qkv", "qkv_proj"},       {"core_attention", "attention"},
       {"linear_proj", "o_proj"},        {"pre_mlp_layernorm", "layernorm"},
       {"linear_fc1", "gate_up_proj"},   {"activation", "act_fn"},
       {"linear_fc2", "down_proj"},      {"output_layer", "lm_head"}};
  for (const auto &[Ours, Theirs] : Names)
    if (Op == Ours)
      return Theirs;
  return Op;
}

static llvm::StringRef wordOf(OpKind K) {
  switch (K) {
  case OpKind::AllReduce:
    return "ALLREDUCE";
  case OpKind::AllGather:
    return "ALLGATHER";
  case OpKind::ReduceScatter:
    return "REDUCESCATTER";
  case OpKind::AllToAll:
    return "ALLTOALL";
  default:
    llvm_unreachable("what a collective is written as");
  }
}

llvm::StringRef llmservingsim::poolOf(const Spec &S) {
  const llvm::StringRef Name = S.Serve->Name;
  return Name == "prefill" || Name == "decode" ? Name : "";
}

Dimensions Dimensions::of(const Spec &S) {
  const int64_t Tp = *S.Parallel.Tp, Pp = *S.Parallel.Pp, Dp = *S.Parallel.Dp;
  Dimensions D;
  D.HasReplicas = Dp > 1;
  if (D.HasReplicas) {
    D.Sizes = {Tp, Pp, Dp};
    if (Pp == 1)
      D.Sizes = {Tp, Dp};
    return D;
  }
  // An instance of prefill has as many ranks again, which send its cache.
  const int64_t Instances =
      *S.Serve->Replicas * (poolOf(S) == "prefill" ? 2 : 1);
  D.Sizes = {Tp == 1 ? Pp : Tp, Tp == 1 ? Instances : Pp * Instances};
  if (D.Sizes.back() == 1)
    D.Sizes.pop_back();
  return D;
}

RowMaker::RowMaker(const EmitRequest &Request, DiagnosticEngine &Diags,
                   Visitor Visit)
    : P(Request.Program), Diags(Diags), Visit(Visit),
      Map(P.Mesh, *P.Spec.Parallel.RankOrder), Network(Dimensions::of(P.Spec)) {
  if (poolOf(P.Spec) == "prefill")
    findKept();
}

void RowMaker::refuse(SourceRange Range, const llvm::Twine &What) {
  Diags.report(Range, diag::ServingSimTrace, What.str());
}

/// A layer's cache of a prompt is sent after the last op before it, when keys
/// and values are there.
void RowMaker::findKept() {
  ExprOverlay Sizes(P);
  const int64_t Context = *P.Spec.Serve->Context;
  const CachePools Pools(Sizes, std::nullopt);
  for (const LayerCache &Of : Pools.layers()) {
    const Block &B = *std::next(P.Blocks.begin(), Of.Block);
    const Op *Before = nullptr, *After = nullptr;
    for (const Op &O : B.Ops) {
      if (isCache(O.Kind))
        After = Before;
      else if (!isCollective(O.Kind) && O.Time != Nanoseconds())
        Before = &O;
    }
    const int64_t Tokens =
        Of.Limit ? std::min(Of.Limit->value(), Context) : Context;
    const Bytes Size =
        Bytes(Of.OfToken.value()) * Tokens + Bytes(Of.OfSequence.value());
    KeptBytes[&B] = {After, Size * *P.Spec.Train.MicroBatch};
  }
}

void RowMaker::flush() {
  if (!Last)
    return;
  Visit(*Last);
  ++Shape.Rows;
  Last.reset();
}

void RowMaker::put(StepRow Row) {
  flush();
  if (Received > 0)
    Row.Input = std::exchange(Received, 0);
  Last = std::move(Row);
}

/// An op without time has no row: two of them in a row break the chain of
/// dependences that the converter makes of rows.
void RowMaker::compute(const Task &T) {
  if (T.Of->Time == Nanoseconds())
    return;
  StepRow Row;
  Row.Name = nameOf(T.Of->Name).str();
  Row.Time = T.Of->Time.value();
  Bytes Input, Weight, Output;
  for (const ValueId V : T.Of->Operands) {
    const Value &Read = T.In->Values[V];
    (Read.Kind == ValueKind::Param ? Weight : Input) += bytesPerRank(P, Read);
  }
  for (const ValueId V : T.Of->Results)
    Output += bytesPerRank(P, T.In->Values[V]);
  Row.Input = Input.value();
  Row.Weight = Weight.value();
  Row.Output = Output.value();
  const auto Kept = KeptBytes.find(T.In);
  if (Kept != KeptBytes.end() && Kept->second.After == T.Of) {
    // The converter sends after rows with this in their names.
    if (!llvm::StringRef(Row.Name).contains("v_proj"))
      Row.Name = "kv_proj";
    Row.Sent = Kept->second.Size.value();
  }
  put(std::move(Row));
}

/// Returns the suffix that names the dimensions in which the ranks of a group
/// differ, empty if there is but one. Sets whether all are of one instance.
std::string RowMaker::dimensionsOf(const Op &O, bool &IsWithin) {
  std::set<int64_t> Tp, Dp;
  const std::vector<int64_t> Ranks = O.Group.ranks(Map, 0);
  for (const int64_t Rank : Ranks) {
    Tp.insert(Map.coordinate(Rank, Axis::Tp));
    Dp.insert(Map.coordinate(Rank, Axis::Dp));
  }
  auto Covers = [&](const std::set<int64_t> &Of, Axis A) {
    return Of.size() == 1 || static_cast<int64_t>(Of.size()) == P.Mesh[A];
  };
  IsWithin = Dp.size() == 1;
  if (Tp.size() * Dp.size() != Ranks.size() || !Covers(Tp, Axis::Tp) ||
      !Covers(Dp, Axis::Dp))
    refuse(O.Origin.Range, "groups over " + textOf(O.Group, P.Spec, P.Mesh) +
                               ", which are parts of an instance");
  if (Network.Sizes.size() == 1)
    return "";
  std::string Text = Tp.size() > 1 ? ":1" : ":0";
  for (size_t I = 1; I < Network.Sizes.size(); ++I)
    Text += I + 1 == Network.Sizes.size() && !IsWithin ? ",1" : ",0";
  return Text;
}

/// A message within an instance is one of the row before it. Those of several
/// instances come with markers, because an instance of one rank has no others.
/// Messages that follow each other are one if they differ in bytes only. If
/// not, a row of 1 ns joins them: the converter orders messages by computations
/// alone.
void RowMaker::collective(const Task &T) {
  const Op &O = *T.Of;
  const ChakraCollective *As = findChakraCollective(O.Kind);
  if (!As)
    return refuse(O.Origin.Range, llvm::Twine("`") + getMnemonic(O.Kind) + "`");
  bool IsWithin;
  const std::string Message = wordOf(As->As).str() + dimensionsOf(O, IsWithin);
  if (!Last || Last->IsMarker == IsWithin || Last->Message != Message) {
    if (!Last || Last->IsMarker || Last->Message != "NONE" || Last->Sent > 0)
      put({"wait", /*IsMarker=*/false, /*Time=*/1});
    if (!IsWithin) {
      put({"EXPERT 0 NONE 0", /*IsMarker=*/true});
      put({"EXPERT END", /*IsMarker=*/true});
    }
    Last->Message = Message;
  }
  Last->Sent += inputBytes(*As, T.Size, O.Group.size(P.Mesh));
}

void RowMaker::task(const Task &T) {
  switch (T.Kind) {
  case TaskKind::Compute:
    return compute(T);
  case TaskKind::Collective:
    return collective(T);
  case TaskKind::Receive:
    Received = T.Size.value();
    return;
  case TaskKind::Send:
    // Both ends must state the same bytes, or the receiver waits for ever.
    if (Last)
      Last->Output = T.Size.value();
    return;
  }
}

void RowMaker::stage(int64_t Number) {
  flush();
  if (Number > 0)
    Shape.Boundaries.push_back(Shape.Rows);
  StageTasks(P, Number).forEach([&](int64_t, const Task &T) {
    task(T);
    return !Diags.hasErrors();
  });
}

/// The last row hands back a word of each sequence. The IR has no op for the
/// choice of it, so it takes no time.
void RowMaker::sample() {
  const Bytes Words = Bytes(4) * *P.Spec.Train.MicroBatch;
  StepRow Row;
  Row.Name = "sampler";
  Row.Input = Last ? Last->Output : 0;
  Row.Output = Words.value(); // less than the logits, which have a size
  put(std::move(Row));
  flush();
}

StepShape RowMaker::run() {
  for (int64_t I = 0; I < *P.Spec.Parallel.Pp && !Diags.hasErrors(); ++I)
    stage(I);
  sample();
  return std::move(Shape);
}

StepShape
llmservingsim::forEachRow(const EmitRequest &Request, DiagnosticEngine &Diags,
                          llvm::function_ref<void(const StepRow &)> Visit) {
  return RowMaker(Request, Diags, Visit).run();
}
