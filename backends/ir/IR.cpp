// SPDX-License-Identifier: Apache-2.0
//
// The `ir` backend: the text form of the program at a level.
#include "backends/EmissionOf.h"
#include "ir/model/Spellings.h"
#include "ir/text/Print.h"
#include "lang/diagnostics/Backends.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::option;

/// Options: `level` (spec, model, spmd, schedule; the last is the default) and
/// `file` (standard output if absent).
struct irtext::Options {
  std::string File = "-";
  ir::Level Level = ir::Level::Schedule;
};

namespace {

struct LevelName : KindBase {
  static std::string expected() { return oneOf(words()); }
  static llvm::ArrayRef<llvm::StringRef> words() {
    return getSpellings<Level>();
  }
  static std::string show(Level L) { return getName(L).str(); }
  static bool read(const Attribute &A, Level &Into, DiagnosticEngine &Diags) {
    const std::optional<size_t> I = findText(A, words());
    // An unknown level selects `spec`, so that no pass reports errors.
    Into = I ? static_cast<Level>(*I) : Level::Spec;
    if (!I)
      Diags.report(A.Range, diag::UnknownLevel, A.Text);
    return true;
  }
};

} // namespace

constexpr EmitOption irtext::OptionRows[] = {
#include "backends/ir/Options.def"
};
constexpr EmitReader irtext::Reader = readerOf<Options>(OptionRows);

/// Returns the facts of programs at the level.
FactSet irtext::needs(const Options &O) {
  switch (O.Level) {
  case Level::Spec:
    return {Fact::Complete};
  case Level::Model:
    return {Fact::Gradients};
  case Level::SPMD:
    return {Fact::Layouts, Fact::Recompute};
  case Level::Schedule:
    return {Fact::Stages, Fact::Scheduled, Fact::Sync, Fact::Costs};
  }
  llvm_unreachable("every level is handled");
}

bool irtext::check(const EmitRequest &, const Options &, DiagnosticEngine &) {
  return true;
}

llvm::Error irtext::emit(const EmitRequest &Request, const Options &O,
                         OutputSet &Out) {
  return Out.add(O.File, [&](auto &OS) { print(Request.Program, OS); });
}
