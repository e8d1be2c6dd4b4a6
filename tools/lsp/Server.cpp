// SPDX-License-Identifier: Apache-2.0
#include "tools/lsp/Server.h"
#include "analysis/Figures.h"
#include "analysis/ModelParameters.h"
#include "frontend/Format.h"
#include "frontend/Parse.h"
#include "lang/ParseJson.h"
#include "tools/compiler/AllKeys.h"
#include "tools/lsp/Positions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace::lsp {

constexpr int MostNested = 256;

Server::Server(raw_ostream &Out)
    : Out(Out), Session(std::make_unique<Compiler>()), Keys(allKeys()) {}

/// Writes a message as `readMessage` reads it.
static void writeMessage(const json::Value &Message, raw_ostream &Out) {
  std::string Text;
  raw_string_ostream(Text) << Message;
  Out << "Content-Length: " << Text.size() << "\r\n\r\n" << Text;
  Out.flush();
}

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

char RequestError::ID = 0;

static json::Object errorReply(json::Value Id, RequestError::Code Code,
                               StringRef Message) {
  return json::Object{{"jsonrpc", "2.0"},
                      {"id", std::move(Id)},
                      {"error", RequestError(Code, Message.str()).toJson()}};
}

void Server::cancel(StringRef Message) {
  if (Expected<json::Value> Parsed = parseJson(Message, MostNested)) {
    if (const Object *Of = Parsed->getAsObject())
      if (const json::Value *Id = Of->get("id"))
        writeMessage(errorReply(*Id, RequestError::RequestCancelled,
                                "the client has cancelled the request"),
                     Out);
  } else {
    consumeError(Parsed.takeError());
  }
}

void Server::handle(StringRef Message) {
  Expected<json::Value> Parsed = parseJson(Message, MostNested);
  const Object *Of = Parsed ? Parsed->getAsObject() : nullptr;
  if (!Of) {
    if (!Parsed)
      consumeError(Parsed.takeError());
    return writeMessage(errorReply(nullptr, RequestError::ParseError,
                                   "the message is no object"),
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
  checkChanged();
  Expected<Value> Result = answer(Method, Params);
  if (Result)
    return writeMessage(
        Object{{"jsonrpc", "2.0"}, {"id", *Id}, {"result", std::move(*Result)}},
        Out);
  handleAllErrors(Result.takeError(), [&](const RequestError &E) {
    writeMessage(Object{{"jsonrpc", "2.0"}, {"id", *Id}, {"error", E.toJson()}},
                 Out);
  });
}

json::Object Server::capabilities() {
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
      {"referencesProvider", true},
      {"renameProvider", json::Object{{"prepareProvider", true}}},
      {"foldingRangeProvider", true},
      {"semanticTokensProvider",
       json::Object{{"legend", tokenLegend()}, {"full", true}}},
      {"signatureHelpProvider",
       json::Object{{"triggerCharacters", json::Array{"(", ","}}}},
      {"inlayHintProvider", true}};
}

Expected<json::Value> Server::answer(StringRef Method, const Object &Params) {
  if (Method == "initialize")
    return Object{
        {"capabilities", capabilities()},
        {"serverInfo", Object{{"name", "foretrace"}}},
    };
  if (Method == "shutdown") {
    IsShutDown = true;
    return Value(nullptr);
  }
  using Handler =
      Expected<Value> (*)(Server &, const Document &, const Object &);
  static constexpr std::pair<StringLiteral, Handler> Handlers[] = {
#define REQUEST(NAME, ...)                                                     \
  {"textDocument/" NAME,                                                       \
   [](Server &S, const Document &D, [[maybe_unused]] const Object &Of)         \
       -> Expected<Value> { return S.__VA_ARGS__; }},
#include "tools/lsp/Requests.def"
  };
  const auto *Known =
      find_if(Handlers, [&](const auto &Row) { return Row.first == Method; });
  if (Known == std::end(Handlers))
    return make_error<RequestError>(RequestError::MethodNotFound,
                                    "no such method: " + Method.str());
  const Document *D = find(Params);
  return D ? Known->second(*this, *D, Params) : Expected<Value>(nullptr);
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
    D.Uri = Uri->str();
    D.Text = Of->getString("text").value_or("").str();
    HasChanged = true;
  } else if (Document *D = find(Params); !D) {
    return; // it was never opened
  } else if (Method == "textDocument/didChange") {
    if (const json::Array *Changes = Params.getArray("contentChanges"))
      change(*D, *Changes);
    HasChanged = true;
  } else if (Method == "textDocument/didClose") {
    publish(Path, *D, {});
    Documents.erase(Path);
    Session->clearText(Path);
    HasChanged = true;
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

/// Returns whether the text is a job rather than a page of models.
static bool isJob(const ast::File &File) {
  return any_of(File.Items, [](const ast::Item &I) {
    const auto *S = std::get_if<ast::Section>(&I.Node);
    return S && (S->Keyword.Text == "train" || S->Keyword.Text == "parallel");
  });
}

/// Checks all texts, as others may import the one that has changed.
void Server::checkChanged() {
  if (!HasChanged)
    return;
  HasChanged = false;
  for (const auto &[Path, D] : Documents)
    Session->setText(Path, D.Text);
  for (auto &[Path, D] : Documents)
    check(Path, D);
}

Server::Document::Job Server::derivedOf(const ir::Program &P) {
  ir::ExprOverlay Sizes(P);
  const ParameterCount Parameters = modelParameters(Sizes);
  JobFigures Figures(Sizes, Validity::ThisJob);
  const std::optional<ir::Expr> Peak = Figures.of(FigureId::Peak);
  return {P.Spec, Parameters.All.value(), Parameters.Active.value(),
          Peak ? Peak->value() : ir::NoValue};
}

void Server::check(const std::string &Path, Document &D) {
  // A session keeps all texts that it has read.
  constexpr unsigned MostChecks = 256;
  if (++Checks % MostChecks == 0) {
    Session = std::make_unique<Compiler>();
    for (const auto &[Other, Of] : Documents)
      Session->setText(Other, Of.Text);
  }
  const std::optional<ast::File> File = parseText(D.Text);
  FrontendOptions Options;
  Options.OnlyModel = !File || !isJob(*File);
  const bool IsOfModel = Options.OnlyModel;
  Options.IsOfModel = [=](ArrayRef<ir::EmitSpec>) { return IsOfModel; };
  CompiledJob &Job = Session->read(Path, Options);
  D.Derived.reset();
  if (const ir::Program *P = Job.spec() && !IsOfModel ? Job.program() : nullptr)
    D.Derived = derivedOf(*P);
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

/// Returns the URI of a file, as the client writes it if the file is open.
std::string Server::uriOfFile(StringRef Path) const {
  SmallString<128> Plain = Path;
  sys::path::remove_dots(Plain, /*remove_dot_dot=*/true);
  const auto Open = Documents.find(Plain.str().str());
  return Open == Documents.end() ? uriOf(Plain) : Open->second.Uri;
}

/// Sends what all texts that are open have found in a file.
void Server::sendFound(StringRef Uri) {
  json::Array All;
  for (const auto &[Path, D] : Documents)
    if (const auto Of = D.Found.find(Uri.str()); Of != D.Found.end())
      for (const Object &Each : Of->second)
        if (none_of(All, [&](const Value &Other) {
              const Object &Known = *Other.getAsObject();
              return *Known.get("range") == *Each.get("range") &&
                     *Known.get("code") == *Each.get("code");
            }))
          All.push_back(Object(Each));
  send("textDocument/publishDiagnostics",
       Object{{"uri", Uri.str()}, {"diagnostics", std::move(All)}});
}

/// Sends diagnostics by file; those in the library are at the start of the
/// document.
void Server::publish(const std::string &Path, Document &D,
                     ArrayRef<Diagnostic> All) {
  std::map<std::string, std::vector<Object>> Found;
  Found[D.Uri];
  D.Diagnostics.clear();
  for (const Diagnostic &Of : All) {
    const StringRef In = Of.Range.isValid()
                             ? Session->sources().name(Of.Range.File)
                             : StringRef(Path);
    Object Made = toJson(Of, Path);
    const bool IsOfLibrary = !In.starts_with("/");
    if (In == Path)
      D.Diagnostics.push_back(Of);
    if (IsOfLibrary)
      Made["range"] = rangeOf("", 0, 0);
    Found[IsOfLibrary ? D.Uri : uriOfFile(In)].push_back(std::move(Made));
  }
  std::swap(D.Found, Found);
  for (const auto &[Uri, Of] : D.Found)
    Found[Uri]; // previous and current findings
  for (const auto &[Uri, Of] : Found)
    sendFound(Uri);
}

json::Value Server::format(const Document &D) {
  const std::optional<std::string> Made = formatText(D.Text);
  if (!Made || *Made == D.Text)
    return json::Array();
  return json::Array{
      Object{{"range", rangeOf(D.Text, 0, D.Text.size())}, {"newText", *Made}}};
}

} // namespace foretrace::lsp
