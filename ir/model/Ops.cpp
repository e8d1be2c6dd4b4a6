// SPDX-License-Identifier: Apache-2.0
#include "ir/model/Ops.h"
#include "ir/model/OpKinds.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"

using namespace foretrace;
using namespace foretrace::ir;

llvm::StringRef foretrace::ir::getMnemonic(OpKind K) {
  static constexpr llvm::StringLiteral Names[] = {
#define COMPUTE_OP(ENUMERATOR, MNEMONIC, ...) MNEMONIC,
#define COLLECTIVE_OP(ENUMERATOR, MNEMONIC, DOC) MNEMONIC,
#include "ir/model/Ops.def"
  };
  return Names[static_cast<unsigned>(K)];
}

std::optional<OpKind> foretrace::ir::findOp(llvm::StringRef Mnemonic) {
  return llvm::StringSwitch<std::optional<OpKind>>(Mnemonic)
#define COMPUTE_OP(ENUMERATOR, MNEMONIC, ...)                                  \
  .Case(MNEMONIC, OpKind::ENUMERATOR)
#define COLLECTIVE_OP(ENUMERATOR, MNEMONIC, DOC)                               \
  .Case(MNEMONIC, OpKind::ENUMERATOR)
#include "ir/model/Ops.def"
      .Default(std::nullopt);
}

bool foretrace::ir::isCollective(OpKind K) {
  switch (K) {
#define COLLECTIVE_OP(ENUMERATOR, ...)                                         \
  case OpKind::ENUMERATOR:                                                     \
    return true;
#define COMPUTE_OP(ENUMERATOR, ...)                                            \
  case OpKind::ENUMERATOR:                                                     \
    return false;
#include "ir/model/Ops.def"
  }
  llvm_unreachable("covered switch");
}

static constexpr ComputeInfo::Range range(unsigned char Least,
                                          unsigned char Most) {
  return {Least, Most};
}

const ComputeInfo &foretrace::ir::getInfo(OpKind K) {
  static constexpr ComputeInfo Infos[] = {
#define COMPUTE_OP(ENUMERATOR, MNEMONIC, OPERANDS, RESULTS, LAYOUTS, TRAITS,   \
                   BACKWARD, WORK, DOC)                                        \
  {range OPERANDS, range RESULTS,          LayoutRule::LAYOUTS,                \
   TRAITS,         BackwardRule::BACKWARD, WorkRule::WORK},
#define COLLECTIVE_OP(ENUMERATOR, MNEMONIC, DOC) {},
#include "ir/model/Ops.def"
  };
  return Infos[static_cast<unsigned>(K)];
}

llvm::StringRef foretrace::ir::getStatedName(OpKind K) {
  switch (getInfo(K).Work) {
  case WorkRule::Scores:
    return "pairs";
  case WorkRule::Stated:
    return "rate";
  case WorkRule::Kept:
    return "limit";
  case WorkRule::Held:
    return "table";
  case WorkRule::None:
  case WorkRule::Product:
  case WorkRule::Rows:
    return "";
  }
  llvm_unreachable("every rule is handled");
}
