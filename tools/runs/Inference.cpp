// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/Inference.h"
#include "ir/model/Spellings.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace foretrace;
using namespace foretrace::runs;
using llvm::StringRef;

/// Returns the sizes in \p Shape; empty if it is no shape.
static llvm::SmallVector<int64_t, 4> sizesOf(StringRef Shape) {
  return readShape(Shape).value_or(llvm::SmallVector<int64_t, 4>());
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
  int64_t Exchanges = 0; // of tokens: a layer sends them out and back
  for (const SeenCall &C : Row.Calls) {
    HasTensorCalls |= C.Group == "tp";
    HasLinearCalls |= C.Name == "linear_fwd";
    HasExpertCalls |= C.Group == "exp";
    if (C.Group != "exp" || Row.Op != "forward_step")
      continue;
    if (C.Comm == "allgather")
      Experts.insert(C.Shape.str());
    if (C.Comm == "all_to_all" && Exchanges++ % 2 == 0)
      Copies.insert(C.Shape.str());
  }
  if (Row.Op == "forward_step")
    LayersOfStage[Row.Stage].insert(Exchanges / 2);
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
  HasScattered |= Row.Op == "dp_allreduce" && Row.Shape == "None";
  if (Row.Op == "ep_allreduce" && Row.Shape != "None")
    Embedding.insert(Row.Shape.str());
  takeCalls(Row);
}

llvm::Error Inference::takeFile(StringRef Path) {
  struct Doubt {
    int64_t Count = 0;
    std::string First;
  } NoRow, OtherTrace, OtherStage;
  llvm::Error E = forEachLine(Path, [&](const TraceLine &Line) {
    auto Say = [&](Doubt &D, const llvm::Twine &What) {
      if (D.Count++ == 0)
        D.First = (Path + ":" + llvm::Twine(Line.Number) + ": " + What).str();
    };
    const SeenRow &Row = Line.Row;
    if (!Line.Malformed.empty()) {
      Say(NoRow, Line.Malformed);
      return true;
    }
    const auto &[First, Stage] =
        FirstSeen.try_emplace(Row.Rank, Path.str(), Row.Stage).first->second;
    if (First != Path)
      Say(OtherTrace, "there is another trace of rank " +
                          llvm::Twine(Row.Rank) + ", " + First);
    if (Stage != Row.Stage)
      Say(OtherStage, "rank " + llvm::Twine(Row.Rank) + " is on stage " +
                          llvm::Twine(Row.Stage) + "; before, it was on " +
                          llvm::Twine(Stage));
    take(Row);
    return true;
  });
  for (const Doubt &D : {NoRow, OtherTrace, OtherStage})
    if (D.Count > 0)
      Doubts.push_back(D.First + (D.Count > 1
                                      ? "; and " + std::to_string(D.Count - 1) +
                                            " more such rows"
                                      : ""));
  return E;
}

llvm::Error Inference::takeFiles(const std::vector<std::string> &Given) {
  llvm::Expected<std::vector<std::string>> Paths = listTraces(Given);
  if (!Paths)
    return Paths.takeError();
  for (const std::string &Path : *Paths)
    if (llvm::Error E = takeFile(Path))
      return E;
  return Ranks.empty()
             ? llvm::createStringError("no row of a trace in " + Paths->front())
             : llvm::Error::success();
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
  // With one stage nothing is reduced; otherwise only the first and the last
  // stage reduce.
  if (Vocab.size() != 2 && (stages() == 1 || !isWhole()))
    OS << "  // Not in the traces: whether the output layer is tied.\n"
          "  // tied =\n";
  if (Sizes.size() == 3)
    OS << "  hidden = " << Sizes[2] << '\n';
  else
    OS << "  // Not in the traces: no message between stages shows it.\n"
          "  // hidden =\n";
  OS << "  // Not in the traces: norm, positions, biases, heads.\n"
        "  // attention gqa { heads =   kv_heads =  }\n";
  if (HasExpertCalls)
    writeExperts(OS);
  else
    OS << "  // Not in the traces: the width of the network, and how many "
          "layers a stage has.\n"
          "  // ffn { intermediate =  }\n  // layers =\n";
  OS << "}\n";
}

void Inference::writeExperts(llvm::raw_ostream &OS) const {
  OS << "  block moe {\n";
  const llvm::SmallVector<int64_t, 4> Counted =
      sizesOf(only(Experts).value_or(""));
  if (Counted.size() == 1)
    OS << "    experts = " << Counted[0] << '\n';
  else
    OS << "    // Not in the traces: how many experts there are.\n"
          "    // experts =\n";
  const llvm::SmallVector<int64_t, 4> Sizes =
      sizesOf(only(Boundary).value_or(""));
  const llvm::SmallVector<int64_t, 4> Sent = sizesOf(only(Copies).value_or(""));
  const std::optional<int64_t> Tokens =
      Sizes.size() == 3 ? llvm::checkedMul(Sizes[0], Sizes[1]) : std::nullopt;
  if (Tokens.value_or(0) > 0 && Sent.size() == 2 && Sent[0] % *Tokens == 0 &&
      !isSplit())
    OS << "    topk = " << Sent[0] / *Tokens << '\n';
  else if (isSplit())
    OS << "    // Not in the traces: tp shares the tokens, or their channels.\n"
          "    // topk =\n";
  else
    OS << "    // Not in the traces: how many tokens a rank has.\n"
          "    // topk =\n";
  OS << "    // Not in the traces: the width of an expert.\n"
        "    // ffn { intermediate =  }\n  }\n"
        "  // Layers with experts in a forward step of each stage:";
  for (const auto &[Stage, Counts] : LayersOfStage)
    OS << (Stage == LayersOfStage.begin()->first ? " " : ", ")
       << llvm::join(llvm::map_range(
                         Counts, [](int64_t N) { return std::to_string(N); }),
                     " or ");
  OS << ".\n  // Not in the traces: layers without, whose calls are not "
        "logged, and where\n  // they stand"
     << (isWhole() ? "" : "; stages without a trace") << ".\n  // layers =\n";
}

void Inference::writeTrain(llvm::raw_ostream &OS) const {
  OS << "\ntrain {\n";
  const llvm::SmallVector<int64_t, 4> Sizes =
      sizesOf(only(Boundary).value_or(""));
  if (Sizes.size() != 3)
    OS << "  // Not in the traces: no message between stages shows them.\n"
          "  // sequence =\n  // micro_batch =\n";
  else if (isSplit())
    OS << "  // A message between stages has " << Sizes[0]
       << " tokens: times cp, and times tp with\n  // sequence parallelism.\n"
          "  // sequence =\n  micro_batch = "
       << Sizes[1] << '\n';
  else
    OS << "  // Times cp.\n  sequence = " << Sizes[0]
       << "\n  micro_batch = " << Sizes[1] << '\n';
  if (std::optional<std::string> P = only(Precision))
    OS << "  precision = " << *P << '\n';
  if (std::optional<std::string> P = only(GradPrecision))
    OS << "  grad_precision = " << *P << '\n';
  else
    OS << "  // Not in the traces: no row of gradients shows it.\n"
          "  // grad_precision =\n";
  OS << "}\n";
}

/// Returns whether all ranks left a trace: ranks count from 0, stages have
/// equally many, and the last stage sends to no other.
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
  OS << "  // To be divided by vpp, if stages hold several chunks.\n  ga = "
     << LastBatch + 1 << '\n';
  if (isSplit())
    OS << "  // More than 1, by the calls of its group; how many ranks shared "
          "them is not in\n  // the traces.\n  // tp =\n";
  else
    OS << "  // 1, or its calls were not logged.\n  // tp = 1\n";
  if (HasScattered)
    OS << "  // 1 or more, by rows of gradients without a shape.\n"
          "  // zero =\n";
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

std::vector<std::string> Inference::contradictions(const ir::Spec &S) const {
  std::vector<std::string> All;
  const auto Compare = [&](StringRef What, const llvm::Twine &Seen,
                           const llvm::Twine &Said) {
    if (Seen.str() != Said.str())
      All.push_back(("`" + What + "` is " + Seen + " in the traces, but " +
                     Said + " in the job")
                        .str());
  };
  // A trace may state any number.
  const auto Product = [](int64_t A, int64_t B) {
    const std::optional<int64_t> Fits = llvm::checkedMul(A, B);
    return Fits ? std::to_string(*Fits) : std::string("more than 2^63 - 1");
  };
  const ir::ParallelSpec &P = S.Parallel;
  if (isWhole()) {
    Compare("world", llvm::Twine(world()), llvm::Twine(*P.World));
    Compare("pp", llvm::Twine(stages()), llvm::Twine(*P.Pp));
  }
  Compare("ga x vpp", llvm::Twine(LastBatch + 1), Product(*P.Ga, *P.Vpp));
  if (const auto Sizes = sizesOf(only(Boundary).value_or(""));
      Sizes.size() == 3) {
    const int64_t Shards = *P.Cp * (*P.SequenceParallel ? *P.Tp : 1);
    Compare("sequence", Product(Sizes[0], Shards),
            llvm::Twine(*S.Train.Sequence));
    Compare("micro_batch", llvm::Twine(Sizes[1]),
            llvm::Twine(*S.Train.MicroBatch));
    Compare("hidden", llvm::Twine(Sizes[2]), llvm::Twine(*S.Model.Hidden));
  }
  if (const auto Vocab = sizesOf(only(Embedding).value_or(""));
      Vocab.size() == 2)
    Compare("padded_vocab", Product(Vocab[0], *P.Tp),
            llvm::Twine(*S.Model.PaddedVocab));
  if (const std::optional<std::string> Seen = only(Precision))
    Compare("precision", *Seen, ir::getSpelling(*S.Train.Precision));
  if (const std::optional<std::string> Seen = only(GradPrecision))
    Compare("grad_precision", *Seen, ir::getSpelling(*S.Train.GradPrecision));
  if (isSplit() && *P.Tp == 1)
    All.push_back("`tp` is more than 1 in the traces, but 1 in the job");
  return All;
}

bool runs::isLogFile(llvm::StringRef Path) {
  constexpr uint64_t Beginning = 4096;
  if (!Path.ends_with(".log"))
    return false;
  const auto Text = llvm::MemoryBuffer::getFileSlice(Path, Beginning, 0);
  return Text && !(*Text)->getBuffer().contains("rank:");
}
