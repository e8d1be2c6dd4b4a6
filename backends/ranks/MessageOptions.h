// SPDX-License-Identifier: Apache-2.0
//
// Options of the backends whose formats know messages between two ranks, but no
// collectives: how those are lowered.
#pragma once

#include "backends/Backend.h"
#include "backends/OptionKinds.h"
#include "ir/model/OpKinds.h"
#include "ir/ranks/TaskMessages.h"

namespace foretrace {

namespace option {

/// Bytes of the longest message.
struct ChunkBytes : Number<1, ir::MaxMessageBytes> {
  static std::string expected() {
    return "a number of bytes from 1 to 2^31 - 1";
  }
};

/// The names of ways to do a collective of that kind.
llvm::ArrayRef<llvm::StringRef> algorithmNames(ir::OpKind Of);
/// The way to do it that \p A names, or null.
const ir::Algorithm *findAlgorithm(const ir::Attribute &A, ir::OpKind Of);

/// One of the ways to do a collective.
template <ir::OpKind Of> struct AlgorithmOf : KindBase {
  static std::string expected() { return oneOf(words()); }
  static llvm::ArrayRef<llvm::StringRef> words() { return algorithmNames(Of); }
  static std::string show(const ir::MessageRules &Rules) {
    return Rules.Algorithms.lookup(Of)->Name.str();
  }
  static bool read(const ir::Attribute &A, ir::MessageRules &Into,
                   DiagnosticEngine &) {
    const ir::Algorithm *By = findAlgorithm(A, Of);
    if (By)
      Into.Algorithms[Of] = By;
    return By;
  }
};

} // namespace option

/// Returns whether all ranks can be written, and all groups are of sizes that
/// the algorithms take; reports what is not so.
bool checkMessages(const EmitRequest &Request, const ir::MessageRules &Rules,
                   DiagnosticEngine &Diags);

/// Returns whether the job has times of computations; reports it if not.
bool checkHasTimes(const EmitRequest &Request, DiagnosticEngine &Diags);

} // namespace foretrace
