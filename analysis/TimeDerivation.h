// SPDX-License-Identifier: Apache-2.0
//
// Derives the times of ops and of iterations.
#pragma once

#include "analysis/CollectiveTimes.h"
#include "analysis/CriticalPath.h"
#include "analysis/Derivation.h"
#include "analysis/OpTimes.h"
#include "llvm/ADT/ArrayRef.h"
#include <map>

namespace foretrace {

/// Derives the times that analysis/OpTimes.h assigns to ops.
class TimeMaker {
public:
  /// Derives times of ops of \p Of, which must outlive the maker.
  explicit TimeMaker(const ir::Program &Of);

  /// Derives the time of \p Ops, run one after the other.
  DerivedFigure make(std::string What, llvm::ArrayRef<const ir::Op *> Ops);
  /// Derives the time of one op from measured times or the device.
  Derivation derive(const ir::Op &O);
  /// Derives the time of a collective that is not an op, with a message of \p
  /// Size bytes (ir::messageBytes), by its law.
  Derivation collective(ir::OpKind Kind, const ir::Group &G, int64_t Size);
  /// Derives the time of a message of \p Bytes to another stage.
  static Derivation message(DerivedOperand Bytes);
  /// Derives the time of a step of kind \p Step for all of \p Layers, \p Time.
  Derivation step(const ir::LayerSequence &Layers, ir::ActionKind Step,
                  Nanoseconds Time);
  /// Derives the time of an iteration from its critical path, down to ops.
  Derivation iteration(const CriticalPath &Path);
  /// Returns the measured time of that name, or 0 if it is not measured.
  Derivation measured(llvm::StringRef Name) const;

private:
  Derivation none(const ir::Op &O) const;
  Derivation share(const ir::Op &O, const OpTime &T);
  Derivation roofline(const ir::Op &O, const OpTime &T);
  Derivation estimate(const OpTime &T);
  Derivation collective(const ir::Op &O, const OpTime &T);
  DerivedOperand step(const PathStep &Of);
  DerivedOperand exposed(std::string Name, llvm::ArrayRef<const ir::Op *> Ops);
  std::string nameOf(const ir::Op &O, const Derivation &Among) const;

  const ir::Program &Of;
  ir::ExprOverlay P;
  const FigureMaker Sizes;
  std::optional<CollectiveTimes> Places; ///< of `cost estimate` on a cluster
  std::map<const ir::Block *, std::vector<OpTime>> Known;
};

} // namespace foretrace
