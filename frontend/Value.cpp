// SPDX-License-Identifier: Apache-2.0
//
// Values: how they are called in messages, and how numbers with units are read
// without rounding whenever the result is an integer.
#include "frontend/Value.h"
#include "frontend/ForeignNames.h"
#include "frontend/UnknownUnit.h"
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Frontend.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include <charconv>
#include <cmath>

using namespace foretrace;

namespace {
struct UnitRow {
  llvm::StringRef Word;
  Dimension Dim;
  int64_t Numerator, Denominator;
};
} // namespace

static constexpr UnitRow Units[] = {
#define UNIT(WORD, DIM, NUMERATOR, DENOMINATOR)                                \
  {WORD, Dimension::DIM, NUMERATOR, DENOMINATOR},
#include "frontend/Units.def"
};

llvm::StringRef foretrace::getName(Dimension D) {
  static constexpr llvm::StringRef Names[] = {
#define DIMENSION(ENUMERATOR, TEXT) TEXT,
#include "frontend/Units.def"
  };
  return Names[static_cast<unsigned>(D)];
}

double ExprValue::asReal() const {
  if (const int64_t *I = getIf<int64_t>())
    return static_cast<double>(*I);
  return std::get<double>(Data);
}

const std::string *ExprValue::asText() const {
  if (const auto *W = getIf<WordValue>())
    return &W->Text;
  return getIf<std::string>();
}

namespace {
struct Describer {
  Dimension Dim;
  std::string operator()(int64_t) { return getName(Dim).str(); }
  std::string operator()(double) {
    return Dim == Dimension::Count ? "a decimal" : getName(Dim).str();
  }
  std::string operator()(bool B) { return B ? "`true`" : "`false`"; }
  std::string operator()(const std::string &) { return "a string"; }
  std::string operator()(const WordValue &W) { return "`" + W.Text + "`"; }
  std::string operator()(const ListValue &) { return "a list"; }
  std::string operator()(const PatternValue &) { return "a layer pattern"; }
  std::string operator()(const TableValue &) { return "a table"; }
  std::string operator()(const ir::Expr &) {
    return getName(Dim).str() + " of each point";
  }
  std::string operator()(const WordAxisValue &) {
    return "a word of each point";
  }
  std::string operator()(const ConditionValue &) {
    return "a condition on each point";
  }
};
} // namespace

std::string foretrace::describe(const ExprValue &V) {
  return std::visit(Describer{V.Dim}, V.Data);
}

std::optional<std::string> foretrace::format(const ExprValue &V) {
  if (const int64_t *I = V.getIf<int64_t>())
    return std::to_string(*I);
  if (const bool *B = V.getIf<bool>())
    return *B ? "true" : "false";
  if (const double *D = V.getIf<double>()) {
    char Buffer[32]; // the shortest form that reads back takes at most 24
    return std::string(Buffer,
                       std::to_chars(Buffer, Buffer + sizeof(Buffer), *D).ptr);
  }
  if (const std::string *Text = V.asText())
    return *Text;
  return std::nullopt;
}

/// Far beyond any power of ten that an integer holds.
static constexpr int MaxPower = 1 << 20;

/// Returns a decimal times \p U as an integer; nothing if inexact or too large.
static std::optional<int64_t> exactDecimal(llvm::StringRef Digits,
                                           const UnitRow &U) {
  auto [Mantissa, Exponent] = Digits.split(Digits.contains('e') ? 'e' : 'E');
  int Power = 0;
  Exponent.consume_front("+");
  if (!Exponent.empty() && Exponent.getAsInteger(10, Power))
    return std::nullopt;
  auto [Whole, Fraction] = Mantissa.split('.');
  Power = std::max(Power, -MaxPower) - static_cast<int>(Fraction.size());
  std::string AllDigits = (Whole + Fraction).str();
  int64_t Result;
  if (llvm::StringRef(AllDigits).getAsInteger(10, Result))
    return std::nullopt;
  std::optional<int64_t> Product = llvm::checkedMul(Result, U.Numerator);
  for (; Product && *Product != 0 && Power > 0; --Power)
    Product = llvm::checkedMul(*Product, int64_t(10));
  for (; Product && *Product != 0 && Power < 0; ++Power) {
    if (*Product % 10 != 0)
      return std::nullopt;
    *Product /= 10;
  }
  if (!Product || *Product % U.Denominator != 0)
    return std::nullopt;
  return *Product / U.Denominator;
}

ExprValue foretrace::asShare(const ExprValue &V) {
  static constexpr UnitRow Whole = {"", Dimension::Share, 1000000, 1};
  if (!V.isNumber() || V.Dim != Dimension::Count || !V.Prefix.empty())
    return V;
  ExprValue Share = V;
  if (const int64_t *I = V.getIf<int64_t>()) {
    if (*I == 0)
      Share.Dim = Dimension::Share;
    return Share;
  }
  const double Real = V.asReal();
  if (!(Real > 0 && Real < 1))
    return V;
  Share.Dim = Dimension::Share;
  if (const std::optional<int64_t> Exact = exactDecimal(*format(V), Whole))
    Share.Data = *Exact;
  else
    Share.Data = Real * 1e6;
  return Share;
}

bool foretrace::needsShare(const ExprValue &A, const ExprValue &B) {
  return A.Dim != B.Dim &&
         (A.Dim == Dimension::Share || B.Dim == Dimension::Share) &&
         asShare(A).Dim == asShare(B).Dim;
}

llvm::StringRef foretrace::baseQuantity(Dimension D) {
  switch (D) {
  case Dimension::Bytes:
    return "1 B";
  case Dimension::Time:
    return "1 ns";
  case Dimension::Share:
    return "0.0001 %";
  default:
    return "";
  }
}

std::string foretrace::withUnit(const ExprValue &Plain, Dimension D) {
  if (!Plain.isNumber() || Plain.Dim != Dimension::Count ||
      baseQuantity(D).empty())
    return "";
  const std::string Number = *format(Plain);
  const double Real = Plain.asReal();
  auto In = [](std::string Text, llvm::StringRef Unit) {
    return "`" + std::move(Text) + " " + Unit.str() + "`";
  };
  if (D == Dimension::Share && Real == 1)
    return In("100", "%") + " or " + In("1", "%");
  if (D == Dimension::Share)
    return Real <= 100 ? In(Number, "%")
                       : In(*format({Real / 10000, D, Plain.Range}), "%");
  const bool IsTime = D == Dimension::Time;
  const std::string Base = In(Number, IsTime ? "ns" : "B");
  constexpr double Least = 1e6; // of a time or a size in its base unit
  return Real >= Least ? Base
                       : In(Number, IsTime ? "s" : "GiB") + " or " + Base;
}

size_t foretrace::weigh(const ExprValue &V) {
  if (const std::string *Text = V.asText())
    return Text->size();
  size_t Weight = 0;
  if (const auto *List = V.getIf<ListValue>())
    for (const ExprValue &Element : List->Elements)
      Weight += 1 + weigh(Element);
  return Weight;
}

void foretrace::noteMetric(const ExprValue &V, DiagnosticBuilder &Report) {
  const auto *Word = V.getIf<WordValue>();
  if (!Word)
    return;
  if (const ForeignName *N = findForeignName("metrics", Word->Text))
    Report.note(V.Range, diag::AliasOfKey, Word->Text, N->Here)
        .fix(V.Range, N->Here);
}

std::vector<llvm::StringRef> foretrace::unitsLike(llvm::StringRef Prefix,
                                                  Dimension D) {
  auto IsBase = [&](llvm::StringRef Word) {
    return llvm::any_of(Units, [&](const UnitRow &U) {
      return U.Dim == D && U.Word == Word && U.Numerator == 1;
    });
  };
  std::vector<llvm::StringRef> Like;
  for (const UnitRow &U : Units)
    if (llvm::StringRef Rest = U.Word;
        U.Dim == D && Rest.consume_front(Prefix) && IsBase(Rest))
      Like.push_back(U.Word);
  return Like;
}

std::optional<ExprValue> foretrace::evaluateNumber(const ast::Number &N,
                                                   SourceRange Range,
                                                   DiagnosticEngine &Diags) {
  static constexpr UnitRow Plain = {"", Dimension::Count, 1, 1};
  const UnitRow *U = &Plain;
  auto Make = [&](auto Number) {
    return ExprValue{Number, U->Dim, Range,
                     U->Dim == Dimension::Count ? U->Word : ""};
  };
  if (!N.Unit.empty()) {
    U = llvm::find_if(Units,
                      [&](const UnitRow &C) { return C.Word == N.Unit; });
    if (U == std::end(Units)) {
      const std::string Word = N.Digits + N.Unit;
      if (const ForeignName *Other = findForeignName("words", Word))
        Diags.report(Range, diag::UnknownName, Word)
            .note(Range, diag::AliasOfKey, Word, Other->Here)
            .fix(Range, Other->Here);
      else
        reportUnknownUnit(N.UnitRange, N.Unit, Diags);
      return std::nullopt;
    }
  }
  if (!N.IsDecimal) {
    int64_t Digits;
    std::optional<int64_t> Product;
    if (!llvm::StringRef(N.Digits).getAsInteger(10, Digits))
      Product = llvm::checkedMul(Digits, U->Numerator);
    if (!Product) {
      Diags.report(Range, diag::IntegerOverflow, N.Digits + N.Unit);
      return std::nullopt;
    }
    if (*Product % U->Denominator == 0)
      return Make(*Product / U->Denominator);
  } else if (std::optional<int64_t> Exact = exactDecimal(N.Digits, *U)) {
    return Make(*Exact);
  }
  double Real = 0;
  bool IsBad = llvm::StringRef(N.Digits).getAsDouble(Real);
  Real = Real * static_cast<double>(U->Numerator) /
         static_cast<double>(U->Denominator);
  if (IsBad || !std::isfinite(Real)) {
    Diags.report(Range, diag::IntegerOverflow, N.Digits + N.Unit);
    return std::nullopt;
  }
  return Make(Real);
}
