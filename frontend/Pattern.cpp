// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of layer patterns.
#include "frontend/Pattern.h"
#include "lang/diagnostics/Frontend.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace foretrace;
using ir::LayerRun;

/// A period within a period is written out up to this many items; published
/// models alternate within a dozen.
static constexpr size_t MaxUnfolded = 256;

PatternValue foretrace::makePattern(unsigned Block, SourceRange Range) {
  return {LayerRun{1, {{Block, 1}}, Range}};
}

/// Appends an item; equal neighbours become one. False beyond 2^63.
static bool append(std::vector<LayerRun::Item> &Items, LayerRun::Item I) {
  if (Items.empty() || Items.back().Block != I.Block) {
    Items.push_back(I);
    return true;
  }
  std::optional<int64_t> Sum = llvm::checkedAdd(Items.back().Count, I.Count);
  if (Sum)
    Items.back().Count = *Sum;
  else
    Items.push_back(I); // the total is checked where the layers are bound
  return Sum.has_value();
}

PatternValue foretrace::concatenate(PatternValue Left,
                                    const PatternValue &Right) {
  for (const LayerRun &R : Right) {
    if (R.Periods != 1 || Left.empty() || Left.back().Periods != 1) {
      Left.push_back(R);
      continue;
    }
    for (LayerRun::Item I : R.Items)
      append(Left.back().Items, I);
    Left.back().Range = Left.back().Range.to(R.Range);
  }
  return Left;
}

/// Writes \p P out as the items of one period; nothing if they are too many.
static std::optional<std::vector<LayerRun::Item>>
flatten(const PatternValue &P) {
  std::vector<LayerRun::Item> Items;
  for (const LayerRun &R : P) {
    if (R.Periods > static_cast<int64_t>(MaxUnfolded))
      return std::nullopt;
    for (int64_t N = 0; N < R.Periods; ++N)
      for (LayerRun::Item I : R.Items)
        append(Items, I);
    if (Items.size() > MaxUnfolded)
      return std::nullopt;
  }
  return Items;
}

/// \p P repeated \p Count times, before the total is checked.
static std::optional<PatternValue> fold(int64_t Count, PatternValue P,
                                        SourceRange Range) {
  std::optional<int64_t> Product;
  if (P.size() == 1) {
    LayerRun &Run = P.front();
    int64_t &Factor = Run.Periods == 1 && Run.Items.size() == 1
                          ? Run.Items.front().Count
                          : Run.Periods;
    if (!(Product = llvm::checkedMul(Factor, Count)))
      return std::nullopt;
    Factor = *Product;
    Run.Range = Range;
    return P;
  }
  std::optional<std::vector<LayerRun::Item>> Items = flatten(P);
  if (!Items)
    return std::nullopt;
  return PatternValue{LayerRun{Count, std::move(*Items), Range}};
}

std::optional<PatternValue> foretrace::repeat(int64_t Count, PatternValue P,
                                              SourceRange Range,
                                              DiagnosticEngine &Diags) {
  if (Count < 1) {
    Diags.report(Range, diag::NotPositive, "a layer count", Count);
    return std::nullopt;
  }
  std::optional<int64_t> Layers = countLayers(P);
  if (!Layers || !llvm::checkedMul(*Layers, Count)) {
    Diags.report(Range, diag::IntegerOverflow, "layers");
    return std::nullopt;
  }
  if (Count == 1)
    return P;
  std::optional<PatternValue> Result = fold(Count, std::move(P), Range);
  if (!Result)
    Diags.report(Range, diag::PatternTooDeep, MaxUnfolded);
  return Result;
}

std::optional<int64_t> foretrace::countLayers(const PatternValue &P) {
  std::optional<int64_t> Total = 0;
  for (const LayerRun &R : P)
    for (const LayerRun::Item &I : R.Items) {
      std::optional<int64_t> Layers = llvm::checkedMul(R.Periods, I.Count);
      if (!Layers || !(Total = llvm::checkedAdd(*Total, *Layers)))
        return std::nullopt;
    }
  return Total;
}

/// Returns how often the first \p Period of \p Blocks are repeated.
static size_t countRepeats(llvm::ArrayRef<unsigned> Blocks, size_t Period) {
  size_t Same = Period; // as far as each block equals the one a period before
  while (Same < Blocks.size() && Blocks[Same] == Blocks[Same - Period])
    ++Same;
  return Same / Period;
}

PatternValue foretrace::foldLayers(llvm::ArrayRef<unsigned> Blocks,
                                   SourceRange Range) {
  PatternValue Out;
  while (!Blocks.empty()) {
    size_t Period = 1, Repeats = countRepeats(Blocks, 1);
    for (size_t P = 2; P <= std::min(Blocks.size() / 2, MaxUnfolded); ++P)
      if (const size_t Times = countRepeats(Blocks, P);
          Times > 1 && Times * P > Repeats * Period) {
        Period = P;
        Repeats = Times;
      }
    LayerRun Run{static_cast<int64_t>(Repeats), {}, Range};
    for (const unsigned Block : Blocks.take_front(Period))
      append(Run.Items, {Block, 1});
    if (Period == 1) {
      Run.Periods = 1;
      Run.Items.front().Count = static_cast<int64_t>(Repeats);
    }
    Blocks = Blocks.drop_front(Period * Repeats);
    Out = concatenate(std::move(Out), {Run});
  }
  return Out;
}

/// Returns the symbol of each block. Reports symbols that are not one
/// character, and those that another block has.
static std::vector<std::string> symbolsOf(const ir::ModelSpec &M,
                                          DiagnosticEngine &Diags) {
  std::vector<std::string> Symbols;
  for (const ir::BlockSpec &B : M.Blocks) {
    const bool IsStated = B.Symbol.isPresent();
    std::string Symbol = IsStated ? *B.Symbol : B.Name;
    if (IsStated && (Symbol.size() != 1 || llvm::is_contained(Symbols, Symbol)))
      Diags.report(B.Symbol.Range, diag::BlockSymbol, B.Name, Symbol);
    Symbols.push_back(std::move(Symbol));
  }
  return Symbols;
}

PatternValue foretrace::parsePattern(llvm::StringRef Pattern,
                                     const ir::ModelSpec &M, SourceRange At,
                                     std::vector<int64_t> *Stages,
                                     DiagnosticEngine &Diags) {
  const std::vector<std::string> Symbols = symbolsOf(M, Diags);
  std::vector<unsigned> Blocks;
  size_t Begin = 0; // of the stage
  auto EndStage = [&] {
    Stages->push_back(static_cast<int64_t>(Blocks.size() - Begin));
    Begin = Blocks.size();
  };
  for (const char C : Pattern) {
    if (C == '|' && Stages) {
      EndStage();
      continue;
    }
    const auto Found = llvm::find(Symbols, std::string(1, C));
    if (Found == Symbols.end()) {
      Diags.report(At, diag::PatternSymbol, std::string(1, C),
                   "expected one of " + llvm::join(Symbols, ", "));
      return {};
    }
    Blocks.push_back(static_cast<unsigned>(Found - Symbols.begin()));
  }
  if (Stages && !Stages->empty())
    EndStage();
  if (Blocks.empty()) {
    Diags.report(At, diag::NotPositive, "a layer count", 0);
    return {};
  }
  return foldLayers(Blocks, At);
}
