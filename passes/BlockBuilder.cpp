// SPDX-License-Identifier: Apache-2.0
#include "passes/BlockBuilder.h"
#include "llvm/ADT/Twine.h"

using namespace foretrace;
using namespace foretrace::ir;

BlockBuilder::BlockBuilder(Block &B, const char *Pass) : B(B) {
  Current.Pass = Pass;
  for (const Value &V : B.Values)
    ++Names[V.Name];
}

std::string BlockBuilder::uniqueName(llvm::StringRef Name) {
  unsigned &Uses = Names[Name];
  std::string Unique = Name.str();
  while (Uses++) {
    Unique = (Name + "." + llvm::Twine(Uses)).str();
    if (!Names.count(Unique)) {
      ++Names[Unique];
      break;
    }
  }
  return Unique;
}

ModuleId BlockBuilder::enterModule(llvm::StringRef Name) {
  Module = B.Modules.add({Name, Module, {}});
  return Module;
}

ValueId BlockBuilder::value(ValueKind Kind, llvm::StringRef Name,
                            TensorType Type) {
  Value V;
  V.Kind = Kind;
  V.Name = uniqueName(Name);
  V.Type = std::move(Type);
  return B.Values.add(std::move(V));
}

ValueId BlockBuilder::derived(ValueId V, llvm::StringRef Suffix) {
  Value Copy = B.Values[V];
  Copy.Name = uniqueName((Copy.Name + "." + Suffix).str());
  if (Copy.Kind != ValueKind::Gradient)
    Copy.Kind = ValueKind::Activation;
  return B.Values.add(std::move(Copy));
}

OpId BlockBuilder::op(OpKind Kind, llvm::StringRef Name,
                      llvm::ArrayRef<ValueId> Operands,
                      llvm::ArrayRef<ValueId> Results) {
  Op O;
  O.Kind = Kind;
  O.Name = Name.str();
  O.Operands.append(Operands.begin(), Operands.end());
  O.Results.append(Results.begin(), Results.end());
  O.Module = Module;
  O.Origin = Current;
  return B.Ops.add(std::move(O));
}

ValueId BlockBuilder::compute(OpKind Kind, llvm::StringRef Name,
                              llvm::ArrayRef<ValueId> Operands,
                              llvm::StringRef Result, TensorType Type) {
  ValueId R = value(ValueKind::Activation, Result, std::move(Type));
  op(Kind, Name, Operands, {R});
  return R;
}
