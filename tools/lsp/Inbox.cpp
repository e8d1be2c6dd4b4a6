// SPDX-License-Identifier: Apache-2.0
#include "tools/lsp/Inbox.h"
#include "lang/ParseJson.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::lsp {

/// Reads a line without its end; nothing at the end of \p In.
static std::optional<std::string> readLine(std::FILE *In) {
  constexpr size_t MaxLength = 4096;
  std::string Line;
  for (int C = std::getc(In); C != EOF; C = std::getc(In)) {
    if (C == '\n') {
      if (!Line.empty() && Line.back() == '\r')
        Line.pop_back();
      return Line;
    }
    if (Line.size() == MaxLength)
      return std::nullopt;
    Line += static_cast<char>(C);
  }
  return std::nullopt;
}

/// Reads the text of the next message: a header with `Content-Length`, and a
/// JSON object. Nothing at the end of \p In, or after a header without a length
/// or with one above 64 MiB.
static std::optional<std::string> readMessage(std::FILE *In) {
  constexpr size_t MaxSize = size_t(64) << 20;
  size_t Size = 0;
  while (std::optional<std::string> Line = readLine(In)) {
    if (Line->empty()) {
      if (Size == 0 || Size > MaxSize)
        return std::nullopt;
      std::string Text(Size, '\0');
      if (std::fread(Text.data(), 1, Size, In) != Size)
        return std::nullopt;
      return Text;
    }
    StringRef Header = *Line;
    if (Header.consume_front_insensitive("content-length:"))
      if (!to_integer(Header.trim(), Size, 10))
        return std::nullopt;
  }
  return std::nullopt;
}

/// Returns the field of a message; null if it has none.
static json::Value fieldOf(StringRef Message, StringRef Name) {
  constexpr int MostNested = 256;
  Expected<json::Value> Parsed = parseJson(Message, MostNested);
  if (!Parsed) {
    consumeError(Parsed.takeError());
    return nullptr;
  }
  const json::Object *Fields = Parsed->getAsObject();
  const json::Value *Found = Fields ? Fields->get(Name) : nullptr;
  return Found ? *Found : nullptr;
}

Inbox::Inbox(std::FILE *In) : Reader([this, In] { read(In); }) {}

void Inbox::read(std::FILE *In) {
  for (bool IsLast = false; !IsLast;) {
    std::optional<std::string> Message = readMessage(In);
    IsLast = !Message || (StringRef(*Message).contains("exit") &&
                          fieldOf(*Message, "method") == json::Value("exit"));
    const std::lock_guard<std::mutex> Held(Lock);
    IsAtEnd = IsLast;
    if (Message)
      Waiting.push_back(std::move(*Message));
    HasCome.notify_one();
  }
}

std::optional<std::string> Inbox::next() {
  std::unique_lock<std::mutex> Held(Lock);
  HasCome.wait(Held, [&] { return !Waiting.empty() || IsAtEnd; });
  if (Waiting.empty())
    return std::nullopt;
  std::string Message = std::move(Waiting.front());
  Waiting.pop_front();
  return Message;
}

bool Inbox::isEmpty() {
  const std::lock_guard<std::mutex> Held(Lock);
  return Waiting.empty();
}

bool Inbox::isCancelled(StringRef Message) {
  constexpr StringLiteral Cancel = "$/cancelRequest";
  const std::lock_guard<std::mutex> Held(Lock);
  std::optional<json::Value> Id; // of the request, when it is needed
  return any_of(Waiting, [&](StringRef Later) {
    if (!Later.contains(Cancel))
      return false;
    const json::Value Params = fieldOf(Later, "params");
    const json::Object *Fields = Params.getAsObject();
    const json::Value *Asked = Fields ? Fields->get("id") : nullptr;
    if (!Asked || fieldOf(Later, "method") != json::Value(Cancel))
      return false;
    if (!Id)
      Id = fieldOf(Message, "id");
    return *Asked == *Id && *Id != json::Value(nullptr);
  });
}

} // namespace foretrace::lsp
