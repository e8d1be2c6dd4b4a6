// SPDX-License-Identifier: Apache-2.0
//
// Compiles the shipped layers to C++ constants when Foretrace is built: a job
// need not parse them.
//
//   compile-layers lang/layers/*.fore > lang/ShippedLayers.inc

#include "frontend/Parse.h"
#include "lang/DiagnosticClient.h"
#include "lang/SourceFiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace foretrace;
using namespace foretrace::layers;

namespace {

/// Writes nodes as arrays; nodes that others refer to come first.
class Writer {
public:
  explicit Writer(llvm::raw_ostream &OS) : OS(OS) {}

  void write(llvm::ArrayRef<Layer> All);

private:
  template <typename T>
  std::string array(llvm::StringRef Type, llvm::ArrayRef<T> Of);
  std::string text(llvm::StringRef S) const;
  std::string text(const Expr &E);
  std::string text(const Tensor &T);
  std::string text(const Argument &A);
  std::string text(const Statement &S);
  std::string text(const Layer &L);

  llvm::raw_ostream &OS;
  unsigned Arrays = 0;
};

} // namespace

static std::string list(std::initializer_list<std::string> Of) {
  return "{" + llvm::join(Of, ", ") + "}";
}

template <typename KindT> static std::string number(KindT Kind) {
  return std::to_string(static_cast<unsigned>(Kind));
}

std::string Writer::text(llvm::StringRef S) const {
  if (S.empty())
    return "{}";
  std::string Out = "llvm::StringLiteral(\"";
  llvm::raw_string_ostream(Out).write_escaped(S);
  return Out + "\")";
}

template <typename T>
std::string Writer::array(llvm::StringRef Type, llvm::ArrayRef<T> Of) {
  if (Of.empty())
    return "{}";
  std::vector<std::string> Elements;
  for (const T &E : Of)
    Elements.push_back(text(E));
  const std::string Name = "Nodes" + std::to_string(Arrays++);
  OS << "static constexpr " << Type << " " << Name << "[] = {"
     << llvm::join(Elements, ", ") << "};\n";
  return Name;
}

std::string Writer::text(const Expr &E) {
  return list({"Expr::Kind(" + number(E.Is) + ")", text(E.Text),
               array("Expr", E.Operands), "{}"});
}

std::string Writer::text(const Tensor &T) {
  return list({text(T.Name), text(T.Element), text(T.Like),
               array("Expr", T.Dims), "{}"});
}

std::string Writer::text(const Argument &A) {
  return list({text(A.Name), text(A.Value)});
}

std::string Writer::text(const Statement &S) {
  return list({"Statement::Kind(" + number(S.Is) + ")", text(S.Name),
               text(S.As), text(S.Doc), array("Tensor", S.Tensors),
               array("Argument", S.Arguments), array("Expr", S.Values),
               array("Statement", S.Then), array("Statement", S.Else),
               list({S.Can.ArePositive ? "true" : "false",
                     array("llvm::StringRef", S.Can.Words)}),
               "{}"});
}

std::string Writer::text(const Layer &L) {
  return list({text(L.Name), text(L.Doc), array("llvm::StringRef", L.Inputs),
               array("llvm::StringRef", L.Outputs),
               array("llvm::StringRef", L.Roles), array("Statement", L.Body),
               "{}"});
}

void Writer::write(llvm::ArrayRef<Layer> All) {
  std::vector<std::string> Rows;
  for (const Layer &L : All)
    Rows.push_back(text(L));
  OS << "static constexpr Layer Layers[] = {\n"
     << llvm::join(Rows, ",\n") << "};\n";
}

/// Returns whether the messages of requirements exist, with as many arguments;
/// prints those that do not.
static bool areMessages(llvm::ArrayRef<Statement> Body) {
  bool AreGood = true;
  for (const Statement &S : Body) {
    AreGood &= areMessages(S.Then) && areMessages(S.Else);
    if (S.Is != Statement::Kind::Require || S.Name.empty())
      continue;
    const std::optional<diag::Id> Id = findDiagnostic(S.Name);
    if (Id && numArguments(*Id) == S.Arguments.size())
      continue;
    llvm::errs() << "no message `" << S.Name << "` with " << S.Arguments.size()
                 << " arguments\n";
    AreGood = false;
  }
  return AreGood;
}

int main(int Count, char **Paths) {
  SourceFiles Sources;
  DiagnosticEngine Diags;
  std::vector<ast::File> Files;
  std::vector<Layer> All;
  for (const char *Path : llvm::ArrayRef(Paths, Count).drop_front()) {
    const llvm::ErrorOr<FileId> Id = Sources.open(Path);
    if (!Id) {
      llvm::errs() << Path << ": " << Id.getError().message() << '\n';
      return 1;
    }
    if (std::optional<ast::File> File = parseFore(Sources.text(*Id), Diags))
      Files.push_back(std::move(*File));
  }
  for (const ast::File &F : Files)
    for (const ast::Item &I : F.Items)
      if (const auto *L = std::get_if<ast::Layer>(&I.Node))
        All.push_back(L->Is);
  showAll(Diags, Sources, *makeTextClient(llvm::errs()));
  Writer(llvm::outs()).write(All);
  const bool AreGood =
      llvm::all_of(All, [](const Layer &L) { return areMessages(L.Body); });
  return Diags.hasErrors() || !AreGood;
}
