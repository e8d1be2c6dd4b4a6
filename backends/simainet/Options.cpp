// SPDX-License-Identifier: Apache-2.0
#include "backends/simainet/Options.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::simainet;
using namespace foretrace::option;

llvm::ArrayRef<EmitOption> simainet::optionTable() {
  static constexpr EmitOption Table[] = {
#define OPTION(...) EMIT_OPTION(__VA_ARGS__)
#include "backends/simainet/Options.def"
  };
  return Table;
}

Options simainet::readOptions(const EmitSpec &Emit, DiagnosticEngine &Diags) {
  return readEmitOptions<Options>(Emit, optionTable(), Diags);
}
