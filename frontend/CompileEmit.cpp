// SPDX-License-Identifier: Apache-2.0
//
// An `emit` block that the command line says, an option each.
#include "frontend/Bind.h"
#include "frontend/Frontend.h"
#include "frontend/Parse.h"
#include "lang/diagnostics/Frontend.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;

namespace {

class EmitCompilation {
public:
  EmitCompilation(ParsedFiles &Files, DiagnosticEngine &Diags)
      : Sources(Files.sources()), Diags(Diags), Graph(Files, {}, Diags),
        Eval(Sources, Diags), Bodies(Eval, Diags) {}

  std::optional<ir::EmitSpec> run(llvm::StringRef Backend,
                                  llvm::ArrayRef<std::string> Options);

private:
  void read(SourceText Given);

  SourceFiles &Sources;
  DiagnosticEngine &Diags;
  ImportGraph Graph;
  Evaluator Eval;
  BodyBuilder Bodies;
  const Scope NoNames;
  std::vector<ast::ExprPtr> Values; // fields point to them
  Body Block;
};

} // namespace

void EmitCompilation::read(SourceText Given) {
  const auto [Name, Value] = Given.str().split('=');
  if (Value.trim().empty()) {
    Diags.report(Given.range(), diag::MalformedOverride, Given.str());
    return;
  }
  if (ast::ExprPtr Parsed = parseExpression(Given.part(Value), Diags)) {
    Block.Fields.push_back(
        {{Name.str(), Given.rangeOf(Name)}, Parsed.get(), &NoNames});
    Values.push_back(std::move(Parsed));
  }
}

/// Makes one file with a line for each option, so that ranges identify it.
std::optional<ir::EmitSpec>
EmitCompilation::run(llvm::StringRef Backend,
                     llvm::ArrayRef<std::string> Options) {
  constexpr llvm::StringLiteral Dashes = "--";
  std::string Lines;
  for (const std::string &Text : Options)
    Lines += (Dashes + Text + "\n").str();
  const SourceText All = Sources.text(Sources.add(Lines, CommandLineName));
  llvm::StringRef Rest = All.str();
  for (const std::string &Text : Options) {
    read(All.part(Rest.substr(Dashes.size(), Text.size())));
    Rest = Rest.drop_front(Dashes.size() + Text.size() + 1);
  }
  ir::EmitSpec Emit = ir::EmitSpec::plain(Backend);
  const Job None;
  Emit.Options = Binder(None, Graph, Bodies, Eval, Diags).toAttribute(Block);
  if (Diags.hasErrors())
    return std::nullopt;
  return Emit;
}

std::optional<ir::EmitSpec>
foretrace::compileEmit(ParsedFiles &Files, llvm::StringRef Backend,
                       llvm::ArrayRef<std::string> Options,
                       DiagnosticEngine &Diags) {
  return EmitCompilation(Files, Diags).run(Backend, Options);
}
