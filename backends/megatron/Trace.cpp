// SPDX-License-Identifier: Apache-2.0
#include "backends/megatron/Trace.h"

using namespace foretrace;
using namespace foretrace::megatron;

static llvm::StringRef orNone(llvm::StringRef Text) {
  return Text.empty() ? "None" : Text;
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

static void writeTime(llvm::StringRef Key, const int64_t *Nanoseconds,
                      llvm::raw_ostream &OS) {
  OS << ',' << Key << '=';
  if (Nanoseconds)
    writeTime(*Nanoseconds, OS);
  else
    OS << "None";
}

static void write(const SubOperation &S,
                  const std::pair<int64_t, int64_t> *Times,
                  llvm::raw_ostream &OS) {
  OS << "'trace_src_func=" << S.Function;
  writeTime("duration", Times ? &Times->first : nullptr, OS);
  writeTime("timestamp", Times ? &Times->second : nullptr, OS);
  OS << ",input__shape=" << S.Shape << ",input__dtype=" << S.DType;
  if (!S.Name.empty())
    OS << ",func_name=" << S.Name;
  OS << ",group=" << S.Group << ",comm_func=" << S.Comm << '\'';
}

void foretrace::megatron::writeRow(const Row &R, const RowTimes *Times,
                                   llvm::raw_ostream &OS) {
  const RowBody &B = *R.Body;
  OS << ':' << B.Op << "(stage_id=" << R.Stage << ",batch_id=" << R.Batch;
  if (R.Chunk >= 0)
    OS << ",chunk_id=" << R.Chunk;
  OS << ",mg_state=" << orNone(R.State);
  writeTime("duration", Times ? &Times->Duration : nullptr, OS);
  OS << ",description=" << orNone(B.Description)
     << ",group_kind=" << orNone(B.GroupKind)
     << ",input__shape=" << orNone(B.Shape)
     << ",input__dtype=" << orNone(B.DType);
  writeTime("timestamp", Times ? &Times->End : nullptr, OS);
  OS << ",sub_operations=[";
  for (size_t I = 0; I < B.SubOperations.size(); ++I) {
    OS << (I ? ", " : "");
    write(B.SubOperations[I], Times ? &Times->Calls[I] : nullptr, OS);
  }
  OS << "])\n";
}
