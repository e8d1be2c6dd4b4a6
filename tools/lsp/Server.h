// SPDX-License-Identifier: Apache-2.0
//
// A language server (LSP 3.17) on the compiler's session.
#ifndef FORETRACE_TOOLS_LSP_SERVER_H
#define FORETRACE_TOOLS_LSP_SERVER_H

#include "frontend/KeyList.h"
#include "tools/compiler/Compiler.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <memory>

namespace foretrace::lsp {

/// Answers messages, one after the other. What a client says wrongly is an
/// error to it, never an end.
class Server {
public:
  explicit Server(llvm::raw_ostream &Out);

  /// Handles the text of a message.
  void handle(llvm::StringRef Message);
  /// Whether the client said that it is done, and whether it was polite.
  bool isOver() const { return IsOver; }
  bool isShutDown() const { return IsShutDown; }

private:
  /// A text that the client has open.
  struct Document {
    std::string Text;
    std::vector<Diagnostic> Diagnostics; ///< of the last check, in this file
    /// The job with all derived values, if the text is one without errors.
    std::optional<ir::Spec> Derived;
    std::vector<std::string> Published; ///< URIs that have diagnostics of it
  };
  using Object = llvm::json::Object;
  using Value = llvm::json::Value;

  Value answer(llvm::StringRef Method, const Object &Params);
  void notify(llvm::StringRef Method, const Object &Params);
  void send(llvm::StringRef Method, Object Params);
  Document *find(const Object &Params);

  void change(Document &D, const llvm::json::Array &Changes);
  void check(const std::string &Path, Document &D);
  void publish(const std::string &Path, Document &D,
               llvm::ArrayRef<Diagnostic> All);
  Object toJson(const Diagnostic &D, llvm::StringRef OfPath);

  Value format(const Document &D);
  Value hover(const Document &D, const Object &Params);
  Value complete(const Document &D, const Object &Params);
  Value actions(const Document &D, const Object &Params);
  Value symbols(const Document &D);
  Value hints(const Document &D);
  Value define(const std::string &Path, const Document &D,
               const Object &Params);

  bool isSection(llvm::StringRef Word) const;
  const KeyEntry *findKey(llvm::StringRef Section, llvm::StringRef Name) const;

  llvm::raw_ostream &Out;
  std::unique_ptr<Compiler> Session;
  unsigned Checks = 0; ///< of this session
  std::vector<KeyEntry> Keys;
  std::map<std::string, Document> Documents; ///< by path
  bool IsOver = false, IsShutDown = false;
};

} // namespace foretrace::lsp

#endif
