// SPDX-License-Identifier: Apache-2.0
#include "ir/schedule/ScheduleBuilder.h"
#include "ir/text/ParseParts.h"
#include "lang/diagnostics/IR.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

class ScheduleParser {
public:
  ScheduleParser(TextReader &In, Schedule &S) : In(In), S(S) {}

  bool parse();

private:
  bool size(llvm::StringRef Word, int64_t &Out);
  bool let();
  bool program();
  bool loop(SlotLoop &Out);
  bool slot(SlotLoop &To);
  bool message(Slot &Out);
  bool coordinates(Slot &Out);

  // Closed forms, from those that bind least.
  bool sum(IndexId &Out);
  bool product(IndexId &Out);
  bool operand(IndexId &Out);
  bool inParentheses(IndexId &Out) {
    return In.expectPunct("(") && sum(Out) && In.expectPunct(")");
  }
  bool extremum(IndexOp Op, IndexId &Out);
  bool combine(IndexOp Op, SourceRange At, IndexId Right, IndexId &Out);

  // Closed forms nested deeper, or longer, are refused.
  static constexpr unsigned MaxDepth = 32, MaxOperations = 1000;
  static constexpr size_t MaxNames = 1000;

  TextReader &In;
  Schedule &S;
  unsigned Depth = 0;
};

} // namespace

/// Combines \p Out and \p Right into \p Out, by the operator at \p At.
bool ScheduleParser::combine(IndexOp Op, SourceRange At, IndexId Right,
                             IndexId &Out) {
  Out = S.Indices.combine(Op, Out, Right);
  if (S.Indices.operations(Out) <= MaxOperations)
    return true;
  In.Diags.report(At, diag::IrClosedForm, MaxOperations);
  return false;
}

bool ScheduleParser::extremum(IndexOp Op, IndexId &Out) {
  const SourceRange At = In.peek().Range;
  IndexId Right;
  return In.expectPunct("(") && sum(Out) && In.expectPunct(",") && sum(Right) &&
         In.expectPunct(")") && combine(Op, At, Right, Out);
}

bool ScheduleParser::operand(IndexId &Out) {
  if (In.peek().isPunct("("))
    return inParentheses(Out);
  if (In.peek().is(Token::Kind::Integer)) {
    int64_t Value;
    if (!In.expectInteger(INT64_MIN, Value))
      return false;
    Out = S.Indices.constant(Value);
    return true;
  }
  if (In.takeWord("min"))
    return extremum(IndexOp::Min, Out);
  if (In.takeWord("max"))
    return extremum(IndexOp::Max, Out);
  for (const auto &[Named, Name] : S.Indices.names())
    if (In.takeWord(Name)) {
      Out = Named;
      return true;
    }
  IndexVariable V{};
  if (!In.expectSpelling("a variable", V))
    return false;
  Out = S.Indices.variable(V);
  return true;
}

bool ScheduleParser::product(IndexId &Out) {
  if (!operand(Out))
    return false;
  for (;;) {
    const SourceRange At = In.peek().Range;
    IndexOp Op;
    if (In.takePunct("*"))
      Op = IndexOp::Mul;
    else if (In.takePunct("/"))
      Op = IndexOp::Div;
    else if (In.takeWord("mod"))
      Op = IndexOp::Mod;
    else
      return true;
    IndexId Right;
    if (!operand(Right) || !combine(Op, At, Right, Out))
      return false;
  }
}

bool ScheduleParser::sum(IndexId &Out) {
  if (Depth == MaxDepth) {
    In.Diags.report(In.peek().Range, diag::IrTooDeep, MaxDepth);
    return false;
  }
  ++Depth;
  bool IsGood = product(Out);
  while (IsGood && (In.peek().isPunct("+") || In.peek().isPunct("-"))) {
    const Token Sign = In.next();
    const IndexOp Op = Sign.isPunct("+") ? IndexOp::Add : IndexOp::Sub;
    IndexId Right;
    IsGood = product(Right) && combine(Op, Sign.Range, Right, Out);
  }
  --Depth;
  return IsGood;
}

/// `(micro-batch)` or `(micro-batch, chunk)`.
bool ScheduleParser::coordinates(Slot &Out) {
  if (!In.expectPunct("(") || !sum(Out.MicroBatch))
    return false;
  Out.Chunk = S.Indices.constant(0);
  if (In.takePunct(",") && !sum(Out.Chunk))
    return false;
  return In.expectPunct(")");
}

/// `to(peer) tag(tag)`, as far as these don't follow from the placement.
bool ScheduleParser::message(Slot &Out) {
  ScheduleBuilder(S).address(Out);
  if (In.takeWord(isSend(Out.Kind) ? "to" : "from") && !inParentheses(Out.Peer))
    return false;
  return !In.takeWord("tag") || inParentheses(Out.Tag);
}

bool ScheduleParser::slot(SlotLoop &To) {
  Slot Out{};
  for (SlotStart How : {SlotStart::With, SlotStart::Overlapped})
    if (In.takeWord(getSpelling(How)))
      Out.Start = How;
  Out.Range = In.peek().Range;
  if (!In.expectSpelling("a slot", Out.Kind))
    return false;
  const bool HasMicroBatch = isCompute(Out.Kind) || isMessage(Out.Kind);
  if ((HasMicroBatch && !coordinates(Out)) ||
      (isMessage(Out.Kind) && !message(Out)))
    return false;
  To.Slots.push_back(Out);
  return true;
}

/// `for i < count phase { slots }`.
bool ScheduleParser::loop(SlotLoop &Out) {
  if (!In.expectWord("for") || !In.expectWord("i") || !In.expectPunct("<"))
    return false;
  const SourceRange Range = In.peek().Range;
  if (!sum(Out.Count))
    return false;
  if (S.Indices.varies(Out.Count)) {
    In.Diags.report(Range, diag::IrSyntax, "a count of iterations",
                    "one that depends on `i`");
    return false;
  }
  return In.expectSpelling("a phase", Out.Phase) &&
         In.expectBraces([&] { return slot(Out); });
}

bool ScheduleParser::program() {
  StageProgram P;
  if (!In.expectWord("program") || !In.expectStages(P.First, P.Count) ||
      !In.expectBraces([&] { return loop(P.Loops.emplace_back()); }))
    return false;
  S.Programs.push_back(std::move(P));
  return true;
}

/// `name = closed form`.
bool ScheduleParser::let() {
  Token Name;
  IndexId Of;
  if (!In.expectToken(Token::Kind::Word, "a name", Name))
    return false;
  if (llvm::any_of(S.Indices.names(),
                   [&](auto &Row) { return Row.second == Name.Text; }))
    return In.twice(Name, "closed form");
  if (S.Indices.names().size() == MaxNames) {
    In.Diags.report(Name.Range, diag::EntryLimit, "the schedule", MaxNames);
    return false;
  }
  if (!In.expectPunct("=") || !sum(Of))
    return false;
  S.Indices.name(Of, Name.Text);
  return true;
}

bool ScheduleParser::size(llvm::StringRef Word, int64_t &Out) {
  return In.expectWord(Word) && In.expectPunct("(") &&
         In.expectInteger(1, Out) && In.expectPunct(")");
}

bool ScheduleParser::parse() {
  return In.expectSpelling("a kind of schedule", S.Kind) &&
         In.expectSpelling("a placement", S.Placement) &&
         In.expectSpelling("a transport", S.Transport) &&
         size("stages", S.Stages) && size("chunks", S.Chunks) &&
         size("micro_batches", S.MicroBatches) && size("group", S.Group) &&
         In.expectBraces(
             [&] { return In.takeWord("let") ? let() : program(); });
}

bool foretrace::ir::parseSchedule(TextReader &In, Schedule &Out) {
  if (!ScheduleParser(In, Out).parse())
    return false;
  Out.prepare();
  return true;
}
