// SPDX-License-Identifier: Apache-2.0
#include "tools/lsp/Server.h"
#include "frontend/Format.h"
#include "frontend/Parse.h"
#include "tools/compiler/AllKeys.h"
#include "tools/lsp/Positions.h"
#include "tools/lsp/Transport.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::lsp {

Server::Server(raw_ostream &Out)
    : Out(Out), Session(std::make_unique<Compiler>()), Keys(allKeys()) {}

void Server::send(StringRef Method, Object Params) {
  writeMessage(Object{{"jsonrpc", "2.0"},
                      {"method", Method},
                      {"params", std::move(Params)}},
               Out);
}

Server::Document *Server::find(const Object &Params) {
  const Object *Of = Params.getObject("textDocument");
  const auto Uri = Of ? Of->getString("uri") : std::nullopt;
  const auto Found = Documents.find(Uri ? pathOf(*Uri) : "");
  return Found == Documents.end() ? nullptr : &Found->second;
}

void Server::handle(StringRef Message) {
  Expected<json::Value> Parsed = json::parse(Message);
  const Object *Of = Parsed ? Parsed->getAsObject() : nullptr;
  if (!Of) {
    if (!Parsed)
      consumeError(Parsed.takeError());
    constexpr int64_t ParseError = -32700;
    return writeMessage(
        Object{{"jsonrpc", "2.0"},
               {"id", nullptr},
               {"error", Object{{"code", ParseError},
                                {"message", "the message is no object"}}}},
        Out);
  }
  const StringRef Method = Of->getString("method").value_or("");
  static const Object None;
  const Object *Given = Of->getObject("params");
  const Object &Params = Given ? *Given : None;
  const json::Value *Id = Of->get("id");
  if (!Id)
    return notify(Method, Params);
  if (Method.empty())
    return; // an answer: nothing was asked
  Object Reply{{"jsonrpc", "2.0"}, {"id", *Id}};
  json::Value Result = answer(Method, Params);
  if (const Object *Made = Result.getAsObject();
      Made && Made->get("code") && Made->get("message"))
    Reply["error"] = std::move(Result);
  else
    Reply["result"] = std::move(Result);
  writeMessage(std::move(Reply), Out);
}

static json::Object capabilities() {
  constexpr int64_t Incremental = 2;
  return json::Object{
      {"positionEncoding", "utf-16"},
      {"textDocumentSync",
       json::Object{{"openClose", true}, {"change", Incremental}}},
      {"documentFormattingProvider", true},
      {"hoverProvider", true},
      {"completionProvider",
       json::Object{{"triggerCharacters", json::Array{"\"", "="}}}},
      {"codeActionProvider", true},
      {"documentSymbolProvider", true},
      {"definitionProvider", true},
      {"inlayHintProvider", true}};
}

json::Value Server::answer(StringRef Method, const Object &Params) {
  if (Method == "initialize")
    return Object{
        {"capabilities", capabilities()},
        {"serverInfo", Object{{"name", "foretrace"}}},
    };
  if (Method == "shutdown") {
    IsShutDown = true;
    return nullptr;
  }
  const Object *Of = Params.getObject("textDocument");
  const Document *D = find(Params);
  if (!D)
    return nullptr;
  if (Method == "textDocument/formatting")
    return format(*D);
  if (Method == "textDocument/hover")
    return hover(*D, Params);
  if (Method == "textDocument/completion")
    return complete(*D, Params);
  if (Method == "textDocument/codeAction")
    return actions(*D, Params);
  if (Method == "textDocument/documentSymbol")
    return symbols(*D);
  if (Method == "textDocument/inlayHint")
    return hints(*D);
  if (Method == "textDocument/definition")
    return define(pathOf(*Of->getString("uri")), *D, Params);
  constexpr int64_t MethodNotFound = -32601;
  return Object{{"code", MethodNotFound},
                {"message", "no such method: " + Method.str()}};
}

void Server::notify(StringRef Method, const Object &Params) {
  if (Method == "exit") {
    IsOver = true;
    return;
  }
  const Object *Of = Params.getObject("textDocument");
  const auto Uri = Of ? Of->getString("uri") : std::nullopt;
  const std::string Path = Uri ? pathOf(*Uri) : "";
  if (Path.empty())
    return;
  if (Method == "textDocument/didOpen") {
    Document &D = Documents[Path];
    D.Text = Of->getString("text").value_or("").str();
    check(Path, D);
  } else if (Document *D = find(Params); !D) {
    return; // it was never opened
  } else if (Method == "textDocument/didChange") {
    if (const json::Array *Changes = Params.getArray("contentChanges"))
      change(*D, *Changes);
    check(Path, *D);
  } else if (Method == "textDocument/didClose") {
    publish(Path, *D, {});
    Documents.erase(Path);
    Session->clearText(Path);
  }
}

/// Applies changes in their order; one without a range is the whole text.
void Server::change(Document &D, const json::Array &Changes) {
  for (const json::Value &Each : Changes) {
    const Object *Of = Each.getAsObject();
    if (!Of)
      continue;
    const StringRef New = Of->getString("text").value_or("");
    const Object *Range = Of->getObject("range");
    const Object *Start = Range ? Range->getObject("start") : nullptr;
    const Object *End = Range ? Range->getObject("end") : nullptr;
    if (!Start || !End) {
      D.Text = New.str();
      continue;
    }
    const size_t From = byteAt(D.Text, *Start);
    const size_t To = std::max(From, byteAt(D.Text, *End));
    D.Text.replace(From, To - From, New.str());
  }
}

/// Whether the text has what makes it a job rather than a page of models.
static bool isJob(const ast::File &File) {
  return any_of(File.Items, [](const ast::Item &I) {
    const auto *S = std::get_if<ast::Section>(&I.Node);
    return S && (S->Keyword.Text == "train" || S->Keyword.Text == "parallel");
  });
}

void Server::check(const std::string &Path, Document &D) {
  // A session keeps all texts that it has read.
  constexpr unsigned MostChecks = 256;
  if (++Checks % MostChecks == 0) {
    Session = std::make_unique<Compiler>();
    for (const auto &[Other, Of] : Documents)
      Session->setText(Other, Of.Text);
  }
  Session->setText(Path, D.Text);
  DiagnosticEngine Parsing;
  SourceFiles Alone;
  const std::optional<ast::File> File =
      parseFore(Alone.text(Alone.add(D.Text, Path)), Parsing);
  FrontendOptions Options;
  Options.OnlyModel = !File || !isJob(*File);
  const bool IsOfModel = Options.OnlyModel;
  Options.IsOfModel = [=](ArrayRef<ir::EmitSpec>) { return IsOfModel; };
  CompiledJob &Job = Session->read(Path, Options);
  D.Derived.reset();
  if (const ir::Program *P = Job.spec() && !IsOfModel ? Job.program() : nullptr)
    D.Derived = P->Spec;
  publish(Path, D, Job.diagnostics());
  Session->forget(Job);
}

static int64_t severityOf(Severity Level) {
  return Level == Severity::Error ? 1 : Level == Severity::Warning ? 2 : 3;
}

json::Object Server::toJson(const Diagnostic &D, StringRef OfPath) {
  const SourceFiles &Sources = Session->sources();
  const auto RangeOf = [&](const Diagnostic &Of) {
    const StringRef Text =
        Of.Range.isValid() ? Sources.text(Of.Range.File).str() : "";
    return rangeOf(Text, Of.Range.Begin, Of.Range.End);
  };
  json::Array Related;
  std::string Message = D.text();
  for (const Diagnostic &Note : D.Notes) {
    const StringRef In =
        Note.Range.isValid() ? Sources.name(Note.Range.File) : OfPath;
    if (Note.Range.isValid() && In.starts_with("/"))
      Related.push_back(Object{
          {"location", Object{{"uri", uriOf(In)}, {"range", RangeOf(Note)}}},
          {"message", Note.text()}});
    else
      Message += "\n" + Note.text();
  }
  return json::Object{{"range", RangeOf(D)},
                      {"severity", severityOf(D.Level)},
                      {"code", getDiagnosticInfo(D.Id).Slug},
                      {"source", "foretrace"},
                      {"message", Message},
                      {"relatedInformation", std::move(Related)}};
}

/// Sends what is wrong, by file; what is in no file of the client is at the
/// start of the document.
void Server::publish(const std::string &Path, Document &D,
                     ArrayRef<Diagnostic> All) {
  std::map<std::string, json::Array> ByUri;
  for (const std::string &Uri : D.Published)
    ByUri[Uri];
  ByUri[uriOf(Path)];
  D.Diagnostics.clear();
  for (const Diagnostic &Of : All) {
    const StringRef In = Of.Range.isValid()
                             ? Session->sources().name(Of.Range.File)
                             : StringRef(Path);
    Object Made = toJson(Of, Path);
    if (In == Path) {
      D.Diagnostics.push_back(Of);
    } else if (!In.starts_with("/")) { // of the library
      Made["range"] = rangeOf("", 0, 0);
      ByUri[uriOf(Path)].push_back(std::move(Made));
      continue;
    }
    ByUri[uriOf(In)].push_back(std::move(Made));
  }
  D.Published.clear();
  for (auto &[Uri, Found] : ByUri) {
    if (!Found.empty())
      D.Published.push_back(Uri);
    send("textDocument/publishDiagnostics",
         Object{{"uri", Uri}, {"diagnostics", std::move(Found)}});
  }
}

json::Value Server::format(const Document &D) {
  DiagnosticEngine Diags;
  SourceFiles Sources;
  const std::optional<std::string> Made =
      formatFore(Sources.text(Sources.add(D.Text, "document")), Diags);
  if (!Made || *Made == D.Text)
    return json::Array();
  return json::Array{
      Object{{"range", rangeOf(D.Text, 0, D.Text.size())}, {"newText", *Made}}};
}

} // namespace foretrace::lsp
