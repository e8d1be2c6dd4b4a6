// SPDX-License-Identifier: Apache-2.0
//
// A language server (LSP 3.17) on the compiler's session.
#pragma once

#include "frontend/KeyList.h"
#include "tools/lsp/Names.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <memory>

namespace foretrace::lsp {

/// A request that is answered with an error of the protocol.
class RequestError : public llvm::ErrorInfo<RequestError> {
public:
  enum Code : int64_t {
    ParseError = -32700,
    MethodNotFound = -32601,
    InvalidParams = -32602,
    RequestFailed = -32803,
    RequestCancelled = -32800,
  };
  static char ID;

  RequestError(Code Is, std::string Message)
      : Is(Is), Message(std::move(Message)) {}
  void log(llvm::raw_ostream &OS) const override { OS << Message; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }
  llvm::json::Object toJson() const {
    return llvm::json::Object{{"code", int64_t(Is)}, {"message", Message}};
  }

private:
  Code Is;
  std::string Message;
};

/// Answers messages, one after the other. Malformed messages get an error, and
/// never end the server.
class Server {
public:
  explicit Server(llvm::raw_ostream &Out);

  /// Handles the text of a message. Texts are checked before a request is
  /// answered, or by checkChanged().
  void handle(llvm::StringRef Message);
  /// Checks all texts if some have changed, and sends their diagnostics.
  /// Callers with more messages waiting call it after the last one.
  void checkChanged();
  /// Answers a request that the client has cancelled.
  void cancel(llvm::StringRef Message);
  /// Returns whether the client has sent `exit`.
  bool isOver() const { return IsOver; }
  /// Returns whether it has sent `shutdown` before.
  bool isShutDown() const { return IsShutDown; }

private:
  /// A text that the client has open.
  struct Document {
    std::string Uri; ///< as the client writes it
    std::string Text;
    std::vector<Diagnostic> Diagnostics; ///< of the last check, in this file
    /// Results for the text, if it is a job without errors.
    struct Job {
      ir::Spec Spec;              ///< with all derived values
      int64_t Parameters, Active; ///< of the model; ir::NoValue from 2^63 on
      int64_t Peak;               ///< bytes of one rank
    };
    std::optional<Job> Derived;
    /// Findings of the last check, by URI.
    std::map<std::string, std::vector<llvm::json::Object>> Found;
  };
  using Object = llvm::json::Object;
  using Value = llvm::json::Value;

  llvm::Expected<Value> answer(llvm::StringRef Method, const Object &Params);
  void notify(llvm::StringRef Method, const Object &Params);
  void send(llvm::StringRef Method, Object Params);
  Document *find(const Object &Params);

  void change(Document &D, const llvm::json::Array &Changes);
  void check(const std::string &Path, Document &D);
  static Document::Job derivedOf(const ir::Program &P);
  void publish(const std::string &Path, Document &D,
               llvm::ArrayRef<Diagnostic> All);
  void sendFound(llvm::StringRef Uri);
  std::string uriOfFile(llvm::StringRef Path) const;
  Object toJson(const Diagnostic &D, llvm::StringRef OfPath);

  static Object capabilities();
  Value format(const Document &D);
  Value hover(const Document &D, const Object &Params);
  std::string aboutName(const Document &D, size_t Byte, SourceRange &At) const;
  Value complete(const Document &D, const Object &Params);
  Value actions(const Document &D, const Object &Params);
  Value symbols(const Document &D);
  Value hints(const Document &D);
  Value folds(const Document &D);
  Value tokens(const Document &D);
  static Object tokenLegend();
  Value signature(const Document &D, const Object &Params);

  /// Names of a text, of its imports, and of files that may use its names.
  Names namesAround(const Document &D) const;
  Names namesOf(const Document &D) const; ///< without the latter
  Value define(const Document &D, const Object &Params);
  Value references(const Document &D, const Object &Params);
  Value mayRename(const Document &D, const Object &Params);
  llvm::Expected<Value> rename(const Document &D, const Object &Params);

  bool isSection(llvm::StringRef Word) const;
  const KeyEntry *findKey(llvm::StringRef Section, llvm::StringRef Name) const;

  llvm::raw_ostream &Out;
  std::unique_ptr<Compiler> Session;
  unsigned Checks = 0;
  std::vector<KeyEntry> Keys;
  std::map<std::string, Document> Documents; ///< by path
  bool IsOver = false, IsShutDown = false, HasChanged = false;
};

} // namespace foretrace::lsp
