// SPDX-License-Identifier: Apache-2.0
//
// Typed ids, and the tables that they index.
#pragma once

#include <cassert>
#include <cstddef>
#include <utility>
#include <vector>

namespace foretrace::ir {

/// An index into one table; ids of different tables cannot be mixed.
template <typename Tag> struct Id {
  static constexpr unsigned None = ~0u;
  unsigned Index = None;

  constexpr Id() = default;
  constexpr explicit Id(unsigned Index) : Index(Index) {}
  bool isValid() const { return Index != None; }
  friend bool operator==(Id A, Id B) { return A.Index == B.Index; }
  friend bool operator!=(Id A, Id B) { return A.Index != B.Index; }
};
using ValueId = Id<struct ValueTag>;
using OpId = Id<struct OpTag>;
using BlockId = Id<struct BlockTag>;
using IndexId = Id<struct IndexTag>;
using ModuleId = Id<struct ModuleTag>;

/// A std::vector indexed by its own id type. Order of insertion is order of
/// output.
template <typename IdT, typename T> class Table {
public:
  IdT add(T Item) {
    Items.push_back(std::move(Item));
    return IdT{static_cast<unsigned>(Items.size() - 1)};
  }
  T &operator[](IdT I) {
    assert(I.Index < Items.size());
    return Items[I.Index];
  }
  const T &operator[](IdT I) const {
    assert(I.Index < Items.size());
    return Items[I.Index];
  }
  /// Reserves space for \p Count items.
  void reserve(size_t Count) { Items.reserve(Count); }
  bool contains(IdT I) const { return I.Index < Items.size(); }
  size_t size() const { return Items.size(); }
  bool empty() const { return Items.empty(); }
  auto begin() { return Items.begin(); }
  auto end() { return Items.end(); }
  auto begin() const { return Items.begin(); }
  auto end() const { return Items.end(); }
  IdT idAt(size_t I) const { return IdT{static_cast<unsigned>(I)}; }

private:
  std::vector<T> Items;
};

} // namespace foretrace::ir
