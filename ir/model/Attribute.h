// SPDX-License-Identifier: Apache-2.0
//
// Evaluated configuration that one layer hands to another without knowing its
// meaning: the body of an `emit` block goes from the frontend to the backend
// this way.
#pragma once

#include "lang/Source.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace foretrace::ir {

struct NamedAttribute;

/// A value with the range it was written at. A number with a unit is stored
/// in its base unit: bytes, nanoseconds, bytes per second.
struct Attribute {
  enum class Kind : unsigned char {
    Int,     ///< Integer, exact
    Real,    ///< a decimal number that is not an integer
    Bool,    ///< Integer is 0 or 1
    Text,    ///< a quoted string
    Name,    ///< a bare word
    List,    ///< Elements
    Section, ///< Fields, in source order; Text is the label, if any
  };

  Kind K = Kind::Int;
  SourceRange Range;
  /// In a text, where a value was put that has a `/` or is `..`; invalid if
  /// none was.
  SourceRange PathFrom;
  int64_t Integer = 0;
  double Real = 0;
  /// What the unit of a number measures, "a time"; empty without one.
  llvm::StringRef Measures;
  std::string Text;
  std::vector<Attribute> Elements;
  std::vector<NamedAttribute> Fields;

  /// The field of that name, or null.
  const NamedAttribute *find(llvm::StringRef Name) const;
};

struct NamedAttribute {
  std::string Name;
  SourceRange NameRange;
  Attribute Value;
};

inline const NamedAttribute *Attribute::find(llvm::StringRef Name) const {
  for (const NamedAttribute &F : Fields)
    if (F.Name == Name)
      return &F;
  return nullptr;
}

} // namespace foretrace::ir
