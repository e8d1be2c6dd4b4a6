// SPDX-License-Identifier: Apache-2.0
#include "backends/megatron/Trace.h"
#include "ir/model/OpKinds.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace foretrace;
using namespace foretrace::megatron;
using llvm::StringRef;

StringRef foretrace::megatron::getName(RowKind K) {
  static constexpr llvm::StringLiteral Names[] = {
#define ROW_KIND(ENUMERATOR, NAME) NAME,
#include "backends/megatron/RowKinds.def"
  };
  return Names[static_cast<unsigned>(K)];
}

std::optional<RowKind> foretrace::megatron::findRowKind(StringRef Name) {
  return llvm::StringSwitch<std::optional<RowKind>>(Name)
#define ROW_KIND(ENUMERATOR, NAME) .Case(NAME, RowKind::ENUMERATOR)
#include "backends/megatron/RowKinds.def"
      .Default(std::nullopt);
}

StringRef foretrace::megatron::getName(RowState S) {
  static constexpr llvm::StringLiteral Names[] = {
#define ROW_STATE(ENUMERATOR, NAME) NAME,
#include "backends/megatron/RowStates.def"
  };
  return Names[static_cast<unsigned>(S)];
}

StringRef foretrace::megatron::getName(GroupKind K) {
  static constexpr llvm::StringLiteral Names[] = {
#define GROUP_KIND(ENUMERATOR, KIND, GROUP) KIND,
#include "backends/megatron/GroupKinds.def"
  };
  return Names[static_cast<unsigned>(K)];
}

std::optional<GroupKind> foretrace::megatron::findGroupKind(StringRef Name) {
  return llvm::StringSwitch<std::optional<GroupKind>>(Name)
#define GROUP_KIND(ENUMERATOR, KIND, GROUP) .Case(KIND, GroupKind::ENUMERATOR)
#include "backends/megatron/GroupKinds.def"
      .Default(std::nullopt);
}

const ir::ProcessGroup &foretrace::megatron::processGroup(StringRef Name) {
  return *llvm::find_if(ir::allProcessGroups(),
                        [&](const auto &G) { return G.Name == Name; });
}

const ir::ProcessGroup &foretrace::megatron::processGroup(GroupKind K) {
  static constexpr llvm::StringLiteral Groups[] = {
#define GROUP_KIND(ENUMERATOR, KIND, GROUP) GROUP,
#include "backends/megatron/GroupKinds.def"
  };
  return processGroup(Groups[static_cast<unsigned>(K)]);
}

StringRef foretrace::megatron::commName(ir::OpKind Collective) {
  switch (Collective) {
  case ir::OpKind::AllReduce:
    return "allreduce";
  case ir::OpKind::AllGather:
    return "allgather";
  default:
    return getMnemonic(Collective);
  }
}

StringRef foretrace::megatron::torchType(ir::ElementType T) {
  switch (T) {
  case ir::ElementType::BF16:
    return "torch.bfloat16";
  case ir::ElementType::FP16:
    return "torch.float16";
  case ir::ElementType::FP32:
    return "torch.float32";
  // Kernels move these as bytes.
  case ir::ElementType::FP8:
  case ir::ElementType::FP8Block:
  case ir::ElementType::MXFP8:
  case ir::ElementType::MXFP4:
  case ir::ElementType::NVFP4:
  case ir::ElementType::INT8:
  case ir::ElementType::INT4:
  case ir::ElementType::U8:
    return "torch.uint8";
  case ir::ElementType::I64:
    return "torch.int64";
  case ir::ElementType::I32:
    return "torch.int32";
  case ir::ElementType::Bool:
    return "torch.bool";
  }
  llvm_unreachable("every type is handled");
}

Elements LoggedTensor::elements(int64_t Received) const {
  Elements Count(1);
  for (Extent E : Extents)
    Count = Count * (E.isReceived() ? Received : E.size());
  return Count;
}

bool LoggedTensor::isReceived() const {
  return llvm::any_of(Extents, [](Extent E) { return E.isReceived(); });
}

static void writeExtents(const Extents &Sizes, llvm::raw_ostream &OS) {
  OS << '[';
  llvm::interleaveComma(Sizes, OS, [&](Extent E) {
    if (E.isReceived())
      OS << 'R';
    else
      OS << E.size();
  });
  OS << ']';
}

std::string foretrace::megatron::printShape(const Extents &E) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  writeExtents(E, OS);
  return Text;
}

/// In ms with one or two digits after the point, as Python prints a number
/// that was rounded to these.
static void writeTime(int64_t Nanoseconds, llvm::raw_ostream &OS) {
  const int64_t Hundredths = (Nanoseconds + 5000) / 10000;
  const int64_t Rest = Hundredths % 100;
  OS << Hundredths / 100 << '.' << Rest / 10;
  if (Rest % 10)
    OS << Rest % 10;
}

static void writeTime(StringRef Key, const int64_t *Nanoseconds,
                      llvm::raw_ostream &OS) {
  OS << ',' << Key << '=';
  if (Nanoseconds)
    writeTime(*Nanoseconds, OS);
  else
    OS << "None";
}

static void writeTensor(const std::optional<LoggedTensor> &T,
                        llvm::raw_ostream &OS) {
  OS << ",input__shape=";
  if (!T) {
    OS << "None,input__dtype=None";
    return;
  }
  writeExtents(T->Extents, OS);
  OS << ",input__dtype=" << torchType(T->Element);
}

static void writeCall(const SubOperation &S,
                      const std::pair<int64_t, int64_t> *Times,
                      llvm::raw_ostream &OS) {
  OS << "'trace_src_func=" << S.Function;
  writeTime("duration", Times ? &Times->first : nullptr, OS);
  writeTime("timestamp", Times ? &Times->second : nullptr, OS);
  writeTensor(S.Tensor, OS);
  if (!S.Name.empty())
    OS << ",func_name=" << S.Name;
  OS << ",group=" << getName(S.Group) << ",comm_func=" << commName(S.Comm)
     << '\'';
}

void foretrace::megatron::writeRow(const TraceRow &R, const RowTimes *Times,
                                   llvm::raw_ostream &OS) {
  const RowBody &B = *R.Body;
  OS << ':' << getName(B.Kind) << "(stage_id=" << R.Stage
     << ",batch_id=" << R.Batch;
  if (R.Chunk >= 0)
    OS << ",chunk_id=" << R.Chunk;
  OS << ",mg_state=" << getName(R.State);
  writeTime("duration", Times ? &Times->Duration : nullptr, OS);
  OS << ",description=" << (B.Description.empty() ? "None" : B.Description)
     << ",group_kind=" << (B.Group ? getName(*B.Group) : "None");
  writeTensor(B.Tensor, OS);
  writeTime("timestamp", Times ? &Times->End : nullptr, OS);
  OS << ",sub_operations=[";
  for (size_t I = 0; I < B.SubOperations.size(); ++I) {
    OS << (I ? ", " : "");
    writeCall(B.SubOperations[I], Times ? &Times->Calls[I] : nullptr, OS);
  }
  OS << "])\n";
}
