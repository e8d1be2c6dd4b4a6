// SPDX-License-Identifier: Apache-2.0
#include "tools/lsp/Inbox.h"
#include "lang/ParseJson.h"
#include "tools/lsp/Transport.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace foretrace::lsp {

/// Returns the field of a message; null if it is none or lacks it.
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
