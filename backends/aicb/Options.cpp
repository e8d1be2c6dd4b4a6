// SPDX-License-Identifier: Apache-2.0
#include "backends/aicb/Options.h"
#include "backends/EmissionOf.h"
#include "llvm/ADT/StringSwitch.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::aicb;
using namespace foretrace::option;

static constexpr llvm::StringRef Kinds[] = {
#define KIND(ENUMERATOR, WORD, DOC) WORD,
#include "backends/aicb/Options.def"
};

llvm::StringRef foretrace::aicb::getWord(aicb::Kind K) {
  return Kinds[static_cast<size_t>(K)];
}

namespace {

constexpr llvm::StringRef Allowable[] = {
#define ALLOWABLE(SLUG, DOC) SLUG,
#include "backends/aicb/AicbAllowable.def"
    "aicb-ignored"};

/// Operations that can be tested: all but the last row, a matrix product, which
/// is not a message and whose size is not in bytes.
constexpr llvm::StringRef Comms[] = {
#define COMM(ENUMERATOR, WORD) WORD,
#include "backends/aicb/Comms.def"
};
constexpr llvm::ArrayRef<llvm::StringRef> Tests(Comms, std::size(Comms) - 1);

struct Switch : Flag {
  static std::string expected() { return "`true` or `false`"; }
};

} // namespace

constexpr EmitOption aicb::OptionRows[] = {
#define OPTION(...) EMIT_OPTION(__VA_ARGS__)
#include "backends/aicb/Options.def"
};
constexpr EmitReader aicb::Reader = readerOf<Options>(OptionRows);

unsigned foretrace::aicb::modeOf(const Options &O, int64_t Zero) {
  switch (O.Kind) {
  case Kind::DeepSpeed:
    return Zero == 1 ? Mode::Zero1 : Zero == 2 ? Mode::Zero2 : Mode::Zero3;
  case Kind::Megatron:
    return Mode::Megatron;
  case Kind::Vidur:
    return Mode::Vidur;
  case Kind::Collective:
    return Mode::Collective;
  }
  llvm_unreachable("unknown kind");
}

unsigned foretrace::aicb::modesOf(llvm::StringRef Name) {
  return llvm::StringSwitch<unsigned>(Name)
#define AICB_OPTION(MODES, MEMBER, KIND, NAME, DEFAULT, DOC) .Case(NAME, MODES)
#include "backends/aicb/Options.def"
      .Default(Mode::Any);
}
