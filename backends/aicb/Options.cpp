// SPDX-License-Identifier: Apache-2.0
#include "backends/aicb/Options.h"
#include "backends/EmitOptions.h"
#include "llvm/ADT/StringSwitch.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::aicb;

static constexpr llvm::StringRef Kinds[] = {
#define KIND(ENUMERATOR, WORD, DOC) WORD,
#include "backends/aicb/Options.def"
};

llvm::StringRef foretrace::aicb::getWord(Kind K) {
  return Kinds[static_cast<size_t>(K)];
}

static void readKind(const NamedAttribute &A, Options &O,
                     DiagnosticEngine &Diags) {
  if (std::optional<size_t> I = readWord(A, Kinds, Diags))
    O.Kind = static_cast<Kind>(*I);
}

static void readOptionVersion(const NamedAttribute &A, Options &O,
                              DiagnosticEngine &Diags) {
  readVersion(A, O.Version, Diags);
}

static void readOptionAllow(const NamedAttribute &A, Options &O,
                            DiagnosticEngine &Diags) {
  static constexpr llvm::StringLiteral Allowable[] = {
#define ALLOWABLE(SLUG, DOC) SLUG,
#include "backends/AicbAllowable.def"
      "aicb-ignored"};
  readAllow(A, Allowable, O.Allow, Diags);
}

/// A matrix product is no message, and its size no number of bytes.
static void readTested(const NamedAttribute &A, Options &O,
                       DiagnosticEngine &Diags) {
  static constexpr llvm::StringRef Words[] = {
#define COMM(ENUMERATOR, WORD) WORD,
#include "backends/aicb/Comms.def"
  };
  if (std::optional<size_t> I =
          readWord(A, llvm::ArrayRef(Words).drop_back(), Diags))
    O.Tested = static_cast<Comm>(*I);
}

static void readCount(const NamedAttribute &A, int64_t Least, int64_t &Count,
                      DiagnosticEngine &Diags) {
  if (A.Value.K == Attribute::Kind::Int && A.Value.Integer >= Least)
    Count = A.Value.Integer;
  else
    reportOptionValue(A, "a number of at least " + std::to_string(Least),
                      Diags);
}

static void readFlag(const NamedAttribute &A, bool &Flag,
                     DiagnosticEngine &Diags) {
  if (A.Value.K == Attribute::Kind::Bool)
    Flag = A.Value.Integer != 0;
  else
    reportOptionValue(A, "`true` or `false`", Diags);
}

Options foretrace::aicb::readOptions(const EmitSpec &Emit,
                                     DiagnosticEngine &Diags) {
  static constexpr EmitOption<Options> Rows[] = {
      {"kind", readKind},
      {"version", readOptionVersion},
      {"allow", readOptionAllow},
      {"test_comm", readTested},
#define COUNT(MEMBER, KEY, LEAST, DEFAULT, MODES, DOC)                         \
  {KEY, [](const NamedAttribute &A, Options &O, DiagnosticEngine &Diags) {     \
     readCount(A, LEAST, O.MEMBER, Diags);                                     \
   }},
#define FLAG(MEMBER, KEY, MODES, DOC)                                          \
  {KEY, [](const NamedAttribute &A, Options &O, DiagnosticEngine &Diags) {     \
     readFlag(A, O.MEMBER, Diags);                                             \
   }},
#include "backends/aicb/Options.def"
  };
  Options O;
  O.File = readFile(Emit, "", Diags);
  readEmitOptions<Options>(Emit, Rows, {"file"}, O, Diags);
  return O;
}

unsigned foretrace::aicb::modeOf(const Options &O, int64_t Zero) {
  switch (O.Kind) {
  case Kind::DeepSpeed:
    return Zero == 1 ? Mode::Zero1 : Zero == 2 ? Mode::Zero2 : Mode::Zero3;
  case Kind::Megatron:
    return Mode::Megatron;
  case Kind::Collective:
    return Mode::Collective;
  }
  llvm_unreachable("unknown kind");
}

unsigned foretrace::aicb::modesOf(llvm::StringRef Name) {
  return llvm::StringSwitch<unsigned>(Name)
#define COUNT(MEMBER, KEY, LEAST, DEFAULT, MODES, DOC) .Case(KEY, MODES)
#define FLAG(MEMBER, KEY, MODES, DOC) .Case(KEY, MODES)
#include "backends/aicb/Options.def"
      .Case("test_comm", Mode::Collective)
      .Default(Mode::Any);
}
