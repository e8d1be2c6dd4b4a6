// SPDX-License-Identifier: Apache-2.0
#include "backends/megatron/Inference.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace foretrace;
using namespace foretrace::megatron;
using llvm::StringRef;

/// `[1024, 1, 4096]`; empty if it is none.
static llvm::SmallVector<int64_t, 4> sizesOf(StringRef Shape) {
  llvm::SmallVector<int64_t, 4> Sizes;
  if (!Shape.consume_front("[") || !Shape.consume_back("]"))
    return Sizes;
  llvm::SmallVector<StringRef, 4> Parts;
  Shape.split(Parts, ", ");
  for (StringRef Part : Parts)
    if (Part.getAsInteger(10, Sizes.emplace_back()))
      return {};
  return Sizes;
}

static StringRef precisionOf(StringRef DType) {
  return llvm::StringSwitch<StringRef>(DType)
      .Case("torch.bfloat16", "bf16")
      .Case("torch.float16", "fp16")
      .Case("torch.float32", "fp32")
      .Default("");
}

/// The one value of a fact, or nothing.
static std::optional<std::string> only(const std::set<std::string> &Values) {
  if (Values.size() != 1)
    return std::nullopt;
  return *Values.begin();
}

void Inference::takeCalls(const SeenRow &Row) {
  int64_t Layers = 0;
  bool AfterGather = false; // of the tokens an expert gets: a dispatch follows
  for (const SeenCall &C : Row.Calls) {
    const bool IsExpert = C.Group == "exp";
    HasExpertCalls |= IsExpert;
    HasTensorCalls |= C.Name == "linear_fwd";
    if (AfterGather && C.Comm == "all_to_all")
      Copies.insert(C.Shape.str());
    AfterGather = IsExpert && C.Comm == "allgather";
    if (!AfterGather)
      continue;
    Experts.insert(C.Shape.str());
    ++Layers;
  }
  if (Row.Op == "forward_step" && Layers > 0)
    LayersOfStage[Row.Stage] = Layers;
}

void Inference::take(const SeenRow &Row) {
  Ranks.insert(Row.Rank);
  RanksOfStage[Row.Stage].insert(Row.Rank);
  LastStage = std::max(LastStage, Row.Stage);
  if (Row.Op == "forward_step")
    LastBatch = std::max(LastBatch, Row.Batch);
  if (Row.Op == "send_forward")
    StagesThatSend.insert(Row.Stage);
  if (Row.GroupKind == "pp" && Row.Shape != "None") {
    Boundary.insert(Row.Shape.str());
    Precision.insert(precisionOf(Row.DType).str());
  }
  if (Row.Op == "dp_allreduce" && Row.DType != "None")
    GradPrecision.insert(precisionOf(Row.DType).str());
  if (Row.Op == "ep_allreduce" && Row.Shape != "None")
    Embedding.insert(Row.Shape.str());
  takeCalls(Row);
}

void Inference::writeModel(llvm::raw_ostream &OS) const {
  OS << "model inferred {\n";
  const llvm::SmallVector<int64_t, 4> Sizes =
      sizesOf(only(Boundary).value_or(""));
  const llvm::SmallVector<int64_t, 4> Vocab =
      sizesOf(only(Embedding).value_or(""));
  if (Vocab.size() == 2)
    OS << "  // The padded vocabulary by tp: " << Vocab[0]
       << " rows on a rank.\n  // vocab =\n  tied = true\n";
  else
    OS << "  // Not in the traces: the size of the vocabulary.\n  // vocab =\n";
  if (Sizes.size() == 3)
    OS << "  hidden = " << Sizes[2] << '\n';
  else
    OS << "  // Not in the traces: no message between stages shows it.\n"
          "  // hidden =\n";
  OS << "  // Not in the traces: norm, positions, biases, heads.\n"
        "  // attention gqa { heads =   kv_heads =  }\n";
  const llvm::SmallVector<int64_t, 4> NumExperts =
      sizesOf(only(Experts).value_or(""));
  const llvm::SmallVector<int64_t, 4> Sent = sizesOf(only(Copies).value_or(""));
  if (NumExperts.size() == 1 && Sizes.size() == 3 && Sent.size() == 2) {
    OS << "  // Not in the traces: the width of an expert.\n"
       << "  block moe {\n    experts = " << NumExperts[0]
       << "   topk = " << Sent[0] / (Sizes[0] * Sizes[1])
       << "\n    // ffn { intermediate =  }\n  }\n";
    int64_t Layers = 0;
    for (const auto &[Stage, Count] : LayersOfStage)
      Layers += Count;
    if (isWhole() && static_cast<int64_t>(LayersOfStage.size()) == stages())
      OS << "  layers = " << Layers << " * moe\n";
    else
      OS << "  // Not in the traces: stages without a trace.\n"
            "  // layers =\n";
  } else {
    OS << "  // Not in the traces: the width of the network, and how many "
          "layers "
          "a stage has.\n  // ffn { intermediate =  }\n  // layers =\n";
  }
  OS << "}\n";
}

void Inference::writeTrain(llvm::raw_ostream &OS) const {
  OS << "\ntrain {\n";
  const llvm::SmallVector<int64_t, 4> Sizes =
      sizesOf(only(Boundary).value_or(""));
  if (Sizes.size() == 3)
    OS << "  // Times cp, and times tp with sequence parallelism.\n"
       << "  sequence = " << Sizes[0] << "\n  micro_batch = " << Sizes[1]
       << '\n';
  else
    OS << "  // Not in the traces: no message between stages shows them.\n"
          "  // sequence =\n  // micro_batch =\n";
  if (std::optional<std::string> P = only(Precision))
    OS << "  precision = " << *P << '\n';
  if (std::optional<std::string> P = only(GradPrecision))
    OS << "  grad_precision = " << *P << '\n';
  OS << "}\n";
}

/// Whether every rank left a trace: they count from 0, stages are as large, and
/// the last one has nobody to send to.
bool Inference::isWhole() const {
  const size_t Size = RanksOfStage.begin()->second.size();
  for (const auto &[Stage, Of] : RanksOfStage)
    if (Of.size() != Size)
      return false;
  return *Ranks.rbegin() == world() - 1 && !StagesThatSend.count(LastStage) &&
         static_cast<int64_t>(RanksOfStage.size()) == stages();
}

void Inference::writeParallel(llvm::raw_ostream &OS) const {
  OS << "\nparallel {\n";
  if (isWhole())
    OS << "  world = " << world() << "   pp = " << stages() << '\n';
  else
    OS << "  // Not in the traces: some ranks left none.\n"
          "  // world =\n  // pp =\n";
  OS << "  ga = " << LastBatch + 1 << '\n';
  if (HasTensorCalls)
    OS << "  // More than 1, by the calls of linear layers; how many ranks "
          "shared them is\n  // not in the traces.\n  // tp =\n";
  else
    OS << "  // 1, or its calls were not logged.\n  // tp = 1\n";
  if (HasExpertCalls)
    OS << "  // Not in the traces: over how many ranks experts are spread.\n"
          "  // ep =\n";
  OS << "}\n";
}

void Inference::write(llvm::raw_ostream &OS) const {
  OS << "// Inferred from the traces of " << world()
     << " ranks. Comments say what they don't\n// show: fill it in, and hold "
        "the "
        "run against it with `foretrace check`.\n";
  writeModel(OS);
  writeTrain(OS);
  writeParallel(OS);
}
