// SPDX-License-Identifier: Apache-2.0
#include "backends/megatron/Trace.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::megatron;

static llvm::StringRef orNone(llvm::StringRef Text) {
  return Text.empty() ? "None" : Text;
}

static void write(const SubOperation &S, llvm::raw_ostream &OS) {
  OS << "'trace_src_func=" << S.Function
     << ",duration=None,timestamp=None,input__shape=" << S.Shape
     << ",input__dtype=" << S.DType;
  if (!S.Name.empty())
    OS << ",func_name=" << S.Name;
  OS << ",group=" << S.Group << ",comm_func=" << S.Comm << '\'';
}

void foretrace::megatron::writeRow(const Row &R, int64_t Rank,
                                   llvm::raw_ostream &OS) {
  const RowBody &B = *R.Body;
  OS << "rank:" << Rank << ':' << B.Op << "(stage_id=" << R.Stage
     << ",batch_id=" << R.Batch;
  if (R.Chunk >= 0)
    OS << ",chunk_id=" << R.Chunk;
  OS << ",mg_state=" << orNone(R.State)
     << ",duration=None,description=" << orNone(B.Description)
     << ",group_kind=" << orNone(B.GroupKind)
     << ",input__shape=" << orNone(B.Shape)
     << ",input__dtype=" << orNone(B.DType)
     << ",timestamp=None,sub_operations=[";
  llvm::interleave(
      B.SubOperations, OS, [&](const SubOperation &S) { write(S, OS); }, ", ");
  OS << "])\n";
}
