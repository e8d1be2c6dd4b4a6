// SPDX-License-Identifier: Apache-2.0
#include "analysis/Analyses.h"
#include "analysis/TimeDerivation.h"
#include "ir/text/Print.h"
#include "lang/DidYouMean.h"
#include "tools/explain/Explain.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::explain {

/// Returns whether \p Name is that of the op: `[BLOCK/]OP` or `BLOCK/OP/PHASE`.
static bool isMeant(const ir::Block &B, const ir::Op &O, StringRef Name) {
  auto IsCalled = [&](const ir::Op &Op) {
    const std::string InBlock = B.Name + "/" + Op.Name;
    const std::string InPhase = InBlock + "/" + getName(O.Phase).str();
    return Name == Op.Name || Name == InBlock || Name == InPhase;
  };
  return IsCalled(O) ||
         (isCollective(O.Kind) && O.For.isValid() && IsCalled(B.Ops[O.For]));
}

/// Returns the type in the text form.
static std::string typeOf(const ir::Program &P, const ir::Value &V) {
  std::string Text;
  raw_string_ostream OS(Text);
  ir::print(P, V.Type, V.Layout, OS);
  return Text;
}

/// Explains an op. Only the elements of results are expressions of a program:
/// \p P adds those of bytes.
static Subject explainOp(ir::ExprScope P, TimeMaker &Times, const ir::Block &B,
                         const ir::Op &O) {
  Subject S = describeOp(B, O);
  const FigureMaker Make(P->Spec, P.Sizes);
  for (const ir::ValueId V : O.Results) {
    const ir::Value &Result = B.Values[V];
    S.Figures.push_back(
        Make.make("result " + Result.Name + " : " + typeOf(P, Result),
                  ir::ByteExpr(ir::bytesOnRank(P, Result))));
  }
  if (isCollective(O.Kind)) {
    S.Figures.push_back(Make.make("message", O.Message));
    if (O.Time != Nanoseconds())
      S.Figures.push_back({"time", O.Time.value(), "ns", Times.derive(O)});
    return S;
  }
  if (O.Work.Id.isValid())
    S.Figures.push_back(Make.make("work", O.Work));
  S.Figures.push_back(
      Make.make("touched", ir::ByteExpr(touchedBytes(P, B, O))));
  S.Figures.push_back({"time", O.Time.value(), "ns", Times.derive(O)});
  return S;
}

namespace {

/// Names of things in blocks, each also with its block's: what was possible
/// where a name is unknown.
class NameList {
public:
  void add(StringRef Block, StringRef Name) {
    addOnce(Plain, Name.str());
    addOnce(InBlocks, (Block + "/" + Name).str());
  }
  /// Returns the error that \p Name is not \p What, "an op", with a similar
  /// name, or all names.
  Error unknown(StringRef What, StringRef Name) const;

private:
  static void addOnce(std::vector<std::string> &To, std::string Name) {
    if (!is_contained(To, Name))
      To.push_back(std::move(Name));
  }

  std::vector<std::string> Plain, InBlocks; ///< each name once
};

} // namespace

Error NameList::unknown(StringRef What, StringRef Name) const {
  std::string Text = ("`" + Name + "` is not " + What + " of the job").str();
  std::vector<StringRef> Candidates(Plain.begin(), Plain.end());
  Candidates.insert(Candidates.end(), InBlocks.begin(), InBlocks.end());
  Text += didYouMean(Name, Candidates, "; there are " + join(Plain, ", "));
  return createStringError(inconvertibleErrorCode(), Text);
}

static Error unknownOp(const ir::Program &P, StringRef Name) {
  NameList Known;
  for (const ir::Block &B : P.Blocks)
    for (const ir::Op &O : B.Ops)
      Known.add(B.Name, O.Name);
  return Known.unknown("an op", Name);
}

Expected<Subjects> explainOps(const ir::Program &Of, StringRef Name) {
  ir::ExprOverlay P(Of);
  TimeMaker Times(Of);
  Subjects Found;
  for (const ir::Block &B : Of.Blocks)
    for (const ir::Op &O : B.Ops)
      if (isMeant(B, O, Name))
        Found.push_back(explainOp(P, Times, B, O));
  if (Found.empty())
    return unknownOp(Of, Name);
  return Found;
}

Expected<Subjects> explainParameters(const ir::Program &Of, StringRef Name) {
  ir::ExprOverlay P(Of);
  const FigureMaker Make(Of.Spec, P.Sizes);
  Subjects Found;
  NameList Known;
  for (const ir::Block &B : Of.Blocks)
    for (const ir::Value &V : B.Values) {
      if (V.Kind != ir::ValueKind::Param)
        continue;
      Known.add(B.Name, V.Name);
      const std::string InBlock = B.Name + "/" + V.Name;
      if (Name != V.Name && Name != InBlock)
        continue;
      Found.push_back(
          {InBlock + " : " + typeOf(P, V),
           {B.Range, "", V.Tied ? "tied embedding" : ""},
           {Make.make("on a rank", V.OnRank),
            Make.make("on a rank", ir::ByteExpr(ir::bytesOnRank(P, V)))}});
    }
  if (Found.empty())
    return Known.unknown("a parameter", Name);
  return Found;
}

} // namespace foretrace::explain
