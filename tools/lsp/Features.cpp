// SPDX-License-Identifier: Apache-2.0
//
// Answers to requests about a place in a text.
#include "frontend/Parse.h"
#include "ir/model/SpecFields.h"
#include "ir/model/Spellings.h"
#include "lang/Library.h"
#include "lang/NumberText.h"
#include "tools/lsp/Lexer.h"
#include "tools/lsp/Positions.h"
#include "tools/lsp/Server.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace::lsp {

/// Sections that have no keys in the list.
static constexpr StringLiteral OtherSections[] = {"sweep", "emit", "device"};

bool Server::isSection(StringRef Word) const {
  return is_contained(OtherSections, Word) ||
         any_of(Keys, [&](const KeyEntry &K) { return K.Section == Word; });
}

const KeyEntry *Server::findKey(StringRef Section, StringRef Name) const {
  const auto Found = find_if(Keys, [&](const KeyEntry &K) {
    return K.Section == Section && K.Name == Name;
  });
  return Found == Keys.end() ? nullptr : &*Found;
}

namespace {

/// The context of a byte in a text that need not be a whole file: while someone
/// types, sections are open most of the time.
struct Context {
  StringRef Section;       ///< keyword of the innermost section; empty outside
  StringRef Key;           ///< that the byte is the value of; empty if of none
  StringRef Word;          ///< at the byte, or that ends there
  bool IsInText = false;   ///< in a string, of which Word is the part before
  bool IsInImport = false; ///< that string is the path of an import
  bool IsInComment = false;
};

} // namespace

/// The keyword of the section whose brace comes after \p Words:
/// `keyword label : base`, of which only the keyword must be there.
static StringRef keywordIn(ArrayRef<StringRef> Words,
                           function_ref<bool(StringRef)> IsSection) {
  constexpr size_t MostWords = 4;
  for (const StringRef Word :
       reverse(Words.take_back(std::min(Words.size(), MostWords))))
    if (IsSection(Word))
      return Word;
  return Words.empty() ? "" : Words.back();
}

/// \p IsSection says which words begin a section.
static Context contextAt(StringRef Text, size_t Byte,
                         function_ref<bool(StringRef)> IsSection) {
  Context Found;
  std::vector<StringRef> Open;  // keywords of sections
  std::vector<StringRef> Words; // since the last brace; signs, too
  for (const LooseToken &T : tokensOf(Text)) {
    const StringRef Is = T.in(Text);
    const bool IsWord =
        T.Is == LooseToken::Kind::Word || T.Is == LooseToken::Kind::Number;
    if (T.Begin > Byte || (T.Begin == Byte && !IsWord))
      break;
    if (T.Is == LooseToken::Kind::Comment) {
      Found.IsInComment = Byte <= T.End;
    } else if (T.Is == LooseToken::Kind::String) {
      if (Byte > T.End - (T.IsClosed ? 1 : 0))
        continue;
      Found.IsInText = true;
      Found.IsInImport = !Words.empty() && Words.back() == "import";
      Found.Word = Text.slice(T.Begin + 1, Byte);
      break;
    } else if (IsWord && Byte <= T.End) {
      Found.Word = Is;
      break;
    } else if (Is == "{") {
      Open.push_back(keywordIn(Words, IsSection));
      Words.clear();
    } else if (Is == "}") {
      if (!Open.empty())
        Open.pop_back();
      Words.clear();
    } else {
      Words.push_back(Is);
    }
  }
  Found.Section = Open.empty() ? "" : Open.back();
  if (Words.size() > 1 && Words.back() == "=")
    Found.Key = Words[Words.size() - 2];
  return Found;
}

static json::Object markdown(std::string Text) {
  return json::Object{{"kind", "markdown"}, {"value", std::move(Text)}};
}

/// Returns values, default and meaning of a key.
static std::string docOf(const KeyEntry &K) {
  std::string Text = "`" + K.Section + "." + K.Name.str() + "`: " + K.Values;
  if (!K.Default.empty())
    Text += "; default: " + K.Default;
  return Text + "\n\n" + K.Doc;
}

namespace {

/// The value of a field as text.
struct ValueFinder {
  StringRef Name;
  std::string &To;

  template <typename T>
  void operator()(const ir::FieldRow &Row, const Located<T> &F) const {
    if (Row.Name != Name || !F.isPresent())
      return;
    if constexpr (std::is_same_v<T, bool>)
      To = *F ? "true" : "false";
    else if constexpr (std::is_enum_v<T>)
      To = ir::getSpelling(*F).str();
    else if constexpr (std::is_integral_v<T>)
      To = std::to_string(*F);
    else
      To = *F;
  }
};

} // namespace

/// Returns the value of a key of a job; empty if it is unknown.
static std::string valueOf(const ir::Spec &S, StringRef Section,
                           StringRef Name) {
  std::string Value;
  const ValueFinder Find{Name, Value};
  if (Section == "model")
    ir::visitFields(S.Model, Find);
  else if (Section == "train")
    ir::visitFields(S.Train, Find);
  else if (Section == "parallel")
    ir::visitFields(S.Parallel, Find);
  return Value;
}

/// Returns a number of parameters, which may be beyond 2^63.
static std::string parametersText(int64_t Count) {
  return Count == ir::NoValue ? "more than 9.2e18"
                              : printCount(static_cast<double>(Count));
}

/// Returns the line that defines the name at \p Byte, and the size of a model.
std::string Server::aboutName(const Document &D, size_t Byte,
                              SourceRange &At) const {
  const std::string Path = pathOf(D.Uri);
  const Names All = namesOf(D);
  const NamePlace *Place = All.at(Path, Byte);
  const auto Of = Place ? All.definitionOf(Path, *Place) : std::nullopt;
  if (!Of)
    return "";
  At = {FileId::None, static_cast<uint32_t>(Place->Begin),
        static_cast<uint32_t>(Place->End)};
  const StringRef Text = All.files().at(Of->first).Text;
  const size_t Begin = All.placeOf(*Of).Begin;
  const size_t Line = Text.take_front(Begin).count('\n');
  const size_t Start = Text.rfind('\n', Begin) + 1; // npos + 1 is 0
  std::string About =
      ("```fore\n" +
       Text.substr(Start).take_until([](char C) { return C == '\n'; }).trim() +
       "\n```\n\n" + sys::path::filename(Of->first) + ", line " +
       Twine(Line + 1))
          .str();
  if (All.placeOf(*Of).Is == NameKind::Model && D.Derived &&
      D.Derived->Spec.Model.Name == Place->Name)
    About += "\n\n" + parametersText(D.Derived->Parameters) +
             " parameters, of which " + parametersText(D.Derived->Active) +
             " are active";
  return About;
}

json::Value Server::hover(const Document &D, const Object &Params) {
  const size_t Byte = byteOf(D.Text, Params);
  SourceRange Name;
  if (std::string About = aboutName(D, Byte, Name); !About.empty())
    return Object{{"contents", markdown(std::move(About))},
                  {"range", rangeOf(D.Text, Name.Begin, Name.End)}};
  const Context At = contextAt(
      D.Text, Byte, [this](StringRef Word) { return isSection(Word); });
  const KeyEntry *Key = At.IsInText || At.IsInComment || !At.Key.empty()
                            ? nullptr
                            : findKey(At.Section, At.Word);
  if (!Key)
    return nullptr;
  std::string Text = docOf(*Key);
  if (D.Derived)
    if (const std::string Value =
            valueOf(D.Derived->Spec, Key->Section, Key->Name);
        !Value.empty())
      Text += "\n\nhere: " + Value;
  const size_t Begin = static_cast<size_t>(At.Word.data() - D.Text.data());
  return Object{{"contents", markdown(Text)},
                {"range", rangeOf(D.Text, Begin, Begin + At.Word.size())}};
}

static json::Object item(StringRef Label, int64_t Kind, std::string Doc,
                         std::string Inserted) {
  return json::Object{{"label", Label.str()},
                      {"kind", Kind},
                      {"documentation", markdown(std::move(Doc))},
                      {"insertText", std::move(Inserted)}};
}

json::Value Server::complete(const Document &D, const Object &Params) {
  constexpr int64_t Property = 10, Word = 12, Module = 9, Keyword = 14;
  const size_t Byte = byteOf(D.Text, Params);
  const Context At =
      contextAt(D.Text, Byte, [this](StringRef W) { return isSection(W); });
  json::Array Items;
  if (At.IsInComment)
    return Items;
  if (At.IsInText && !At.IsInImport)
    return Items;
  if (At.IsInText) {
    for (const LibraryModel &M : libraryModels()) {
      const std::string Path = ("models/" + M.Title + ".fore").str();
      Items.push_back(item(Path, Module, M.Source.str(), Path));
    }
    for (const LibraryFile &F : libraryFiles())
      if (F.Path.starts_with("clusters/"))
        Items.push_back(item(F.Path, Module, "", F.Path.str()));
    return Items;
  }
  if (!At.Key.empty()) {
    if (const KeyEntry *K = findKey(At.Section, At.Key))
      for (StringRef V : split(K->Values, ','))
        if (V = V.trim(); !V.empty() && all_of(V, [](char C) {
              return isAlnum(C) || C == '_';
            }) && !isDigit(V.front()))
          Items.push_back(item(V, Word, "", V.str()));
    return Items;
  }
  for (const KeyEntry &K : Keys)
    if (K.Section == At.Section)
      Items.push_back(item(K.Name, Property, docOf(K), (K.Name + " = ").str()));
  if (At.Section.empty())
    for (const StringRef S :
         {"import", "param", "let", "require", "model", "train", "parallel",
          "cluster", "cost", "emit", "sweep", "layer"})
      Items.push_back(item(S, Keyword, "", S.str() + " "));
  if (At.Section == "model" || At.Section == "block")
    for (const StringRef S : {"attention", "ffn", "block", "branch"})
      if (S != At.Section)
        Items.push_back(item(S, Keyword, "", S.str() + " "));
  return Items;
}

json::Value Server::actions(const Document &D, const Object &Params) {
  const Object *Range = Params.getObject("range");
  const Object *Start = Range ? Range->getObject("start") : nullptr;
  const Object *End = Range ? Range->getObject("end") : nullptr;
  const Object *Of = Params.getObject("textDocument");
  json::Array All;
  if (!Start || !End)
    return All;
  const size_t From = byteAt(D.Text, *Start), To = byteAt(D.Text, *End);
  for (const Diagnostic &Each : D.Diagnostics) {
    if (Each.FixIts.empty() || Each.Range.End < From || Each.Range.Begin > To)
      continue;
    json::Array Edits;
    std::string Title;
    for (const FixIt &F : Each.FixIts) {
      Edits.push_back(
          Object{{"range", rangeOf(D.Text, F.Range.Begin, F.Range.End)},
                 {"newText", F.Replacement}});
      Title += (Title.empty() ? "Write `" : ", `") + F.Replacement + "`";
    }
    All.push_back(
        Object{{"title", Title},
               {"kind", "quickfix"},
               {"edit", Object{{"changes", Object{{Of->getString("uri")->str(),
                                                   std::move(Edits)}}}}}});
  }
  return All;
}

json::Value Server::symbols(const Document &D) {
  constexpr int64_t Class = 5, Variable = 13, Namespace = 3;
  json::Array All;
  const std::optional<ast::File> File = parseText(D.Text);
  if (!File)
    return All;
  for (const ast::Item &I : File->Items) {
    std::string Name;
    int64_t Kind = Namespace;
    SourceRange At = I.Range;
    if (const auto *S = std::get_if<ast::Section>(&I.Node)) {
      Name =
          S->Keyword.Text + (S->Label.Text.empty() ? "" : " ") + S->Label.Text;
      Kind = S->Keyword.Text == "model" ? Class : Namespace;
      At = S->Keyword.Range;
    } else if (const auto *P = std::get_if<ast::Param>(&I.Node)) {
      Name = P->Name.Text;
      Kind = Variable;
      At = P->Name.Range;
    } else if (const auto *L = std::get_if<ast::Let>(&I.Node)) {
      Name = L->Name.Text;
      Kind = Variable;
      At = L->Name.Range;
    } else {
      continue;
    }
    All.push_back(
        Object{{"name", Name},
               {"kind", Kind},
               {"range", rangeOf(D.Text, I.Range.Begin, I.Range.End)},
               {"selectionRange", rangeOf(D.Text, At.Begin, At.End)}});
  }
  return All;
}

/// Shows derived sizes behind `parallel`, and parameters behind the model.
json::Value Server::hints(const Document &D) {
  json::Array All;
  const std::optional<ast::File> File =
      D.Derived ? parseText(D.Text) : std::nullopt;
  if (!File)
    return All;
  auto Add = [&](const ast::Word &Behind, std::string Label) {
    All.push_back(Object{{"position", positionOf(D.Text, Behind.Range.End)},
                         {"label", std::move(Label)},
                         {"paddingLeft", true}});
  };
  const ir::Spec &Spec = D.Derived->Spec;
  for (const ast::Item &I : File->Items) {
    const auto *S = std::get_if<ast::Section>(&I.Node);
    if (S && S->Keyword.Text == "parallel") {
      std::string Label = "dp = " + valueOf(Spec, "parallel", "dp") +
                          "  ga = " + valueOf(Spec, "parallel", "ga");
      if (D.Derived->Peak != ir::NoValue)
        Label += "  peak " + printBytes(static_cast<double>(D.Derived->Peak));
      Add(S->Keyword, std::move(Label));
    } else if (S && S->Keyword.Text == "model" &&
               S->Label.Text == Spec.Model.Name) {
      Add(S->Label, parametersText(D.Derived->Parameters) + " parameters");
    }
  }
  return All;
}

} // namespace foretrace::lsp
