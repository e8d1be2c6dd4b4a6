// SPDX-License-Identifier: Apache-2.0
//
// `routing` of `train` or `serve`: a word, a distribution, or a file with tokens of
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

void Binder::bindRouting(const Field &F, Located<std::string> &Out) {
  std::optional<ir::Routing> R;
  if (findFileCall(F)) {
    if (const std::optional<SourceText> File = readFileCall(F))
      R = readTokens(*File, F.Value->Range, Diags);
  } else if (const std::optional<ExprValue> V =
                 Eval.evaluate(*F.Value, *F.Names, Words::Any)) {
    // `zipf(s, seed)` evaluates to its text.
    if (const std::string *Text = V->asText())
      R = ir::Routing::parse(*Text);
    if (!R)
      Diags.report(V->Range, diag::WrongType, "routing", describe(*V),
                   "balanced, zipf(s, seed) or file(\"...\")");
  }
  if (R)
    Out.state(R->text(), F.Value->Range);
}
