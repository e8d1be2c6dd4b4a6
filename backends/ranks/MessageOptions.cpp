// SPDX-License-Identifier: Apache-2.0
#include "backends/ranks/MessageOptions.h"
#include "backends/ranks/TaskLimits.h"
#include "lang/diagnostics/Backends.h"
#include <set>

using namespace foretrace;
using namespace foretrace::ir;

llvm::ArrayRef<llvm::StringRef> option::algorithmNames(OpKind Of) {
  static constexpr llvm::StringRef Names[] = {
#define ALGORITHM(KIND, NAME, ...) NAME,
#include "ir/ranks/Algorithms.def"
  };
  const llvm::ArrayRef<Algorithm> Known = algorithmsOf(Of);
  return llvm::ArrayRef(Names).slice(
      static_cast<size_t>(Known.data() - allAlgorithms().data()), Known.size());
}

const Algorithm *option::findAlgorithm(const Attribute &A, OpKind Of) {
  const std::optional<size_t> I = findWord(A, algorithmNames(Of));
  return I ? &algorithmsOf(Of)[*I] : nullptr;
}

static bool checkWorld(const EmitRequest &Request, DiagnosticEngine &Diags) {
  constexpr int64_t MaxRanks = int64_t(1) << 20;
  const Located<Int> &World = Request.Program.Spec.Parallel.World;
  if (*World <= MaxRanks)
    return true;
  Diags.report(World.Range, diag::EmitWorld, *World, Request.Emit.Backend,
               MaxRanks);
  return false;
}

static bool checkGroups(const EmitRequest &Request, const MessageRules &Rules,
                        DiagnosticEngine &Diags) {
  const Program &P = Request.Program;
  std::set<OpKind> Reported; // one op of a kind says enough
  for (const Block &B : P.Blocks)
    for (const Op &O : B.Ops) {
      const Algorithm *By = Rules.Algorithms.lookup(O.Kind);
      if (!By)
        continue;
      const int64_t Ranks = O.Group.size(P.Mesh);
      if (By->takes(Ranks) || !Reported.insert(O.Kind).second)
        continue;
      const llvm::StringRef Kind = getMnemonic(O.Kind);
      Diags.report(Request.Emit.Options.find(Kind)->Value.Range,
                   diag::AlgorithmGroup, Kind, By->Name, O.Name, Ranks);
    }
  return Reported.empty();
}

/// Returns whether no collective is cut into more messages than can be written.
static bool checkChunk(const EmitRequest &Request, const MessageRules &Rules,
                       DiagnosticEngine &Diags) {
  constexpr int64_t MaxMessages = int64_t(1) << 16; // that a rank sends
  const Program &P = Request.Program;
  for (const Block &B : P.Blocks)
    for (const Op &O : B.Ops) {
      const Bytes Size = isCollective(O.Kind) ? messageBytes(P, O) : Bytes();
      if (Size.isOverflow() || Size.value() / Rules.Chunk < MaxMessages)
        continue; // what can't be counted is refused elsewhere
      const NamedAttribute *A = Request.Emit.Options.find("chunk");
      Diags.report(A ? A->Value.Range : Request.Emit.Range, diag::EmitChunk,
                   Size.value(), O.Name, Size.value() / Rules.Chunk,
                   MaxMessages, Size.value() / MaxMessages + 1);
      return false;
    }
  return true;
}

bool foretrace::checkMessages(const EmitRequest &Request,
                              const MessageRules &Rules,
                              DiagnosticEngine &Diags) {
  bool IsGood = checkWorld(Request, Diags);
  IsGood &= checkSteps(Request, Diags);
  IsGood &= checkGroups(Request, Rules, Diags);
  IsGood &= checkChunk(Request, Rules, Diags);
  return IsGood;
}

bool foretrace::checkHasTimes(const EmitRequest &Request,
                              DiagnosticEngine &Diags) {
  if (*Request.Program.Spec.Cost.Kind != CostKind::Uncosted)
    return true;
  Diags.report(Request.Emit.Range, diag::EmitNoTimes, Request.Emit.Backend);
  return false;
}
