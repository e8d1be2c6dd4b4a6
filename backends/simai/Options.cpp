// SPDX-License-Identifier: Apache-2.0
#include "backends/simai/Options.h"
#include "backends/EmitOptions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::simai;

namespace {

bool isText(const Attribute &A) {
  return A.K == Attribute::Kind::Text || A.K == Attribute::Kind::Name;
}

void readAccounting(const NamedAttribute &A, Options &O,
                    DiagnosticEngine &Diags) {
  if (isText(A.Value) && A.Value.Text == "exact")
    O.Accounting = Accounting::Exact;
  else if (isText(A.Value) && A.Value.Text == "aicb")
    O.Accounting = Accounting::Aicb;
  else
    reportOptionValue(A, "`exact` or `aicb`", Diags);
}

void readVersion(const NamedAttribute &A, Options &O, DiagnosticEngine &Diags) {
  aicb::readVersion(A, O.Version, Diags);
}

void readStage(const NamedAttribute &A, Options &O, DiagnosticEngine &Diags) {
  using Kind = StageChoice::Kind;
  O.Stage.Range = A.Value.Range;
  if (A.Value.K == Attribute::Kind::Int && A.Value.Integer >= 0) {
    O.Stage.K = Kind::Number;
    O.Stage.Number = A.Value.Integer;
  } else if (isText(A.Value) && A.Value.Text == "worst") {
    O.Stage.K = Kind::Worst;
  } else if (isText(A.Value) && A.Value.Text == "last") {
    O.Stage.K = Kind::Last;
  } else if (isText(A.Value) && A.Value.Text == "all") {
    O.Stage.K = Kind::All;
  } else {
    reportOptionValue(A, "a stage number, `last`, `worst` or `all`", Diags);
  }
}

void readAllow(const NamedAttribute &A, Options &O, DiagnosticEngine &Diags) {
  static constexpr llvm::StringLiteral Allowable[] = {
#define ALLOWABLE(SLUG, DOC) SLUG,
#include "backends/AicbAllowable.def"
#define ALLOWABLE(SLUG, DOC) SLUG,
#include "backends/simai/Allowable.def"
  };
  foretrace::readAllow(A, Allowable, O.Allow, Diags);
}

void readAdapt(const NamedAttribute &A, Options &O, DiagnosticEngine &Diags) {
  if (A.Value.K != Attribute::Kind::Section)
    return reportOptionValue(A, "a section, `adapt { ... }`", Diags);
  O.Adapt = &A.Value;
}

/// Puts what \p Read reads among what is known of servers.
template <auto Read>
void readServers(const NamedAttribute &A, Options &O, DiagnosticEngine &Diags) {
  Read(A, O.Servers, Diags);
}

constexpr EmitOption<Options> Rows[] = {
    {"accounting", readAccounting},
    {"version", readVersion},
    {"stage", readStage},
    {"allow", readAllow},
    {"adapt", readAdapt},
    {"gpu", readServers<readGpu>},
    {"nvlink_bandwidth", readServers<readNvlinkBandwidth>},
    {"nic_bandwidth", readServers<readNicBandwidth>},
};

} // namespace

/// An option that only the other accounting has.
static void checkCombination(const EmitSpec &Emit, const Options &O,
                             DiagnosticEngine &Diags) {
  auto Refuse = [&](llvm::StringRef Name, llvm::StringRef Needed) {
    if (const NamedAttribute *A = Emit.Options.find(Name))
      Diags.report(A->NameRange, diag::SimaiOptionNeeds, Name, Needed);
  };
  if (O.Accounting == Accounting::Aicb)
    return Refuse("stage", "exact");
  Refuse("version", "aicb");
}

Options foretrace::simai::readOptions(const EmitSpec &Emit,
                                      DiagnosticEngine &Diags) {
  Options O;
  O.File = readFile(Emit, "", Diags);
  readEmitOptions<Options>(Emit, Rows, {"file"}, O, Diags);
  checkCombination(Emit, O, Diags);
  return O;
}
