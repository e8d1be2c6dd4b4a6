// SPDX-License-Identifier: Apache-2.0
//
// Where the numbers of a page come from: expressions, down to the places where
// a job states their keys. Private to the backend.
#ifndef FORETRACE_BACKENDS_REPORT_EXPLANATIONS_H
#define FORETRACE_BACKENDS_REPORT_EXPLANATIONS_H

#include "backends/Backend.h"
#include "ir/model/Operands.h"
#include "llvm/Support/JSON.h"
#include <map>

namespace foretrace::report {

/// Expressions of some tables, which must stay where they are: each once, with
/// those that its keys follow from.
class Explanations {
public:
  explicit Explanations(const EmitRequest &Request) : Request(Request) {}

  /// Writes a number as the page takes it: a text, for it may have more digits
  /// than a script can count with; or an object with the index of \p From.
  void writeNumber(llvm::json::OStream &J, __int128 Value,
                   const ir::ExprTable &Sizes, ir::ExprId From);
  /// Writes all that was asked for: the attributes `expressions` and `keys`.
  void write(llvm::json::OStream &J);

private:
  struct Entry {
    const ir::ExprTable *Sizes;
    ir::ExprId Of;
  };

  struct Key {
    ir::KeyOperand Of;
    std::optional<size_t> From; ///< an entry
  };

  size_t add(const ir::ExprTable &Sizes, ir::ExprId Of);
  size_t addKey(const ir::ExprTable &Sizes, ir::KeyOperand O);
  void write(llvm::json::OStream &J, Entry E);
  void write(llvm::json::OStream &J, const Key &K);
  std::string print(Entry E, bool IsInNumbers);

  const EmitRequest &Request;
  std::vector<Entry> All;
  std::map<std::pair<const ir::ExprTable *, unsigned>, size_t> Known;
  std::vector<Key> Keys;
  /// By name and value: what a key is called says which it is, but for counts
  /// of stages.
  std::map<std::pair<std::string, int64_t>, size_t> KnownKeys;
  size_t Written = 0; ///< characters of expressions
};

} // namespace foretrace::report

#endif
