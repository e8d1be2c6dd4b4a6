// SPDX-License-Identifier: Apache-2.0
#include "backends/optimus/Options.h"
#include "backends/EmissionOf.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::optimus;
using namespace foretrace::option;

namespace {

constexpr llvm::StringRef Forms[] = {"log", "json", "table", "csv", "md"};

struct TransformersVersion : KindBase {
  static std::string expected() { return "a version in quotes, \"4.46\""; }
  static bool read(const Attribute &A, std::string &Into, DiagnosticEngine &) {
    Into = A.Text;
    return A.K == Attribute::Kind::Text;
  }
};

} // namespace

constexpr EmitOption optimus::OptionRows[] = {
#include "backends/optimus/Options.def"
};

Options optimus::readOptions(const EmitSpec &Emit, DiagnosticEngine &Diags) {
  return readEmitOptions<Options>(Emit, OptionRows, Diags);
}

constexpr EmitReader optimus::Reader = readerOf<Options>(OptionRows);
