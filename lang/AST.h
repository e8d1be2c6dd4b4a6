// SPDX-License-Identifier: Apache-2.0
//
// What was written, before any name is looked up. Plain structs, each with its
// range; no ANTLR types. A TOML file becomes the same nodes, so one set of
// checks serves both and errors point into either.
#pragma once

#include "lang/Layers.h"
#include "lang/Source.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Allocator.h"
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace foretrace::ast {

/// A word with its place.
struct Word {
  std::string Text;
  SourceRange Range;
};

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

/// `4096`, `4Ki`, `80 GiB`, `400 Gbit/s`, `245.117 us`. The unit is checked
/// and applied by the evaluator.
struct Number {
  std::string Digits; ///< as written, without blanks or underscores
  bool IsDecimal;     ///< has a point or an exponent
  std::string Unit;   ///< "Ki", "GiB", "us", ... or empty
  SourceRange UnitRange;
};
/// `"{model}-tp{tp}.txt"`: the text between the quotes, escapes resolved;
/// braces are interpolated by the evaluator.
struct String {
  std::string Value;
};
struct Boolean {
  bool Value;
};
/// `tp`, `pod.bandwidth`.
struct Name {
  std::vector<Word> Path; ///< not empty
};
struct List {
  std::vector<ExprPtr> Elements;
};
enum class UnaryOp : unsigned char { Negate, Not };
struct Unary {
  UnaryOp Op;
  ExprPtr Operand;
};
/// `/` must divide exactly.
using foretrace::BinaryOp;
struct Binary {
  BinaryOp Op;
  SourceRange OpRange;
  ExprPtr Left, Right;
};
/// `if c then a else b`.
struct Conditional {
  ExprPtr Condition, Then, Else;
};
/// `min(a, b)`, `max(a, b)`, `ceil_div(a, b)`.
struct Call {
  Word Callee;
  std::vector<ExprPtr> Arguments;
};

struct Expr {
  SourceRange Range;
  std::variant<Number, String, Boolean, Name, List, Unary, Binary, Conditional,
               Call>
      Node;
};

/// Returns the expressions that \p E is made of, in their order.
inline llvm::SmallVector<const Expr *, 3> operandsOf(const Expr &E) {
  llvm::SmallVector<const Expr *, 3> All;
  auto Add = [&](const auto &...Of) { (All.push_back(Of.get()), ...); };
  auto AddAll = [&](const std::vector<ExprPtr> &Of) {
    for (const ExprPtr &Each : Of)
      Add(Each);
  };
  if (const auto *L = std::get_if<List>(&E.Node))
    AddAll(L->Elements);
  else if (const auto *U = std::get_if<Unary>(&E.Node))
    Add(U->Operand);
  else if (const auto *B = std::get_if<Binary>(&E.Node))
    Add(B->Left, B->Right);
  else if (const auto *C = std::get_if<Conditional>(&E.Node))
    Add(C->Condition, C->Then, C->Else);
  else if (const auto *F = std::get_if<Call>(&E.Node))
    AddAll(F->Arguments);
  return All;
}

struct Entry;

/// `keyword label : base { entries }`; label and base may be empty. A TOML
/// table is a Section with its key as keyword.
struct Section {
  Word Keyword;
  Word Label;
  Word Base;
  std::vector<Entry> Entries;
  SourceRange Range; ///< keyword to closing brace
};
struct Assignment {
  Word Key;
  ExprPtr Value;
};
struct Let {
  Word Name;
  ExprPtr Value;
};
/// `require condition, "message"`.
struct Require {
  ExprPtr Condition;
  ExprPtr Message; ///< a string; may be null
};
/// `if condition { entries } else { entries }`.
struct If {
  ExprPtr Condition;
  std::vector<Entry> Then, Else;
};
/// `parallel.tp in {1, 2..4}`; of several keys, each value is a list.
struct Axis {
  struct Element {
    ExprPtr First;
    ExprPtr Last; ///< of a range; else null
    SourceRange Range;
  };
  std::vector<Name> Keys; ///< not empty
  std::vector<Element> Elements;
  SourceRange Range; ///< of all of it
};
/// `where condition`, `minimize metric`, `maximize metric`, `keep top(3)`.
struct Clause {
  Word Keyword;
  ExprPtr Of;
};
struct Entry {
  std::variant<Assignment, Section, Let, Require, If, Axis, Clause> Node;
  SourceRange Range;
};

/// `import "path" as alias`; alias is empty for a `.fore` file.
struct Import {
  Word Path;
  Word Alias;
};
/// `param name in {a, b} = default`.
struct Param {
  Word Name;
  std::vector<ExprPtr> Domain; ///< empty: any value
  ExprPtr Default;             ///< may be null: must be given with -D
};

/// A kind of layer, and the arena of its statements.
struct Layer {
  std::shared_ptr<llvm::BumpPtrAllocator> Arena;
  layers::Layer Is;
};
/// `dim states over tp, cp`.
struct Dim {
  Word Name;
  std::vector<Word> Axes;
};
struct Item {
  std::variant<Import, Param, Let, Require, Section, Layer, Dim> Node;
  SourceRange Range;
};

/// One file.
struct File {
  std::vector<Item> Items;
};

} // namespace foretrace::ast
