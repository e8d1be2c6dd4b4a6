// SPDX-License-Identifier: Apache-2.0
//
// Why ops take as long as they do. Private to tools/explain.
#ifndef FORETRACE_TOOLS_EXPLAIN_TIMES_H
#define FORETRACE_TOOLS_EXPLAIN_TIMES_H

#include "analysis/OpTimes.h"
#include "tools/explain/Figure.h"
#include "llvm/ADT/ArrayRef.h"
#include <map>

namespace foretrace::explain {

/// Makes figures of the times of ops, as analysis/OpTimes.h says them.
class TimeMaker {
public:
  /// Of ops of \p Of, which stays.
  explicit TimeMaker(const ir::Program &Of);

  /// What ops take, one after the other.
  Figure make(std::string What, llvm::ArrayRef<const ir::Op *> Ops);
  /// What one takes, from what was measured or the device.
  Derivation derive(const ir::Op &O);
  /// The measured time of that name; 0 without one.
  Derivation measured(llvm::StringRef Name) const;

private:
  Derivation none(const ir::Op &O) const;
  Derivation share(const ir::Op &O, const OpTime &T);
  Derivation roofline(const ir::Op &O, const OpTime &T);
  std::string nameOf(const ir::Op &O, const Derivation &Among) const;

  const ir::Program &Of;
  ir::ExprOverlay P;
  const FigureMaker Sizes;
  std::map<const ir::Block *, std::vector<OpTime>> Known;
};

} // namespace foretrace::explain

#endif
