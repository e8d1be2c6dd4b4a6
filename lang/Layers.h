// SPDX-License-Identifier: Apache-2.0
//
// Definitions of layers, as `.fore` text has them. Nodes own nothing: those of
// shipped layers are constants of the program, those of a file are in its
// arena.
#pragma once

#include "lang/Operators.h"
#include "lang/Source.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace foretrace::layers {

/// A count, a condition, a dimension or a tensor; its reader knows which.
struct Expr {
  enum class Kind : unsigned char {
    Number,      ///< Text has the digits
    String,      ///< Text
    Name,        ///< Text: `heads`, `train.dropout`, `true`
    Call,        ///< of Text: `heads(q)`, `last(x)`
    Not,         ///< Operands has one
    Conditional, ///< condition, then, else
#define OPERATOR(ENUMERATOR, SPELLING) ENUMERATOR,
#include "lang/Operators.def"
  };
  Kind Is;
  llvm::StringRef Text;
  llvm::ArrayRef<Expr> Operands;
  SourceRange Range;

  /// Returns the kind of an expression with that operator.
  static Kind kindOf(BinaryOp Op) {
    return static_cast<Kind>(static_cast<unsigned>(Kind::Add) +
                             static_cast<unsigned>(Op));
  }
  /// Returns the operator, which it must have.
  BinaryOp op() const {
    return static_cast<BinaryOp>(static_cast<unsigned>(Is) -
                                 static_cast<unsigned>(Kind::Add));
  }
};

/// A name for a tensor, with its type if that is said.
struct Tensor {
  llvm::StringRef Name;
  llvm::StringRef Element;   ///< `fp32` or a key; empty: that of the job
  llvm::StringRef Like;      ///< a tensor with the same dimensions
  llvm::ArrayRef<Expr> Dims; ///< none with `like`, or if nothing is said
  SourceRange Range;

  bool isTyped() const { return !Like.empty() || !Dims.empty(); }
};

struct Argument {
  llvm::StringRef Name; ///< empty: the next input
  Expr Value;
};

/// Values of a key: a number from 1 on, or one of some words; neither if its
/// default says enough.
struct KeyValues {
  bool ArePositive = false;
  llvm::ArrayRef<llvm::StringRef> Words;
};

struct Statement {
  enum class Kind : unsigned char {
    Key,     ///< Name; Can; Values: its default, if any; Doc
    Same,    ///< a key that has no other value than its default
    Let,     ///< Name; Values
    Require, ///< Values: what must hold, else the keys to blame, the first
             ///< foremost; the message is Doc, or that with the slug Name and
             ///< Arguments, and Doc the source of the rule
    Param,   ///< Tensors
    Tied,    ///< a parameter that is the table of words if the job ties it
    Shared,  ///< a parameter that is the table of words
    Input,   ///< Tensors: what the data loader reads
    From,    ///< ops that follow come from key Name, for the reason As
    Weights, ///< Then: parameters are those of all layers with the name Name
    Part,    ///< parameters that follow are of the part As of the model
    Module,  ///< Then: the ops of the module Name, recomputed results of which
             ///< replace saved ones until the tensor As, if there is one
    If,      ///< Values; Then, Else
    Op,      ///< Tensors = op Name(Arguments) as As
    Layer,   ///< Tensors = Name(Arguments) as As
    Rename,  ///< Tensors is Name
  };
  Kind Is;
  llvm::StringRef Name, As, Doc;
  llvm::ArrayRef<Tensor> Tensors;
  llvm::ArrayRef<Argument> Arguments;
  llvm::ArrayRef<Expr> Values;
  llvm::ArrayRef<Statement> Then, Else;
  KeyValues Can = {};
  SourceRange Range;

  bool isKey() const { return Is == Kind::Key || Is == Kind::Same; }
};

/// `layer mlp(x) -> y as ffn "Doc." { statements }`.
struct Layer {
  llvm::StringRef Name;
  /// Documentation. Jobs can use a layer of the library by name only if it has
  /// one; others are parts of layers.
  llvm::StringRef Doc;
  llvm::ArrayRef<llvm::StringRef> Inputs, Outputs;
  /// Sections of the language that mean a layer of the library: `ffn` without
  /// a name is the first that has it; in a block with one of its keys, the one
  /// that has `block`. Others are no sections: `tower`, a layer of a tower, and
  /// `same_stage`, a layer whose values come from layers of its own stage.
  llvm::ArrayRef<llvm::StringRef> Roles;
  llvm::ArrayRef<Statement> Body;
  SourceRange Range; ///< of the name

  /// Returns whether it is a layer of a tower, which has tokens of its own.
  bool isTower() const { return llvm::is_contained(Roles, "tower"); }
  /// Returns whether no other stage sends the values that it reads.
  bool isOfSameStage() const { return llvm::is_contained(Roles, "same_stage"); }
  /// Returns whether it is made for some sections, and not for any.
  bool hasSections() const {
    return Roles.size() > size_t(isTower()) + size_t(isOfSameStage());
  }
  /// Returns whether a key can be \p Word.
  bool hasWord(llvm::StringRef Word) const {
    return llvm::any_of(Body, [&](const Statement &S) {
      return llvm::is_contained(S.Can.Words, Word);
    });
  }
};

} // namespace foretrace::layers
