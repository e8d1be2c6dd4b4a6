// SPDX-License-Identifier: Apache-2.0
#include "backends/MessageOptions.h"
#include "backends/EmitOptions.h"
#include "backends/TaskLimits.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace foretrace;
using namespace foretrace::ir;

/// Collectives that can be done in several ways, in order.
static std::vector<OpKind> choices() {
  std::vector<OpKind> Kinds;
  for (const Algorithm &By : allAlgorithms())
    if (&By == &algorithmsOf(By.Kind).back() &&
        algorithmsOf(By.Kind).size() > 1)
      Kinds.push_back(By.Kind);
  return Kinds;
}

std::vector<llvm::StringRef> foretrace::messageOptionNames() {
  std::vector<llvm::StringRef> Names = {"chunk"};
  for (OpKind K : choices())
    Names.push_back(getMnemonic(K));
  return Names;
}

static void readChunk(const NamedAttribute &A, MessageRules &Rules,
                      DiagnosticEngine &Diags) {
  if (A.Value.K != Attribute::Kind::Int || A.Value.Integer < 1 ||
      A.Value.Integer > MaxMessageBytes)
    return reportOptionValue(A, "a number of bytes from 1 to 2^31 - 1", Diags);
  Rules.Chunk = A.Value.Integer;
}

static void readAlgorithm(const NamedAttribute &A, OpKind Of,
                          MessageRules &Rules, DiagnosticEngine &Diags) {
  const llvm::ArrayRef<Algorithm> Known = algorithmsOf(Of);
  std::vector<llvm::StringRef> Names;
  for (const Algorithm &By : Known)
    Names.push_back(By.Name);
  if (std::optional<size_t> I = readWord(A, Names, Diags))
    Rules.Algorithms[Of] = &Known[*I];
}

MessageRules foretrace::readMessageRules(const EmitSpec &Emit,
                                         DiagnosticEngine &Diags) {
  MessageRules Rules;
  if (const NamedAttribute *A = Emit.Options.find("chunk"))
    readChunk(*A, Rules, Diags);
  for (OpKind K : choices())
    if (const NamedAttribute *A = Emit.Options.find(getMnemonic(K)))
      readAlgorithm(*A, K, Rules, Diags);
  return Rules;
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
      const int64_t Ranks = isCollective(O.Kind) ? O.Group.size(P.Mesh) : 1;
      if (!By || By->takes(Ranks) || !Reported.insert(O.Kind).second)
        continue;
      const llvm::StringRef Kind = getMnemonic(O.Kind);
      Diags.report(Request.Emit.Options.find(Kind)->Value.Range,
                   diag::AlgorithmGroup, Kind, By->Name, O.Name, Ranks);
    }
  return Reported.empty();
}

/// Whether no collective is cut into more messages than can be written.
static bool checkChunk(const EmitRequest &Request, const MessageRules &Rules,
                       DiagnosticEngine &Diags) {
  constexpr int64_t MaxMessages = int64_t(1) << 20; // that a rank sends
  const Program &P = Request.Program;
  for (const Block &B : P.Blocks)
    for (const Op &O : B.Ops) {
      const Bytes Size =
          isCollective(O.Kind) ? messageBytes(P, O) : Bytes();
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
