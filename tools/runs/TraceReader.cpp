// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/TraceReader.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include <charconv>
#include <cmath>

using namespace foretrace;
using namespace foretrace::runs;
using llvm::StringRef;

namespace {

/// Takes `key=value` after `key=value` off a text. Values are not quoted; a
/// shape ends with its bracket, a description with the key that follows it,
/// everything else with a comma.
class Fields {
public:
  explicit Fields(StringRef Text) : Rest(Text) {}

  /// The value of \p Key, skipping keys before it; nothing if it isn't there.
  std::optional<StringRef> find(StringRef Key) {
    size_t At = position(Key);
    if (At == StringRef::npos)
      return std::nullopt;
    Rest = Rest.drop_front(At + Key.size() + 1);
    size_t End = Rest.starts_with("[") ? Rest.find(']') + 1 : Rest.find(',');
    StringRef Value = Rest.take_front(End);
    Rest = Rest.drop_front(Value.size());
    return Value;
  }
  /// As find, but the value goes on to \p Next.
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
  /// What follows `Key=`; nothing if it isn't there.
  std::optional<StringRef> findRest(StringRef Key) const {
    const size_t At = position(Key);
    if (At == StringRef::npos)
      return std::nullopt;
    return Rest.drop_front(At + Key.size() + 1);
  }

private:
  /// Where `key=` begins, at the start or after a comma.
  size_t position(StringRef Key) const {
    // Mostly it is the one that comes next.
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

/// A number of ms, or None.
bool isTime(StringRef Text) { return Text == "None" || readNumber(Text); }

llvm::Error parseCall(StringRef Text, SeenCall &Call) {
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
  if (!isTime(Call.Duration) || !isTime(Call.Timestamp))
    return fail("the time of call `" + Call.Function + "` is no number");
  return llvm::Error::success();
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

std::optional<llvm::SmallVector<int64_t, 4>>
foretrace::runs::readShape(StringRef Text) {
  if (!Text.consume_front("[") || !Text.consume_back("]"))
    return std::nullopt;
  llvm::SmallVector<StringRef, 4> Parts;
  Text.split(Parts, ", ");
  llvm::SmallVector<int64_t, 4> Sizes;
  for (StringRef Part : Parts)
    if (Part.getAsInteger(10, Sizes.emplace_back()))
      return std::nullopt;
  return Sizes;
}

std::optional<double> foretrace::runs::readNumber(StringRef Text) {
  double Value;
  auto [End, Failed] = std::from_chars(Text.begin(), Text.end(), Value);
  if (Failed != std::errc() || End != Text.end() || !std::isfinite(Value))
    return std::nullopt;
  return Value;
}

llvm::Error foretrace::runs::parseRow(StringRef Line, SeenRow &Row) {
  Row.Calls.clear();
  Row.Rank = -1;
  Line.consume_back("\r");
  StringRef Text = Line;
  if (!Text.consume_front("rank:") || Text.consumeInteger(10, Row.Rank) ||
      !Text.consume_front(":"))
    return fail("the row does not begin with `rank:N:`");
  size_t Open = Text.find('(');
  if (Open == StringRef::npos || Open == 0)
    return fail("the row names no operation");
  Row.Op = Text.take_front(Open);
  Fields F(Text.drop_front(Open + 1));
  std::optional<StringRef> Stage = F.find("stage_id");
  std::optional<StringRef> Batch = F.find("batch_id");
  if (!Stage || Stage->getAsInteger(10, Row.Stage) || !Batch ||
      Batch->getAsInteger(10, Row.Batch))
    return fail("the row lacks `stage_id` or `batch_id`, whole numbers");
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
    std::optional<StringRef> Value =
        K.Next.empty() ? F.find(K.Key) : F.findUntil(K.Key, K.Next);
    if (!Value)
      return fail("the row lacks `" + K.Key + "`");
    K.Value = *Value;
  }
  if (!isTime(Row.Duration) || !isTime(Row.Timestamp))
    return fail("`duration` or `timestamp` is no number");
  const std::optional<StringRef> Calls = F.findRest("sub_operations");
  if (!Calls)
    return fail("the row lacks `sub_operations`");
  return parseCalls(*Calls, Row);
}
