// SPDX-License-Identifier: Apache-2.0
//
// Where the numbers of a page come from: trees of terms with values, down to
// the places where a job states their keys. Private to the backend.
#pragma once

#include "backends/Backend.h"
#include "ir/model/Operands.h"
#include "llvm/Support/JSON.h"
#include <map>

namespace foretrace::report {

/// Terms of the numbers of a page. Equal terms of all tables are one, so that
/// the page stays small. The tables must outlive it.
class Explanations {
public:
  explicit Explanations(const EmitRequest &Request) : Request(Request) {}

  /// States that \p Sizes are of the job \p Of, which must outlive it, instead
  /// of that of the request.
  void setSpec(const ir::ExprTable &Sizes, const ir::Spec &Of) {
    Specs[&Sizes] = &Of;
  }
  /// Writes a number as the page takes it: a text, for it may have more digits
  /// than a script can count with; or an object with the index of its term.
  void writeNumber(llvm::json::OStream &J, __int128 Value,
                   const ir::ExprTable &Sizes, ir::ExprId From);
  /// Writes all terms of numbers that were written: the attribute `terms`.
  void write(llvm::json::OStream &J) const;

private:
  /// An operation on other terms, a constant, or a key.
  struct Term {
    llvm::StringRef Op; ///< empty: a constant or a key
    int64_t Value;
    std::vector<unsigned> Of; ///< operands; of a derived key its definition
    std::optional<ir::KeyOperand> Key;
  };
  /// Content by which terms are equal.
  using Content = std::tuple<std::string, int64_t, std::vector<unsigned>>;

  unsigned add(const ir::ExprTable &Sizes, ir::ExprId Of);
  Term make(const ir::ExprTable &Sizes, ir::ExprId Of);
  void write(llvm::json::OStream &J, const Term &T) const;

  const EmitRequest &Request;
  std::map<const ir::ExprTable *, const ir::Spec *> Specs;
  std::vector<Term> All;
  std::map<std::pair<const ir::ExprTable *, unsigned>, unsigned> Known;
  std::map<Content, unsigned> Alike;
};

} // namespace foretrace::report
