// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/TraceReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <charconv>
#include <cmath>

using namespace foretrace;
using namespace foretrace::runs;
using llvm::StringRef;

namespace {

/// Consumes one `key=value` of a text after another. Values are not quoted; a
/// shape ends with its bracket, a description with the next key, everything
/// else with a comma.
class Fields {
public:
  explicit Fields(StringRef Text) : Rest(Text) {}

  bool has(StringRef Key) const { return position(Key) != StringRef::npos; }
  /// The value of \p Key, skipping keys before it; nothing if it isn't there.
  std::optional<StringRef> find(StringRef Key) {
    size_t At = position(Key);
    if (At == StringRef::npos)
      return std::nullopt;
    Rest = Rest.drop_front(At + Key.size() + 1);
    const size_t Closed = Rest.starts_with("[") ? Rest.find(']') : 0;
    StringRef Value = Rest.take_front(Rest.find(',', Closed));
    Rest = Rest.drop_front(Value.size());
    return Value;
  }
  /// Like find, but the value extends to \p Next; nothing if that is missing.
  std::optional<StringRef> findUntil(StringRef Key, StringRef Next) {
    size_t At = position(Key);
    if (At == StringRef::npos)
      return std::nullopt;
    Rest = Rest.drop_front(At + Key.size() + 1);
    size_t End = position(Next);
    if (End == StringRef::npos || End == 0)
      return std::nullopt;
    StringRef Value = Rest.take_front(End - 1);
    Rest = Rest.drop_front(End - 1);
    return Value;
  }

private:
  /// Returns where `key=` begins, at the start or after a comma.
  size_t position(StringRef Key) const {
    // Mostly it is the next one.
    const size_t Comma = Rest.starts_with(",");
    if (Rest.drop_front(Comma).starts_with(Key) &&
        Rest.drop_front(Comma + Key.size()).starts_with("="))
      return Comma;
    for (size_t At = Rest.find(Key); At != StringRef::npos;
         At = Rest.find(Key, At + 1)) {
      bool Begins = At == 0 || Rest[At - 1] == ',';
      if (Begins && Rest.drop_front(At + Key.size()).starts_with("="))
        return At;
    }
    return StringRef::npos;
  }

  StringRef Rest;
};

llvm::Error fail(const llvm::Twine &Text) {
  return llvm::createStringError(Text);
}

/// The kind of value that a key has.
enum class Holds : unsigned char { Text, Number };
struct Key {
  llvm::StringLiteral Name;
  Holds Value = Holds::Text;
};
constexpr Key RowKeys[] = {{"stage_id", Holds::Number},
                           {"batch_id", Holds::Number},
                           {"mg_state"},
                           {"duration", Holds::Number},
                           {"description"},
                           {"group_kind"},
                           {"input__shape"},
                           {"input__dtype"},
                           {"timestamp", Holds::Number}};
constexpr Key CallKeys[] = {{"trace_src_func"},
                            {"duration", Holds::Number},
                            {"timestamp", Holds::Number},
                            {"input__shape"},
                            {"input__dtype"},
                            {"func_name"},
                            {"group"},
                            {"comm_func"}};

/// Reports a duplicate key, since its value is ambiguous, and a number with a
/// comma, since it would be read up to there.
llvm::Error checkFields(StringRef Text, llvm::ArrayRef<Key> Keys) {
  uint32_t Given = 0; // a bit for each key
  StringRef Number;   // the previous field, if it is a number
  while (!Text.empty()) {
    const StringRef Field = Text.take_until([](char C) { return C == ','; });
    Text = Text.drop_front(std::min(Text.size(), Field.size() + 1));
    const auto [Name, Value] = Field.split('=');
    const bool IsField = Name.size() < Field.size();
    // A word at the end is a key of a line that was cut off.
    const bool IsCut =
        Text.empty() && !Field.empty() && llvm::isAlpha(Field[0]);
    if (!IsField && !Number.empty() && !IsCut)
      return fail("`" + Number + "," + Field +
                  "` has a comma: decimals follow a point");
    Number = "";
    const auto *K = llvm::find_if(
        Keys, [Of = Name](const Key &Known) { return Known.Name == Of; });
    if (!IsField || K == Keys.end())
      continue;
    const uint32_t Bit = uint32_t(1) << (K - Keys.begin());
    if (Given & Bit)
      return fail("`" + Name + "` is given twice, the second time as `" +
                  Value + "`");
    Given |= Bit;
    if (K->Value == Holds::Number)
      Number = Field;
  }
  return llvm::Error::success();
}

/// Checks that both are times; \p Of names what they are times of.
llvm::Error checkTimes(StringRef Duration, StringRef Timestamp,
                       const llvm::Twine &Of) {
  if (std::string Why = whyNoTime(Duration, MaxDuration); !Why.empty())
    return fail("`duration`" + Of + " is " + Why);
  if (std::string Why = whyNoTime(Timestamp, MaxTimestamp); !Why.empty())
    return fail("`timestamp`" + Of + " is " + Why);
  return llvm::Error::success();
}

llvm::Error parseCall(StringRef Text, SeenCall &Call) {
  if (llvm::Error E = checkFields(Text, CallKeys))
    return E;
  Fields F(Text);
  const struct {
    llvm::StringLiteral Key;
    StringRef &Value;
    bool IsNeeded;
  } Keys[] = {{"trace_src_func", Call.Function, true},
              {"duration", Call.Duration, true},
              {"timestamp", Call.Timestamp, true},
              {"input__shape", Call.Shape, false},
              {"input__dtype", Call.DType, false},
              {"func_name", Call.Name, false},
              {"group", Call.Group, false},
              {"comm_func", Call.Comm, false}};
  for (const auto &K : Keys) {
    std::optional<StringRef> Value = F.find(K.Key);
    if (!Value && K.IsNeeded)
      return fail("a call lacks `" + K.Key + "`");
    K.Value = Value.value_or("");
  }
  return checkTimes(Call.Duration, Call.Timestamp,
                    " of call `" + Call.Function + "`");
}

/// `['...', '...'])`
llvm::Error parseCalls(StringRef Text, SeenRow &Row) {
  if (!Text.consume_front("["))
    return fail("`sub_operations` is no list");
  while (Text.consume_front("'")) {
    auto [Quoted, After] = Text.split('\'');
    if (Quoted.size() == Text.size())
      return fail("the text of a call does not end");
    if (llvm::Error E = parseCall(Quoted, Row.Calls.emplace_back()))
      return E;
    Text = After;
    Text.consume_front(", ");
  }
  if (Text != "])")
    return fail("the row does not end with `])`");
  return llvm::Error::success();
}

} // namespace

std::optional<int64_t> foretrace::runs::readCount(StringRef Text) {
  int64_t Value;
  if (Text.empty() || !llvm::all_of(Text, llvm::isDigit) ||
      (Text.size() > 1 && Text.front() == '0') || Text.getAsInteger(10, Value))
    return std::nullopt;
  return Value;
}

std::optional<llvm::SmallVector<int64_t, 4>>
foretrace::runs::readShape(StringRef Text) {
  if (!Text.consume_front("[") || !Text.consume_back("]"))
    return std::nullopt;
  llvm::SmallVector<StringRef, 4> Parts;
  Text.split(Parts, ", ");
  llvm::SmallVector<int64_t, 4> Sizes;
  for (StringRef Part : Parts) {
    const std::optional<int64_t> Size = readCount(Part);
    if (!Size)
      return std::nullopt;
    Sizes.push_back(*Size);
  }
  return Sizes;
}

std::optional<double> foretrace::runs::readNumber(StringRef Text) {
  const StringRef Digits = Text.ltrim('-');
  if (Digits.size() > 1 && Digits[0] == '0' && llvm::isDigit(Digits[1]))
    return std::nullopt;
  const size_t Point = Digits.find('.');
  const bool HasDigits =
      Digits.take_front().find_if(llvm::isDigit) == 0 &&
      (Point == StringRef::npos ||
       Digits.drop_front(Point + 1).take_front().find_if(llvm::isDigit) == 0);
  if (!HasDigits)
    return std::nullopt;
  double Value;
  auto [End, Failed] = std::from_chars(Text.begin(), Text.end(), Value);
  if (Failed != std::errc() || End != Text.end() || !std::isfinite(Value))
    return std::nullopt;
  return Value;
}

std::string foretrace::runs::whyNoTime(StringRef Text, double Most) {
  if (Text == "None")
    return "";
  const std::optional<double> Value = readNumber(Text);
  if (!Value)
    return (Text.empty() ? "empty" : Text.str()) + ", no decimal number";
  if (Text.starts_with("-") || *Value > Most)
    return llvm::formatv("{0}; it is from 0 to {1:F0} ms", Text, Most);
  return "";
}

/// Ranks, stages and batches are counted; no run has as many as that.
static bool readIndex(StringRef Text, int64_t &Into) {
  constexpr int64_t Limit = int64_t(1) << 31;
  const std::optional<int64_t> Value = readCount(Text);
  if (!Value || *Value >= Limit)
    return false;
  Into = *Value;
  return true;
}

/// Parses the fields before the calls of a row.
static llvm::Error parseFields(StringRef Text, SeenRow &Row) {
  if (llvm::Error E = checkFields(Text, RowKeys))
    return E;
  Fields F(Text);
  const std::pair<llvm::StringLiteral, int64_t &> Numbers[] = {
      {"stage_id", Row.Stage}, {"batch_id", Row.Batch}};
  for (const auto &[Key, Into] : Numbers) {
    std::optional<StringRef> Value = F.find(Key);
    if (!Value)
      return fail("the row lacks `" + Key + "`");
    if (!readIndex(*Value, Into))
      return fail("`" + Key + "` is " + (Value->empty() ? "empty" : *Value) +
                  ", no whole number below 2^31 as Python prints it");
  }
  const struct {
    llvm::StringLiteral Key;
    StringRef &Value;
    llvm::StringLiteral Next; ///< for free text
  } Keys[] = {{"mg_state", Row.State, ""},
              {"duration", Row.Duration, ""},
              {"description", Row.Description, "group_kind"},
              {"group_kind", Row.GroupKind, ""},
              {"input__shape", Row.Shape, ""},
              {"input__dtype", Row.DType, ""},
              {"timestamp", Row.Timestamp, ""}};
  for (const auto &K : Keys) {
    const bool IsThere = F.has(K.Key);
    std::optional<StringRef> Value =
        K.Next.empty() ? F.find(K.Key) : F.findUntil(K.Key, K.Next);
    if (!Value)
      return fail("the row lacks `" + (IsThere ? K.Next : K.Key) + "`");
    K.Value = *Value;
  }
  return checkTimes(Row.Duration, Row.Timestamp, "");
}

llvm::Error foretrace::runs::parseRow(StringRef Line, SeenRow &Row) {
  Row.Calls.clear();
  Row.Rank = -1;
  Line.consume_back("\r");
  StringRef Text = Line;
  if (!Text.consume_front("rank:"))
    return fail("the row does not begin with `rank:N:`");
  const StringRef Rank = Text.take_while(llvm::isDigit);
  Text = Text.drop_front(Rank.size());
  if (!readIndex(Rank, Row.Rank) || !Text.consume_front(":"))
    return fail("the row does not begin with `rank:N:`");
  size_t Open = Text.find('(');
  if (Open == StringRef::npos || Open == 0)
    return fail("the row names no operation");
  Row.Op = Text.take_front(Open);
  Text = Text.drop_front(Open + 1);
  // Calls have fields of the same names.
  constexpr llvm::StringLiteral OfCalls = ",sub_operations=";
  const size_t End = Text.find(OfCalls);
  if (llvm::Error E = parseFields(Text.take_front(End), Row))
    return E;
  if (End == StringRef::npos)
    return fail("the row lacks `sub_operations`");
  return parseCalls(Text.drop_front(End + OfCalls.size()), Row);
}
