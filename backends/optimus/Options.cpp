// SPDX-License-Identifier: Apache-2.0
#include "backends/optimus/Options.h"
#include "backends/OptionKinds.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::optimus;
using namespace foretrace::option;

namespace {

constexpr llvm::StringRef Forms[] = {"log", "json", "table", "csv", "md"};

constexpr llvm::StringRef FamilyNames[] = {
#define FAMILY(ENUMERATOR, NAME, CLASS, ROWS) NAME,
#include "backends/optimus/Families.def"
};

struct TransformersVersion : KindBase {
  static std::string expected() { return "a version in quotes, \"4.46\""; }
  static bool read(const Attribute &A, std::string &Into, DiagnosticEngine &) {
    Into = A.Text;
    return A.K == Attribute::Kind::Text;
  }
};

} // namespace

llvm::ArrayRef<EmitOption> optimus::optionTable() {
  static constexpr EmitOption Table[] = {
#define OPTION(...) EMIT_OPTION(__VA_ARGS__)
#include "backends/optimus/Options.def"
  };
  return Table;
}

Options optimus::readOptions(const EmitSpec &Emit, DiagnosticEngine &Diags) {
  return readEmitOptions<Options>(Emit, optionTable(), Diags);
}
