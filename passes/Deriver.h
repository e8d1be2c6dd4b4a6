// SPDX-License-Identifier: Apache-2.0
//
// The `derive` pass, which two files implement: Derive.cpp the job as a whole,
// DeriveModel.cpp what concerns the model's layers.
#ifndef FORETRACE_PASSES_DERIVER_H
#define FORETRACE_PASSES_DERIVER_H

#include "ir/Program.h"
#include "lang/Diagnostic.h"
#include "llvm/ADT/STLExtras.h"

namespace foretrace {

/// The two divisors of \p Total next to \p Value, as text: "4 or 8".
std::string nearestDivisors(int64_t Value, int64_t Total);
/// The two multiples of \p Unit next to \p Value, as text.
std::string nearestMultiples(int64_t Value, int64_t Unit);

/// Fills in derived values of a spec and reports what does not fit.
class Deriver {
public:
  Deriver(ir::Program &P, DiagnosticEngine &Diags)
      : S(P.Spec), Mesh(P.Mesh), Diags(Diags) {}

  bool run() {
    deriveWorld();
    if (Failed)
      return false; // the rest divides by dp
    deriveBatch();
    for (ir::BlockSpec &B : S.Model.Blocks) {
      deriveAttention(B);
      deriveFfn(B);
    }
    deriveVocab();
    checkSequence();
    checkPipeline();
    deriveSchedule();
    deriveExpertMesh();
    checkRankOrder();
    if (!Failed)
      checkSizes();
    fillMesh();
    return !Failed;
  }

private:
  /// Reports; true if the message stands as an error.
  template <typename... Ts>
  DiagnosticBuilder error(SourceRange R, diag::Id Id, Ts &&...Args) {
    unsigned Before = Diags.errorCount();
    DiagnosticBuilder B = Diags.report(R, Id, std::forward<Ts>(Args)...);
    Failed |= Diags.errorCount() != Before;
    return B;
  }

  void deriveWorld();
  void reportWorld(int64_t ModelRanks);
  void deriveBatch();
  void deriveAttention(ir::BlockSpec &B);
  void checkHeads(const ir::AttentionSpec &A);
  void deriveFfn(ir::BlockSpec &B);
  void checkExperts(const ir::BlockSpec &B);
  void deriveVocab();
  void checkSequence();
  void checkPipeline();
  void deriveSchedule();
  void deriveMicroBatchGroup();
  void checkLayout();
  void checkPartition();
  void checkEnds();
  void refuseKeys(const llvm::Twine &Why);
  void refuseEnds(const llvm::Twine &Why);
  void deriveExpertMesh();
  void checkRankOrder();
  void needVersion(SourceRange R, llvm::StringRef What,
                   ir::MegatronVersion Least);
  void checkSizes();
  void checkSize(SourceRange R, llvm::StringRef What,
                 llvm::ArrayRef<int64_t> Factors);
  void fillMesh();
  bool hasExperts() const {
    return llvm::any_of(S.Model.Blocks, [](const ir::BlockSpec &B) {
      return B.Moe.has_value();
    });
  }

  ir::Spec &S;
  ir::Mesh &Mesh;
  DiagnosticEngine &Diags;
  bool Failed = false;
};

} // namespace foretrace

#endif
