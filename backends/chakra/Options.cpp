// SPDX-License-Identifier: Apache-2.0
#include "backends/chakra/Options.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::chakra;
using namespace foretrace::option;

namespace {

struct RanksOrClasses : option::Ranks {
  static std::string expected() {
    return "`all`, `classes`, a rank, or ranks in quotes, \"0,4,8-11\"";
  }
  static llvm::ArrayRef<llvm::StringRef> words() { return Words; }
  static bool read(const Attribute &A, TracedRanks &Into,
                   DiagnosticEngine &Diags) {
    Into.IsByClass = A.K == Attribute::Kind::Name && A.Text == "classes";
    return Into.IsByClass || option::Ranks::read(A, Into.Ranks, Diags);
  }
  static constexpr llvm::StringRef Words[] = {"all", "classes"};
};

} // namespace

llvm::ArrayRef<EmitOption> chakra::optionTable() {
  static constexpr EmitOption Table[] = {
#define OPTION(...) EMIT_OPTION(__VA_ARGS__)
#include "backends/chakra/Options.def"
  };
  return Table;
}

Options chakra::readOptions(const EmitSpec &Emit, DiagnosticEngine &Diags) {
  return readEmitOptions<Options>(Emit, optionTable(), Diags);
}
