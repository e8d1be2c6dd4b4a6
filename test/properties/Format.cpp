// SPDX-License-Identifier: Apache-2.0
//
// check-format FIRST COUNT: random jobs, with blanks, line ends and comments at
// random. Formatting them changes no program and no message, and formatting
// the result changes nothing.
#include "frontend/Format.h"
#include "ir/text/Print.h"
#include "test/fuzz/GenerateJob.h"
#include "tools/compiler/Compiler.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <random>

using namespace foretrace;
using llvm::StringRef;

/// The text with other blanks between its words, and with comments.
static std::string shake(StringRef Text, std::mt19937_64 &Random) {
  static constexpr llvm::StringLiteral Blanks[] = {
      " ", " ", " ", "  ", "\n", "\n\n\n", "\t", " // text\n", "\n// own\n"};
  std::string Shaken;
  bool IsInString = false;
  for (size_t I = 0; I != Text.size(); ++I) {
    const char C = Text[I];
    if (C == '"' && (I == 0 || Text[I - 1] != '\\'))
      IsInString = !IsInString;
    if (!IsInString && (C == ' ' || C == '\n'))
      Shaken += Blanks[Random() % std::size(Blanks)];
    else
      Shaken += C;
  }
  return Shaken;
}

static std::optional<std::string> format(StringRef Text) {
  SourceFiles Sources;
  DiagnosticEngine Diags;
  return formatFore(Sources.text(Sources.add(Text.str(), "job.fore")), Diags);
}

/// The program of a job, or what is reported of it.
static std::string meaningOf(StringRef Text) {
  Compiler Session;
  CompiledJob &Job = Session.compile("job.fore", Text);
  std::string Meaning;
  llvm::raw_string_ostream OS(Meaning);
  if (const ir::Program *P = Job.program())
    ir::print(*P, OS);
  for (const Diagnostic &D : Job.diagnostics())
    OS << D.text() << '\n';
  return Meaning;
}

static bool check(uint64_t Number) {
  std::mt19937_64 Random(Number);
  const std::string Text = shake(generateJob(Number), Random);
  const std::optional<std::string> Once = format(Text);
  if (!Once)
    return meaningOf(Text) != ""; // it has a syntax error
  if (format(*Once) != Once || meaningOf(*Once) != meaningOf(Text)) {
    llvm::outs() << Number << ": changes\n" << Text << "becomes\n" << *Once;
    return false;
  }
  return true;
}

int main(int ArgCount, char **Args) {
  uint64_t First = 0, Count = 0;
  if (ArgCount != 3 || !llvm::to_integer(Args[1], First) ||
      !llvm::to_integer(Args[2], Count)) {
    llvm::errs() << "usage: check-format FIRST COUNT\n";
    return 2;
  }
  for (uint64_t N = First; N != First + Count; ++N)
    if (!check(N))
      return 1;
  llvm::outs() << Count << " jobs formatted\n";
  return 0;
}
