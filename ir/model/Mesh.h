// SPDX-License-Identifier: Apache-2.0
//
// The device mesh, and layouts of tensors on it.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace foretrace::ir {

enum class Axis : unsigned char {
#define AXIS(ENUMERATOR, SPELLING, DOC) ENUMERATOR,
#include "ir/model/Axes.def"
};
inline constexpr unsigned NumAxes = 0
#define AXIS(ENUMERATOR, SPELLING, DOC) +1
#include "ir/model/Axes.def"
    ;
llvm::StringRef getName(Axis A);
std::optional<Axis> findAxis(llvm::StringRef Name);
/// All axes, in the order of Axes.def.
llvm::ArrayRef<Axis> allAxes();

/// A set of axes in canonical (Axes.def) order, which identifies a process
/// group, such as the gradient group dp_cp. The members of a group differ only
/// in these axes.
using AxisList = llvm::SmallVector<Axis, 3>;

/// The extent of every axis; 1 where an axis is not used.
struct Mesh {
  std::array<int64_t, NumAxes> Size;

  Mesh() { Size.fill(1); }
  int64_t operator[](Axis A) const { return Size[static_cast<unsigned>(A)]; }
  int64_t &operator[](Axis A) { return Size[static_cast<unsigned>(A)]; }
  /// Ranks in a group that varies in \p Axes.
  int64_t groupSize(llvm::ArrayRef<Axis> Axes) const;
};

/// The layout of a tensor on each axis of the mesh. It is whole (replicated),
/// split along one of its dimensions, a partial sum of which every rank has one
/// term, flat (an equal share of the flattened elements with padding, as in
/// ZeRO), or single (on one rank of the axis only).
class Layout {
public:
  static constexpr int8_t Whole = -1;
  static constexpr int8_t Partial = -2;
  static constexpr int8_t Flat = -3;
  static constexpr int8_t Single = -4;

  Layout() { State.fill(Whole); }
  bool isWhole(Axis A) const { return at(A) == Whole; }
  bool isPartial(Axis A) const { return at(A) == Partial; }
  bool isSplit(Axis A) const { return at(A) >= 0; }
  bool isFlat(Axis A) const { return at(A) == Flat; }
  bool isSingle(Axis A) const { return at(A) == Single; }
  /// The index of the dimension that is split; only if isSplit(A).
  unsigned splitDim(Axis A) const { return static_cast<unsigned>(at(A)); }

  void setWhole(Axis A) { ref(A) = Whole; }
  void setPartial(Axis A) { ref(A) = Partial; }
  void setFlat(Axis A) { ref(A) = Flat; }
  void setSingle(Axis A) { ref(A) = Single; }
  void setSplit(Axis A, unsigned Dim) { ref(A) = static_cast<int8_t>(Dim); }

  friend bool operator==(const Layout &L, const Layout &R) {
    return L.State == R.State;
  }
  friend bool operator!=(const Layout &L, const Layout &R) { return !(L == R); }

private:
  int8_t at(Axis A) const { return State[static_cast<unsigned>(A)]; }
  int8_t &ref(Axis A) { return State[static_cast<unsigned>(A)]; }
  std::array<int8_t, NumAxes> State;
};

} // namespace foretrace::ir
