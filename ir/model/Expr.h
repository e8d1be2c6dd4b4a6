// SPDX-License-Identifier: Apache-2.0
//
// Integer expressions over the keys of the spec, which record how numbers are
// derived. Like MLIR's affine expressions they are uniqued nodes of a table,
// identified by an id. Sums and products have a canonical order, so expressions
// that are equal after commuting, or after cancelling factors and divisors, are
// the same node.
//
// A table contains the structure of sizes and their values for one
// configuration. ir/model/Evaluate.h evaluates it for others.
#pragma once

#include "ir/model/Ids.h"
#include "lang/Quantity.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cassert>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace foretrace::ir {

using ExprId = Id<struct ExprTag>;

/// Keys of ir/model/Spec.def, by section and member, and symbols of
/// ir/model/Exprs.def.
enum class KeyId : uint16_t {
#define SPEC_FIELD(SECTION, TYPE, MEMBER, ...) SECTION##MEMBER,
#define LAYER_KEYS OfLayer, LastOfLayer = OfLayer + 255,
#include "ir/model/Spec.def"
#define EXPR_SYMBOL(ENUMERATOR, NAME, DOC) ENUMERATOR,
#include "ir/model/Exprs.def"
};

/// A key of a job. A key of a block or of a kind of stage includes its index.
struct Key {
  static constexpr unsigned NoBlock = 0xffffff;
  KeyId Id;
  /// Index into ModelSpec::Blocks; for a stage's number, into Program::Blocks.
  unsigned Block = NoBlock;
  unsigned Stage = 0; ///< index into Program::Stages
  unsigned Slot = 0;  ///< index of a stage's count if it has several

  friend bool operator==(Key A, Key B) {
    return A.Id == B.Id && A.Block == B.Block && A.Stage == B.Stage &&
           A.Slot == B.Slot;
  }
};

enum class ExprOp : unsigned char {
  Constant,
  Key,
  RealConstant,
  Argument, ///< of a call: the operands before it, or how many there are
  Call,
#define EXPR_OP(ENUMERATOR, SPELLING, DOC) ENUMERATOR,
#include "ir/model/Exprs.def"
};
llvm::StringRef getSpelling(ExprOp Op);

/// The value of an expression that exceeds 2^63, of a quotient with a
/// remainder, and of every expression that uses one of these.
inline constexpr int64_t NoValue = INT64_MIN;

/// Applies \p Op to two numbers.
int64_t applyExprOp(ExprOp Op, int64_t Left, int64_t Right);

/// A function of integers, none of which is NoValue.
struct ExprFunction {
  llvm::StringLiteral Name;
  int64_t (*Apply)(llvm::ArrayRef<int64_t>);
};

/// Calls \p F, unless an operand is NoValue.
int64_t applyCall(const ExprFunction &F, llvm::ArrayRef<int64_t> Operands);

struct ExprNode {
  ExprOp Op;
  int64_t Value = 0; ///< of a constant; of a call its function
  /// The name of a real constant or term; none by default.
  ir::Key Key = {};
  /// Operands. The left operand of a derived key is its definition.
  ExprId Left = {}, Right = {};

  /// Returns whether a real constant has a name; no one is called like the
  /// first key.
  bool isNamed() const { return Key.Id != KeyId(); }
  const ExprFunction &function() const {
    return *reinterpret_cast<const ExprFunction *>(Value);
  }
};

/// An expression with a unit; an invalid id means 0.
template <typename Unit> struct UnitExpr {
  ExprId Id = {};
  friend bool operator==(UnitExpr A, UnitExpr B) { return A.Id == B.Id; }
};
using ByteExpr = UnitExpr<ByteUnit>;
using ElementExpr = UnitExpr<ElementUnit>;
using FlopExpr = UnitExpr<FlopUnit>;
using TimeExpr = UnitExpr<NanosecondUnit>;

/// The expressions of one program. Operands precede their users.
class ExprTable {
public:
  // Out of line, so that users of this header do not compile them.
  ExprTable();
  /// Creates a table that begins with the expressions of \p Below and appends
  /// its own. \p Below must outlive it and must not grow meanwhile.
  explicit ExprTable(const ExprTable *Below);
  ExprTable(const ExprTable &);
  ExprTable(ExprTable &&) noexcept;
  ExprTable &operator=(const ExprTable &);
  ExprTable &operator=(ExprTable &&) noexcept;
  ~ExprTable();

  ExprId constant(int64_t Value);
  /// Returns the leaf of a key, or its definition; a new leaf has \p Value.
  ExprId key(Key K, int64_t Value);
  /// Defines a derived key. If the key already has a definition or is used as a
  /// leaf, that remains.
  ExprId define(Key K, ExprId As);
  ExprId sum(llvm::ArrayRef<ExprId> Of);
  ExprId product(llvm::ArrayRef<ExprId> Of);
  ExprId add(ExprId Left, ExprId Right) { return sum({Left, Right}); }
  ExprId mul(ExprId Left, ExprId Right) { return product({Left, Right}); }
  ExprId div(ExprId Left, ExprId Right);
  /// Adds any other operation; folded if both operands are constant.
  ExprId combine(ExprOp Op, ExprId Left, ExprId Right);

  /// Adds a call of \p F, which must outlive the table.
  ExprId call(const ExprFunction &F, llvm::ArrayRef<ExprId> Operands);
  /// Returns the operands of a call.
  llvm::SmallVector<ExprId, 8> operandsOf(const ExprNode &Call) const;

  /// Adds real numbers, which RealExpr has the operators of. A constant with a
  /// name is a parameter, and is not folded.
  ExprId real(double Value, std::optional<Key> Name = {});
  ExprId combineReal(ExprOp Op, ExprId Left, ExprId Right = {});
  /// Gives \p Of, a real number, a name.
  ExprId term(KeyId Name, ExprId Of);

  /// Calls \p Visit with each term of a sum, and how often it is in there.
  void forEachTerm(ExprId Of, llvm::function_ref<void(ExprId, int64_t)> Visit);

  /// Returns \p Of with \p With in place of \p Leaf.
  ExprId replace(ExprId Of, ExprId Leaf, ExprId With);

  /// Adds an expression of another program about the same job: keys that derive
  /// there are replaced by what they derive from.
  ExprId graft(const ExprTable &From, ExprId Of);

  /// Adds the expressions of \p Longer that this table lacks. \p Longer begins
  /// with the expressions of this table; \p ValueOf returns the values of its
  /// keys here.
  void extend(const ExprTable &Longer,
              llvm::function_ref<int64_t(Key)> ValueOf);

  /// Evaluates all expressions again, for other values of their keys. Where \p
  /// ValueOf has none, a derived key has that of its definition, and a leaf has
  /// no value. There is no table below.
  void revalue(llvm::function_ref<std::optional<int64_t>(Key)> ValueOf);

  /// Sets the value of an expression of this table that was evaluated
  /// elsewhere.
  void assign(ExprId I, int64_t Value) { Values[I.Index - NumBelow] = Value; }

  const ExprNode &operator[](ExprId I) const {
    return I.Index < NumBelow ? (*Below)[I] : Nodes[ExprId(I.Index - NumBelow)];
  }
  size_t size() const { return NumBelow + Nodes.size(); }
  // For tables without another table below.
  auto begin() const { return assert(!Below), Nodes.begin(); }
  auto end() const { return assert(!Below), Nodes.end(); }
  /// Returns the leaf of a key, if there is one.
  std::optional<ExprId> find(Key K) const;
  std::optional<int64_t> constantAt(ExprId I) const;

  /// Returns the value, or `NoValue`.
  int64_t value(ExprId I) const {
    return I.Index < NumBelow ? Below->value(I) : Values[I.Index - NumBelow];
  }
  /// Returns the value, or overflow if there is none.
  template <typename Unit> Quantity<Unit> value(UnitExpr<Unit> E) const {
    if (!E.Id.isValid())
      return Quantity<Unit>();
    const int64_t V = value(E.Id);
    return V == NoValue ? Quantity<Unit>::overflow() : Quantity<Unit>(V);
  }

private:
  /// Operation, constant or key, operands.
  using Content = std::tuple<unsigned, int64_t, unsigned, unsigned>;
  std::optional<ExprId> find(const Content &C) const;
  bool precedes(ExprId A, ExprId B) const;
  using Terms = llvm::SmallVector<ExprId, 8>;
  ExprId unique(ExprNode N);
  ExprId rebuild(const ExprTable &From, ExprId Of,
                 llvm::DenseMap<unsigned, ExprId> &Made,
                 llvm::function_ref<ExprId(ExprId)> MakeLeaf);
  int64_t compute(const ExprNode &N) const;
  void factors(ExprId Of, Terms &Out, int64_t &Coefficient) const;
  void cancel(Terms &Factors, int64_t &Coefficient) const;
  ExprId product(Terms Factors, int64_t Coefficient);
  void summands(ExprId Of, Terms &Out, int64_t &Constant) const;
  std::pair<ExprId, int64_t> splitCoefficient(ExprId Of) const;

  const ExprTable *Below = nullptr;
  unsigned NumBelow = 0; ///< expressions of Below
  Table<ExprId, ExprNode> Nodes;
  std::vector<int64_t> Values; ///< parallel to Nodes
  llvm::DenseMap<Content, ExprId> Known;
};

/// An expression under construction: an id with the operators of its table,
/// which must outlive it.
class Expr {
public:
  Expr(ExprTable &T, ExprId Id) : T(&T), Id(Id) {}
  operator ExprId() const { return Id; }
  template <typename Unit> operator UnitExpr<Unit>() const { return {Id}; }
  ExprTable &table() const { return *T; }
  int64_t value() const { return T->value(Id); }
  bool isConstant(int64_t N) const { return T->constantAt(Id) == N; }
  bool hasValue() const { return value() != NoValue; }

  friend Expr operator+(Expr L, Expr R) { return {*L.T, L.T->add(L.Id, R.Id)}; }
  friend Expr operator*(Expr L, Expr R) { return {*L.T, L.T->mul(L.Id, R.Id)}; }
  friend Expr operator/(Expr L, Expr R) { return {*L.T, L.T->div(L.Id, R.Id)}; }
  friend Expr floorDiv(Expr L, Expr R) { return L.with(ExprOp::Floor, R); }
  friend Expr ceilDiv(Expr L, Expr R) { return L.with(ExprOp::Ceil, R); }
  friend Expr min(Expr L, Expr R) { return L.with(ExprOp::Min, R); }
  friend Expr max(Expr L, Expr R) { return L.with(ExprOp::Max, R); }
  /// Returns 1 if the first one is smaller, else 0.
  friend Expr less(Expr L, Expr R) { return L.with(ExprOp::Less, R); }
  /// Returns 1 if both are equal, else 0.
  friend Expr equal(Expr L, Expr R) { return L.with(ExprOp::Equal, R); }
  /// Returns the least common multiple of two numbers above 0.
  friend Expr lcm(Expr L, Expr R) { return L.with(ExprOp::Lcm, R); }
  /// Returns \p L, rounded up to a multiple of \p R.
  friend Expr roundUp(Expr L, Expr R) { return ceilDiv(L, R) * R; }
  friend Expr operator+(Expr L, int64_t R) { return L + L.number(R); }
  friend Expr operator*(Expr L, int64_t R) { return L * L.number(R); }
  Expr plus(ExprId R) const { return {*T, T->add(Id, R)}; }
  Expr &operator+=(Expr R) { return *this = *this + R; }
  Expr &operator*=(Expr R) { return *this = *this * R; }

private:
  Expr number(int64_t Value) const { return {*T, T->constant(Value)}; }
  Expr with(ExprOp Op, Expr R) const { return {*T, T->combine(Op, Id, R.Id)}; }

  ExprTable *T;
  ExprId Id;
};

} // namespace foretrace::ir
