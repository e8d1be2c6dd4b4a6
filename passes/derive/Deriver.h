// SPDX-License-Identifier: Apache-2.0
//
// The `derive` pass, which several files implement: Derive.cpp the job as a
// whole, DeriveModel.cpp the model but for its layers, DeriveLayers.cpp,
// LayerRules.cpp and LayerSizes.cpp these, DerivePipeline.cpp how they are
// split, DeriveKept.cpp which keep less for the backward pass,
// DeriveVariants.cpp which values and weights layers share,
// DeriveServe.cpp the numbers of an engine and its step,
// DeriveRouting.cpp how tokens are spread over experts, DeriveTypes.cpp types,
// DeriveSchedule.cpp in which order they run, DeriveScheduleFile.cpp the same
// if a file says it, DeriveReleases.cpp what the release of Megatron-LM has,
// DeriveCluster.cpp the machine they run on. Private to the passes.
#pragma once

#include "ir/model/Measure.h"
#include "lang/Diagnostic.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringMap.h"
#include <set>

namespace foretrace {

struct FileSteps; // DeriveScheduleFile.cpp

/// Fills in derived values of a spec and reports what does not fit.
class Deriver {
public:
  Deriver(ir::Program &P, DiagnosticEngine &Diags)
      : Program(P), S(P.Spec), Mesh(P.Mesh), Diags(Diags) {}

  bool run() {
    deriveServe();
    deriveWorld();
    if (Failed)
      return false; // the rest divides by dp
    checkInstance();
    deriveStep();
    deriveTypes();
    deriveCluster();
    deriveDevice();
    deriveBatch();
    deriveVocab();   // layers of an encoder have the table of words
    deriveRouting(); // layers have slots of the most loaded rank
    deriveLayers();
    deriveBranch();
    checkRouting();
    checkSequence();
    deriveSchedule();
    checkPipeline();
    checkZero();
    checkOptimizer();
    checkRecompute();
    checkOffload();
    checkEffects();
    checkSchedule();
    deriveExpertMesh();
    checkRankOrder();
    checkReleases();
    if (!Failed)
      checkSizes();
    fillMesh();
    if (!Failed)
      splitChunks();
    if (!Failed)
      deriveVariants();
    return !Failed;
  }

  /// Derives the keys of the cluster.
  bool runCluster() {
    deriveCluster();
    return !Failed;
  }

  /// In the order they were reported.
  const std::vector<DiagnosticBuilder> &errors() const { return Errors; }

private:
  /// Reports; true if the message is an error.
  template <typename... Ts>
  DiagnosticBuilder error(SourceRange R, diag::Id Id, Ts &&...Args) {
    unsigned Before = Diags.errorCount();
    DiagnosticBuilder B = Diags.report(R, Id, std::forward<Ts>(Args)...);
    if (Diags.errorCount() != Before) {
      Failed = true;
      Errors.push_back(B);
      // By words and decisions alone, if by no number.
      ask({ir::Check::Kind::Condition, number(0), 0, Id});
    }
    return B;
  }

  /// A number of the spec as an expression.
  ir::Expr of(const Located<int64_t> &F) { return exprOf(Program, F); }
  /// Makes \p F what \p As is, for which \p From is to blame; reports \p What
  /// if that is beyond 2^63, and leaves it then.
  bool define(Located<int64_t> &F, ir::Expr As, SourceRange From,
              llvm::StringRef What);
  /// Returns the quotient, rounded down if it is not exact, which is reported
  /// elsewhere or allowed.
  static ir::Expr quotient(ir::Expr Of, ir::Expr By) {
    const ir::Expr Exact = Of / By;
    return Exact.hasValue() ? Exact : floorDiv(Of, By);
  }
  ir::Expr combine(ir::ExprOp Op, ir::Expr L, ir::Expr R) {
    return {Program.Sizes, Program.Sizes.combine(Op, L, R)};
  }
  ir::Expr number(int64_t N) { return numberOf(Program, N); }
  ir::Expr isMultiple(ir::Expr N, ir::Expr Of) {
    return combine(ir::ExprOp::Equal, combine(ir::ExprOp::Mod, N, Of),
                   number(0));
  }
  ir::Expr isAtMost(ir::Expr N, ir::Expr Most) {
    return combine(ir::ExprOp::Equal, combine(ir::ExprOp::Less, Most, N),
                   number(0));
  }
  /// Adds a check of all such jobs, as long as this one is legal; returns
  /// whether it still is.
  bool ask(ir::Check C);
  /// Returns whether \p Condition, which all such jobs must meet, holds; else
  /// \p Id is to be reported for \p Blamed.
  bool holds(ir::Expr Condition, diag::Id Id, const Located<int64_t> &Blamed);
  /// Returns whether \p Number, which all such jobs must have, is below 2^63;
  /// else that is to be reported for \p Blamed.
  bool exists(ir::Expr Number, const Located<int64_t> &Blamed);
  /// Returns whether the stated \p F equals \p Is; see holds().
  bool isStated(const Located<int64_t> &F, ir::Expr Is, diag::Id Id,
                const Located<int64_t> &Blamed) {
    return holds(combine(ir::ExprOp::Equal, Is, number(*F)), Id, Blamed);
  }
  /// Returns whether a number is above \p Limit, on which the shape of a
  /// program depends.
  bool exceeds(const Located<int64_t> &F, int64_t Limit) {
    return decide(combine(ir::ExprOp::Less, number(Limit), of(F))) != 0;
  }
  /// The value of what shapes a program.
  int64_t decide(ir::Expr Of);
  void deriveServe();
  void deriveServedTypes();
  void deriveStep();
  ir::Expr sglangFraction();
  ir::Expr memoryFraction();
  ir::Expr verifiedTokens();
  ir::Expr sequencesInStep(ir::Expr Wanted, ir::Expr TokensOfEach);
  void checkStepKeys();
  void checkDraft();
  void dropBranch();
  ir::Expr expertTp();
  void checkServe();
  void checkInstance();
  void refuseWorld(int64_t ReplicaRanks);
  void deriveWorld();
  void reportWorld(int64_t ModelRanks);
  void deriveCluster();
  void deriveTiers(ir::ClusterSpec &C);
  void deriveBandwidth(const ir::ClusterSpec &C, ir::TierSpec &T);
  void checkTier(const ir::ClusterSpec &C, size_t Index);
  void checkPeaks(const ir::DeviceSpec &D);
  void deriveDevice();
  void checkTokens(int64_t PerStep);
  void deriveBatch();
  class LayerRules; // LayerRules.h
  bool findExperts() const;
  void deriveLayer(ir::LayerUse &Use);
  void deriveLayers();
  void checkSharedParameters();
  void deriveRouting();
  void checkRouting();
  void deriveBranch();
  void deriveVocab();
  void deriveTypes();
  void followTypes();
  void checkType(llvm::StringRef Key, const Located<ir::TypeKind> &Type,
                 llvm::ArrayRef<ir::TypeKind> Allowed,
                 const Located<ir::TypeKind> *From = nullptr);
  void checkGradType();
  void checkStoredTypes();
  ir::Expr twoUnlessEven(const Located<int64_t> &Of);
  void checkSequence();
  void checkPipeline();
  void deriveSchedule();
  void deriveMicroBatchGroup();
  void checkSchedule();
  void checkGroup();
  void checkMicroBatches();
  void checkOverlap();
  void checkScheduleFile();
  bool checkFilePlace(const ir::Cell &C, int64_t Stage, SourceRange At,
                      FileSteps &File);
  void checkFileStep(const ir::Cell &C, SourceRange At, FileSteps &File);
  void checkFileComplete(const FileSteps &File);
  void checkTower();
  void noteTower(DiagnosticBuilder Report) const;
  void checkLayout();
  void checkPartition();
  void checkEnds();
  void dropKeys(const llvm::Twine &Why);
  void dropEnds(const llvm::Twine &Why);
  void checkZero();
  void checkOptimizer();
  bool hasModule(llvm::StringRef Recomputed);
  /// Returns the first block whose `recompute` satisfies \p Is, or null.
  const ir::BlockSpec *
  findRecomputed(llvm::function_ref<bool(ir::RecomputeKind)> Is) const {
    auto It = llvm::find_if(S.Model.Blocks, [&](const ir::BlockSpec &B) {
      return Is(*S.recomputeOf(B));
    });
    return It == S.Model.Blocks.end() ? nullptr : &*It;
  }
  void checkModules();
  void checkRecompute();
  void checkOffload();
  void checkChunks(llvm::StringRef Key, const Located<int64_t> &Layers);
  /// A setting of the first layers of each chunk that differs from the others'.
  struct FirstLayers {
    const Located<int64_t> &Count;
    llvm::StringLiteral Suffix; ///< of the names of their blocks
    /// Whether a block says for itself what its layers do.
    bool (*IsStated)(const ir::BlockSpec &);
    void (*Set)(ir::BlockSpec &, bool IsFirst, SourceRange At);
  };
  void splitChunks();
  void splitChunks(const FirstLayers &First);
  void checkBranchLayers();
  void checkSharedWeights();
  bool areChunksKnown();
  void checkSent(const std::set<std::string> &Values);
  void deriveVariants();
  unsigned addVariant(unsigned Of, llvm::StringRef Suffix);
  void checkEffects();
  void deriveExpertMesh();
  void checkRankOrder();
  void checkReleases();
  void needVersion(SourceRange R, llvm::StringRef What,
                   ir::MegatronVersion Least);
  void checkSizes();
  const Located<int64_t> *largestIn(ir::Expr Of);
  /// A key that is an extent of a tensor.
  using Extent = const Located<int64_t> *;
  /// Reports that \p What, which has these extents times \p Factor, exceeds
  /// 2^63. The largest extent is to blame, once for all it is in.
  void checkSize(llvm::StringRef What, llvm::ArrayRef<Extent> Extents,
                 int64_t Factor);
  ir::Expr sharingReplicas();
  void splitReplicas();
  void fillMesh();
  ir::Program &Program;
  ir::Spec &S;
  ir::Mesh &Mesh;
  DiagnosticEngine &Diags;
  std::vector<DiagnosticBuilder> Errors;
  const bool HasExperts = findExperts();
  std::vector<ir::Block> Bodies; ///< forward ops of layers, if nothing failed
  /// Types of values besides the hidden state that layers make, by name.
  llvm::StringMap<ir::TensorType> Passed;
  /// Types of parameters that layers share, by `weights:module.name`.
  llvm::StringMap<ir::TensorType> SharedWeights;
  llvm::StringMap<bool> AreFrozen; ///< by the name of shared weights
  /// The keys of SharedWeights, each with a block that has the parameter.
  std::set<std::pair<unsigned, std::string>> SharedOfBlock;
  unsigned BlockAtHand = 0; ///< whose layers are derived
  bool Failed = false;
  bool IsRefused = false;                   ///< a check does not hold
  bool IsBatchRefused = false;              ///< so that ga means nothing
  llvm::SmallSet<SourceLocation, 4> Blamed; ///< where numbers are too large
};

} // namespace foretrace
