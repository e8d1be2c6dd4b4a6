// SPDX-License-Identifier: Apache-2.0
#include "backends/megatron/Options.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::megatron;
using namespace foretrace::option;

static constexpr llvm::StringRef Dialects[] = {
#define DIALECT(ENUMERATOR, SPELLING, DOC) SPELLING,
#include "backends/megatron/Dialects.def"
};
static constexpr llvm::StringRef DurationWords[] = {"blank", "estimated"};

llvm::ArrayRef<EmitOption> megatron::optionTable() {
  static constexpr EmitOption Table[] = {
#define OPTION(...) EMIT_OPTION(__VA_ARGS__)
#include "backends/megatron/Options.def"
  };
  return Table;
}

Options megatron::readOptions(const EmitSpec &Emit, DiagnosticEngine &Diags) {
  return readEmitOptions<Options>(Emit, optionTable(), Diags);
}
