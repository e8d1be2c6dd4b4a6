// SPDX-License-Identifier: Apache-2.0
//
// `routing` of `train`: a word, a distribution, or a file with tokens of
// experts.
#include "frontend/Bind.h"
#include "lang/diagnostics/Frontend.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;

/// Reads numbers separated by commas or blanks, one for each expert. Further
/// lines, such as those of other layers or steps, are added.
static std::optional<ir::Routing> readTokens(SourceText Source, SourceRange Use,
                                             DiagnosticEngine &Diags) {
  ir::Routing R;
  R.Is = ir::Routing::Kind::Tokens;
  llvm::SmallVector<llvm::StringRef> Lines;
  Source.str().split(Lines, '\n', -1, /*KeepEmpty=*/false);
  for (const llvm::StringRef Line : Lines) {
    llvm::SmallVector<llvm::StringRef> Cells;
    llvm::SplitString(Line, Cells, ", \t\r");
    if (Cells.empty())
      continue;
    if (R.Tokens.empty())
      R.Tokens.resize(Cells.size());
    if (R.Tokens.size() != Cells.size()) {
      Diags.report(Source.rangeOf(Line), diag::RoutingLine, Cells.size(),
                   R.Tokens.size());
      return std::nullopt;
    }
    for (const auto &[Sum, Cell] : llvm::zip_equal(R.Tokens, Cells)) {
      uint32_t Tokens = 0;
      if (Cell.getAsInteger(10, Tokens)) {
        Diags.report(Source.rangeOf(Cell), diag::RoutingCell, Cell);
        return std::nullopt;
      }
      Sum += Tokens;
    }
  }
  if (llvm::any_of(R.Tokens, [](int64_t N) { return N > 0; }))
    return R;
  Diags.report(Use, diag::RoutingEmpty);
  return std::nullopt;
}

/// Reads `zipf(1.2, 7)`.
std::optional<ir::Routing> Binder::readZipf(const ast::Call &Call,
                                            const Field &F) {
  if (Call.Arguments.size() != 2) {
    Diags.report(F.Value->Range, diag::ArgumentCount, "zipf", "2 values",
                 Call.Arguments.size());
    return std::nullopt;
  }
  const std::optional<ExprValue> Exponent =
      Eval.evaluate(*Call.Arguments[0], *F.Names);
  const std::optional<ExprValue> Seed =
      Eval.evaluate(*Call.Arguments[1], *F.Names);
  if (!Exponent || !Seed)
    return std::nullopt;
  if (!Exponent->isNumber() || Exponent->asReal() < 0 ||
      Exponent->asReal() > ir::Routing::MaxExponent) {
    Diags.report(Exponent->Range, diag::WrongType, "s of zipf",
                 format(*Exponent).value_or(describe(*Exponent)),
                 "a number from 0 to 16, such as 1.2");
    return std::nullopt;
  }
  const std::optional<int64_t> Number =
      Reader.checkNumber("seed", "Natural", *Seed);
  if (!Number)
    return std::nullopt;
  ir::Routing R;
  R.Is = ir::Routing::Kind::Zipf;
  R.Exponent = Exponent->asReal();
  R.Seed = static_cast<uint64_t>(*Number);
  return R;
}

void Binder::bindRouting(const Field &F, Located<std::string> &Out) {
  std::optional<ir::Routing> R;
  const auto *Call = std::get_if<ast::Call>(&F.Value->Node);
  if (Call && Call->Callee.Text == "zipf") {
    R = readZipf(*Call, F);
  } else if (findFileCall(F)) {
    if (const std::optional<SourceText> File = readFileCall(F))
      R = readTokens(*File, F.Value->Range, Diags);
  } else if (const std::optional<ExprValue> V =
                 Eval.evaluate(*F.Value, *F.Names, Words::Any)) {
    // The text form, too, which other commands print.
    if (const std::string *Text = V->asText())
      R = ir::Routing::parse(*Text);
    if (!R)
      Diags.report(V->Range, diag::WrongType, "routing", describe(*V),
                   "balanced, zipf(s, seed) or file(\"...\")");
  }
  if (R)
    Out.state(R->text(), F.Value->Range);
}
