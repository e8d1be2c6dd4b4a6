// SPDX-License-Identifier: Apache-2.0
//
// Signatures of functions and layers.
#include "frontend/Arithmetic.h"
#include "lang/ShippedLayers.h"
#include "tools/lsp/Lexer.h"
#include "tools/lsp/Positions.h"
#include "tools/lsp/Server.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::lsp {

namespace {

/// The innermost open parenthesis before a byte.
struct OpenCall {
  StringRef Name;
  int64_t Argument = 0;
};

struct Signature {
  std::vector<std::string> Parameters;
  std::string Doc, Result;
};

} // namespace

static std::optional<OpenCall> callAt(StringRef Text, size_t Byte) {
  std::vector<OpenCall> Open;
  StringRef Before;
  for (const LooseToken &T : tokensOf(Text)) {
    if (T.End > Byte)
      break;
    const StringRef Word = T.in(Text);
    if (Word == "(" || Word == "[")
      Open.push_back({Word == "(" ? Before : StringRef()});
    else if (Word == ")" || Word == "]" || Word == "{" || Word == "}") {
      if (!Open.empty())
        Open.pop_back();
    } else if (Word == "," && !Open.empty()) {
      ++Open.back().Argument;
    }
    Before = T.Is == LooseToken::Kind::Word ? Word : StringRef();
  }
  if (Open.empty() || Open.back().Name.empty())
    return std::nullopt;
  return Open.back();
}

/// Returns the inputs, then the keys with their defaults.
static Signature signatureOf(const layers::Layer &L) {
  Signature Of{{}, L.Doc.str(), join(L.Outputs, ", ")};
  for (const StringRef Input : L.Inputs)
    Of.Parameters.push_back(Input.str());
  for (const layers::Statement &S : L.Body)
    if (S.Is == layers::Statement::Kind::Key)
      Of.Parameters.push_back(S.Name.str() + " =");
  return Of;
}

static std::optional<Signature> signatureOf(StringRef Name) {
  for (const FunctionInfo &F : allFunctions())
    if (F.Name == Name) {
      Signature Of{{}, F.Doc.str(), ""};
      for (const StringRef Each : split(F.Arguments, ", "))
        Of.Parameters.push_back(Each.str());
      return Of;
    }
  if (const layers::Layer *L = findShippedLayer(Name))
    return signatureOf(*L);
  return std::nullopt;
}

json::Value Server::signature(const Document &D, const Object &Params) {
  const std::optional<OpenCall> Call = callAt(D.Text, byteOf(D.Text, Params));
  std::optional<Signature> Of;
  if (Call)
    Of = signatureOf(Call->Name);
  if (!Of)
    return nullptr;
  std::string Label = Call->Name.str() + "(" + join(Of->Parameters, ", ") + ")";
  if (!Of->Result.empty())
    Label += " -> " + Of->Result;
  json::Array Parameters;
  for (const std::string &Each : Of->Parameters)
    Parameters.push_back(Object{{"label", Each}});
  return Object{{"signatures",
                 json::Array{Object{{"label", std::move(Label)},
                                    {"documentation", Of->Doc},
                                    {"parameters", std::move(Parameters)}}}},
                {"activeSignature", 0},
                {"activeParameter", Call->Argument}};
}

} // namespace foretrace::lsp
