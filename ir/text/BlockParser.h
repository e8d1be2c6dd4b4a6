// SPDX-License-Identifier: Apache-2.0
//
// The parser of a block of ops. Private to the IR.
#pragma once

#include "ir/text/ParseExpr.h"
#include "ir/text/ParseParts.h"
#include "llvm/ADT/StringMap.h"

namespace foretrace::ir {

/// Reads one block. Names are looked up once the whole block is read, so that
/// order is checked by the verifier.
class BlockParser {
public:
  BlockParser(TextReader &In, LocationFinder &Locations, Program &P, Block &B)
      : In(In), Locations(Locations), P(P), B(B) {}

  bool parse();

private:
  /// A use of a name, to be looked up at the end of the block.
  struct Use {
    enum class Place : unsigned char {
      Operand,
      GradientOf,
      For,
      Signature,
      Until
    };
    Place In;
    Token Name;
    unsigned Owner;     ///< the op, value, module or list
    unsigned Index = 0; ///< of the operand
  };

  bool entry();
  bool total();
  bool signature();
  bool module();
  bool copies();
  bool enclosing(ModuleId &Out);
  bool plainText(llvm::StringRef &Out);
  bool signatureList(unsigned List);
  bool declaration(ValueKind Kind);
  bool define(const Token &Name, ValueKind Kind, ValueId &Out);
  bool valueType(ValueId V);
  bool op();
  bool results(OpId Id);
  bool kind(Op &O);
  bool operands(OpId Id);
  bool types(OpId Id);
  bool details(OpId Id);
  bool servedOp(OpId Id);
  bool expression(llvm::StringRef Word, ExprId &Out);
  bool chunk(std::optional<int64_t> &Out);
  bool place(BucketMessage &Of);
  bool messages(MessageList &Out);
  bool time(llvm::StringRef Word, Nanoseconds &Out);
  bool location(Origin &O);
  bool resolve();
  bool resolve(const Use &U, ValueId V);

  TextReader &In;
  LocationFinder &Locations;
  Program &P;
  Block &B;
  llvm::StringMap<ValueId> Names;
  std::vector<SourceRange> Defined; ///< by value
  std::vector<OpId> Makers;         ///< by value; none if only declared
  std::vector<Use> Uses;
  bool SeenSignature = false;
};

} // namespace foretrace::ir
