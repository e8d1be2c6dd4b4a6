// SPDX-License-Identifier: Apache-2.0
#include "backends/simai/Options.h"
#include "backends/EmissionOf.h"
#include "lang/diagnostics/Backends.h"

using namespace foretrace;
using namespace foretrace::option;
using namespace foretrace::simai;

namespace {

constexpr llvm::StringRef Accountings[] = {"exact", "aicb"};
constexpr llvm::StringRef Stages[] = {"worst", "last", "all"};
constexpr llvm::StringRef Allowable[] = {
#define ALLOWABLE(SLUG, DOC) SLUG,
#include "backends/aicb/AicbAllowable.def"
#define ALLOWABLE(SLUG, DOC) SLUG,
#include "backends/simai/Allowable.def"
};

struct AccountingWord : WordOf<Accountings, findText> {
  static std::string expected() { return "`exact` or `aicb`"; }
};

struct StageWord : KindBase {
  static std::string expected() {
    return "a stage number, `last`, `worst` or `all`";
  }
  static llvm::ArrayRef<llvm::StringRef> words() { return Stages; }
  static bool read(const ir::Attribute &A, StageChoice &Into,
                   DiagnosticEngine &) {
    Into.Range = A.Range;
    if (const std::optional<size_t> I = findText(A, Stages)) {
      Into.K = static_cast<StageChoice::Kind>(*I);
      return true;
    }
    Into.K = StageChoice::Kind::Number;
    Into.Number = A.Integer;
    return A.K == ir::Attribute::Kind::Int && A.Integer >= 0;
  }
};

struct AdaptSection : KindBase {
  static std::string expected() { return "a section, `adapt { ... }`"; }
  static bool read(const ir::Attribute &A, AdaptationPtr &Into,
                   DiagnosticEngine &Diags) {
    if (A.K != ir::Attribute::Kind::Section)
      return false;
    Into = readAdaptation(A, Diags);
    return true;
  }
};

} // namespace

constexpr EmitOption simai::OptionRows[] = {
#include "backends/simai/Options.def"
};

/// An option that only the other accounting has.
static void checkCombination(const ir::EmitSpec &Emit, const Options &O,
                             DiagnosticEngine &Diags) {
  auto Refuse = [&](llvm::StringRef Name, llvm::StringRef Needed) {
    if (const ir::NamedAttribute *A = Emit.Options.find(Name))
      Diags.report(A->NameRange, diag::SimaiOptionNeeds, Name, Needed);
  };
  if (O.Accounting == Accounting::Aicb)
    return Refuse("stage", "exact");
  Refuse("version", "aicb");
}

Options simai::readOptions(const ir::EmitSpec &Emit, DiagnosticEngine &Diags) {
  Options O = readEmitOptions<Options>(Emit, OptionRows, Diags);
  checkCombination(Emit, O, Diags);
  return O;
}

constexpr EmitReader simai::Reader =
    readerOf<Options, checkCombination>(OptionRows);
