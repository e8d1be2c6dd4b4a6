// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/GoalReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::validate {

using Kind = GoalStatement::Kind;

static constexpr StringRef Blanks = " \t";

/// Skips line ends and comments, and notes a blank, which only we skip: txt2bin
/// takes none before a statement or a comment.
void GoalReader::skipToStatement(GoalStatement &S) {
  for (;;) {
    if (Rest.starts_with(" ") || Rest.starts_with("\t")) {
      Rest = Rest.ltrim(Blanks);
      if (S.BlankLine == 0 && !atLineEnd() && !Rest.starts_with("}"))
        S.BlankLine = Line;
    } else if (Rest.consume_front("\n")) {
      ++Line;
    } else if (Rest.starts_with("//")) {
      Rest = Rest.drop_until([](char C) { return C == '\n'; });
    } else if (Rest.starts_with("/*")) {
      const size_t End = Rest.find("*/");
      const StringRef Comment =
          Rest.take_front(End == StringRef::npos ? End : End + 2);
      Line += Comment.count('\n');
      Rest = Rest.drop_front(Comment.size());
    } else if (Rest.starts_with("\r\n") || Rest == "\r") {
      Rest = Rest.drop_front();
    } else {
      return;
    }
  }
}

GoalStatement GoalReader::fail(GoalStatement S, StringRef Expected) {
  Rest = Rest.drop_until([](char C) { return C == '\n'; });
  S.Is = Kind::Malformed;
  S.Other = Expected;
  return S;
}

StringRef GoalReader::takeWord() {
  Rest = Rest.ltrim(Blanks);
  if (Rest.empty() || !isAlpha(Rest.front()))
    return {};
  const StringRef Word =
      Rest.take_while([](char C) { return isAlnum(C) || C == '_'; });
  Rest = Rest.drop_front(Word.size());
  return Word;
}

bool GoalReader::takeNumber(GoalStatement &S, uint64_t &Value) {
  Rest = Rest.ltrim(Blanks);
  const StringRef Digits = Rest.take_while(isDigit);
  if (Digits.empty())
    return false;
  Rest = Rest.drop_front(Digits.size());
  if (Digits.getAsInteger(10, Value))
    S.Overflow = Digits;
  return true;
}

bool GoalReader::take(char C) {
  Rest = Rest.ltrim(Blanks);
  return Rest.consume_front(StringRef(&C, 1));
}

bool GoalReader::atLineEnd() {
  Rest = Rest.ltrim(Blanks);
  StringRef End = Rest;
  End.consume_front("\r");
  return End.empty() || End.starts_with("\n");
}

GoalStatement GoalReader::readDependence(GoalStatement S) {
  const StringRef Word = takeWord();
  if (Word != "requires" && Word != "irequires")
    return fail(S, "`:`, `requires` or `irequires`");
  S.Is = Word == "requires" ? Kind::Requires : Kind::IRequires;
  S.Other = takeWord();
  if (S.Other.empty())
    return fail(S, "a label");
  return atLineEnd() ? S : fail(S, "the end of the line");
}

StringRef GoalReader::readPeer(GoalStatement &S) {
  const bool IsSend = S.Is == Kind::Send;
  if (takeWord() != "b")
    return "`b`";
  if (takeWord() != (IsSend ? "to" : "from"))
    return IsSend ? "`to`" : "`from`";
  Rest = Rest.ltrim(Blanks);
  if (!IsSend && Rest.consume_front("-1"))
    return "";
  uint64_t Peer = 0;
  if (!takeNumber(S, Peer))
    return "a rank";
  S.Peer = Peer;
  return "";
}

/// `tag`, `cpu` and `nic`, in this order; a calculation has only `cpu`.
StringRef GoalReader::readOptions(GoalStatement &S) {
  struct Option {
    StringRef Word;
    uint64_t &Value;
    bool IsOfCalc;
  } Options[] = {
      {"tag", S.Tag, false}, {"cpu", S.Cpu, true}, {"nic", S.Nic, false}};
  auto *Next = std::begin(Options);
  while (!atLineEnd()) {
    const StringRef Word = takeWord();
    Next = std::find_if(Next, std::end(Options), [&](const Option &O) {
      return O.Word == Word && (O.IsOfCalc || S.Is != Kind::Calc);
    });
    if (Next == std::end(Options))
      return S.Is == Kind::Calc ? "`cpu` or the end of the line"
                                : "`tag`, `cpu`, `nic` or the end of the line";
    Rest = Rest.ltrim(Blanks);
    if (Word == "tag" && Rest.consume_front("-1"))
      S.IsAnyTag = true;
    else if (!takeNumber(S, Next->Value))
      return "an integer";
    ++Next;
  }
  return "";
}

GoalStatement GoalReader::readOperation(GoalStatement S, StringRef Word) {
  S.Is = Word == "calc" ? Kind::Calc : Word == "send" ? Kind::Send : Kind::Recv;
  if (Word != "calc" && Word != "send" && Word != "recv")
    return fail(S, "`calc`, `send` or `recv`");
  if (!takeNumber(S, S.Amount))
    return fail(S, "an integer");
  StringRef Expected = S.Is == Kind::Calc ? "" : readPeer(S);
  if (Expected.empty())
    Expected = readOptions(S);
  return Expected.empty() ? S : fail(S, Expected);
}

GoalStatement GoalReader::next() {
  GoalStatement S;
  skipToStatement(S);
  S.Line = Line;
  if (Rest.empty()) {
    S.BlankLine = 0;
    return S;
  }
  if (take('}')) {
    S.Is = Kind::EndOfRank;
    return S;
  }
  const StringRef Word = takeWord();
  if (Word == "num_ranks" || Word == "rank") {
    S.Is = Word == "rank" ? Kind::Rank : Kind::NumRanks;
    if (!takeNumber(S, S.Amount))
      return fail(S, "an integer");
    return Word == "rank" && !take('{') ? fail(S, "`{`") : S;
  }
  if (is_contained({"calc", "send", "recv"}, Word))
    return readOperation(S, Word);
  if (Word.empty())
    return fail(S, "`rank`, an operation, a label or `}`");
  S.Label = Word;
  return take(':') ? readOperation(S, takeWord()) : readDependence(S);
}

} // namespace foretrace::validate
