// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Space.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace foretrace::sweep {

/// No key has more that make sense; longer lists would only fill memory.
static constexpr size_t MaxValues = size_t(1) << 20;

static Error badAxis(StringRef Text, const Twine &Why) {
  return createStringError("--sweep: `" + Text + "` " + Why);
}

/// `NAME(1, 2)` as its numbers; false if \p Item is something else.
static bool readCall(StringRef Item, StringRef Name,
                     SmallVectorImpl<int64_t> &Arguments) {
  if (!Item.consume_front(Name) || !Item.consume_front("(") ||
      !Item.consume_back(")"))
    return false;
  SmallVector<StringRef, 2> Parts;
  Item.split(Parts, ',');
  for (const StringRef Part : Parts)
    if (Part.trim().getAsInteger(10, Arguments.emplace_back()) ||
        Arguments.back() < 1)
      return false;
  return true;
}

static Error addRange(StringRef Item, int64_t First, int64_t Last,
                      std::vector<std::string> &To) {
  if (First > Last)
    return badAxis(Item, "ends before it begins");
  if (Last - First >= static_cast<int64_t>(MaxValues))
    return badAxis(Item, "has more than " + Twine(MaxValues) + " values");
  for (int64_t I = First; I <= Last; ++I)
    To.push_back(std::to_string(I));
  return Error::success();
}

static void addDivisors(int64_t Of, std::vector<std::string> &To) {
  std::vector<int64_t> Large;
  for (int64_t I = 1; I <= Of / I; ++I) {
    if (Of % I != 0)
      continue;
    To.push_back(std::to_string(I));
    if (I != Of / I)
      Large.push_back(Of / I);
  }
  for (const int64_t D : reverse(Large))
    To.push_back(std::to_string(D));
}

/// Adds what one item of an axis stands for.
static Error addItem(StringRef Item, std::vector<std::string> &To) {
  constexpr int64_t MaxDivided = int64_t(1) << 40; // its root is searched
  SmallVector<int64_t, 2> Numbers;
  if (Item.starts_with("powers(")) {
    if (!readCall(Item, "powers", Numbers) || Numbers.size() != 2)
      return badAxis(Item, "is not `powers(1, 64)`");
    if (!isPowerOf2_64(static_cast<uint64_t>(Numbers[0])))
      return badAxis(Item, "begins with no power of two");
    for (uint64_t I = static_cast<uint64_t>(Numbers[0]);
         I <= static_cast<uint64_t>(Numbers[1]); I *= 2)
      To.push_back(std::to_string(I));
    return Error::success();
  }
  if (Item.starts_with("divisors(")) {
    if (!readCall(Item, "divisors", Numbers) || Numbers.size() != 1)
      return badAxis(Item, "is not `divisors(96)`");
    if (Numbers[0] > MaxDivided)
      return badAxis(Item, "is of a number above 2^40");
    addDivisors(Numbers[0], To);
    return Error::success();
  }
  const auto [First, Last] = Item.split("..");
  int64_t From, Until;
  if (First.size() != Item.size()) {
    if (First.trim().getAsInteger(10, From) ||
        Last.trim().getAsInteger(10, Until) || From < 0)
      return badAxis(Item, "is no range of integers, such as `1..16`");
    return addRange(Item, From, Until, To);
  }
  To.push_back(Item.str());
  return Error::success();
}

/// The parts of \p Text between commas that stand in no parentheses.
static SmallVector<StringRef, 8> splitItems(StringRef Text) {
  SmallVector<StringRef, 8> Items;
  size_t Begin = 0, Depth = 0;
  for (const auto &[I, C] : enumerate(Text)) {
    Depth += C == '(';
    Depth -= C == ')' && Depth > 0;
    if (C != ',' || Depth > 0)
      continue;
    Items.push_back(Text.slice(Begin, I).trim());
    Begin = I + 1;
  }
  Items.push_back(Text.substr(Begin).trim());
  return Items;
}

Expected<Axis> readAxis(StringRef Text) {
  const auto [Name, Domain] = Text.split('=');
  Axis A;
  A.Name = Name.trim().str();
  if (A.Name.empty() || Domain.trim().empty())
    return badAxis(Text, "is not `parallel.tp=1,2,4`");
  for (const StringRef Item : splitItems(Domain)) {
    if (Item.empty())
      return badAxis(Text, "has an empty value");
    if (Error E = addItem(Item, A.Values))
      return E;
  }
  if (A.Values.empty())
    return badAxis(Text, "has no value");
  std::vector<std::string> Sorted = A.Values;
  llvm::sort(Sorted);
  const auto Twice = std::adjacent_find(Sorted.begin(), Sorted.end());
  if (Twice != Sorted.end())
    return badAxis(Text, "has the value `" + *Twice + "` twice");
  return A;
}

Expected<Space> Space::make(std::vector<Axis> Axes) {
  Space S;
  for (size_t I = 0; I < Axes.size(); ++I)
    for (size_t J = 0; J < I; ++J)
      if (Axes[I].Name == Axes[J].Name)
        return createStringError("--sweep: `" + Axes[I].Name +
                                 "` stands twice");
  S.Strides.resize(Axes.size());
  for (size_t I = Axes.size(); I-- > 0;) {
    S.Strides[I] = S.Size;
    if (MulOverflow(S.Size, static_cast<int64_t>(Axes[I].Values.size()),
                    S.Size))
      return createStringError("--sweep: there are 2^63 points or more");
  }
  S.Axes = std::move(Axes);
  return S;
}

std::vector<std::string> Space::overridesOf(int64_t Point) const {
  std::vector<std::string> Overrides;
  for (size_t I = 0; I < Axes.size(); ++I)
    Overrides.push_back(Axes[I].Name + "=" + valueAt(Point, I).str());
  return Overrides;
}

} // namespace foretrace::sweep
