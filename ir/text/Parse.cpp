// SPDX-License-Identifier: Apache-2.0
#include "ir/text/Parse.h"
#include "ir/model/Measure.h"
#include "ir/model/SpecKeys.h"
#include "ir/text/ParseExpr.h"
#include "ir/text/ParseParts.h"
#include "ir/text/Print.h"
#include "lang/diagnostics/IR.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

class ProgramParser {
public:
  ProgramParser(SourceFiles &Sources, FileId File, DiagnosticEngine &Diags)
      : In(Sources.text(File), Diags), Locations(Sources) {}

  std::optional<Program> parse() {
    if (!header())
      return std::nullopt;
    while (!In.peek().is(Token::Kind::End))
      if (!part())
        return std::nullopt;
    for (Block &B : P.Blocks)
      measure(P, B);
    return std::move(P);
  }

private:
  bool header();
  bool facts();
  bool part();
  bool spec();
  bool mesh();
  bool definition();
  bool block();
  bool layers();
  bool stage();
  bool stageEntry(Stage &S);
  bool stageTotal(Stage &S);
  bool schedule();
  bool once(bool &Seen);

  bool blockId(const Token &Name, BlockId &Out);
  bool sequence(LayerSequence &Out);

  TextReader In;
  LocationFinder Locations;
  Program P;
  Token Keyword; ///< of the part that is being read
  llvm::StringMap<BlockId> Blocks;
  bool SeenSpec = false;
  bool SeenMesh = false;
  bool SeenLayers = false;
  bool SeenSchedule = false;
};

} // namespace

bool ProgramParser::header() {
  if (!In.expectWord("ftir"))
    return false;
  SourceRange Range = In.peek().Range;
  int64_t Version;
  if (!In.expectInteger(0, Version))
    return false;
  if (Version != TextVersion) {
    In.Diags.report(Range, diag::IrVersion, Version, TextVersion);
    return false;
  }
  Level Stated{};
  if (!In.expectSpelling("a level", Stated) || !In.expectWord("facts") ||
      !In.expectPunct("(") || !facts())
    return false;
  // The word is for people; it must agree with the facts.
  return checkLevel(Stated, P.Facts, In.Diags);
}

bool ProgramParser::facts() {
  if (In.takePunct(")"))
    return true;
  do {
    Fact F{};
    if (!In.expectSpelling("a fact", F))
      return false;
    P.Facts.insert(F);
  } while (In.takePunct(","));
  return In.expectPunct(")");
}

bool ProgramParser::once(bool &Seen) {
  bool Before = Seen;
  Seen = true;
  return !Before || In.twice(Keyword, "part");
}

bool ProgramParser::spec() { return once(SeenSpec) && parseSpec(In, P.Spec); }

/// `dp = world/(tp*cp*pp)`.
bool ProgramParser::definition() {
  Token Name;
  std::string Text;
  ExprId As;
  if (!In.expectName("a key", Name) || !In.text(Name, Text))
    return false;
  const std::optional<Key> K = findKey(P.Spec, Text);
  if (!K)
    return In.unknown(Name, "a number of the spec", {});
  if (!In.expectPunct("=") || !expectExpr(In, P, As))
    return false;
  if (P.Sizes.find(*K))
    return In.twice(Name, "use or definition");
  P.Sizes.define(*K, As);
  return true;
}

bool ProgramParser::mesh() {
  if (!once(SeenMesh))
    return false;
  while (In.peek().is(Token::Kind::Word) && findAxis(In.peek().Text)) {
    Token T = In.next();
    if (!In.expectPunct(":") || !In.expectInteger(1, P.Mesh[*findAxis(T.Text)]))
      return false;
  }
  return true;
}

bool ProgramParser::block() {
  Token Name;
  Block B;
  if (!In.expectName("the name of a block", Name) || !In.text(Name, B.Name))
    return false;
  B.Range = Name.Range;
  auto [It, IsNew] = Blocks.try_emplace(B.Name, P.Blocks.idAt(P.Blocks.size()));
  if (!IsNew)
    return In.twice(Name, "block", P.Blocks[It->second].Range);
  if (!parseBlock(In, Locations, P, B))
    return false;
  P.Blocks.add(std::move(B));
  return true;
}

bool ProgramParser::blockId(const Token &Name, BlockId &Out) {
  std::string Text;
  if (!In.text(Name, Text))
    return false;
  auto It = Blocks.find(Text);
  if (It == Blocks.end())
    return In.unknown(Name, "a block that stands before", {});
  Out = It->second;
  return true;
}

bool ProgramParser::sequence(LayerSequence &Out) {
  return In.expectPunct("=") &&
         In.expectSequence([&](int64_t Periods, llvm::ArrayRef<NamedRun> Runs) {
           LayerGroup G;
           G.Periods = Periods;
           for (const NamedRun &R : Runs) {
             G.Runs.push_back({{}, R.Count});
             if (!blockId(R.Name, G.Runs.back().Block))
               return false;
           }
           Out.push_back(std::move(G));
           return true;
         });
}

bool ProgramParser::layers() { return once(SeenLayers) && sequence(P.Layers); }

bool ProgramParser::stageTotal(Stage &S) {
  if (In.takeWord("messages"))
    return expectMessages(In, P, S.Totals.Messages);
  const Token Word = In.peek();
#define STAGE_TOTAL(MEMBER, TYPE, WORD, DOC)                                   \
  if (In.takeWord(WORD))                                                       \
    return expectTotal(In, P, Word, S.Totals.MEMBER.Id);
#include "ir/model/Totals.def"
  return In.expected("what is totalled");
}

bool ProgramParser::stageEntry(Stage &S) {
  if (In.takeWord("step")) {
    Token Name;
    return In.expectPunct("=") && In.expectName("the name of a block", Name) &&
           blockId(Name, S.Step);
  }
  if (In.takeWord("total"))
    return stageTotal(S);
  if (!In.takeWord("chunk"))
    return In.expected("`chunk`, `step`, `total` or `}`");
  ChunkRun C;
  if (In.takePunct("*") && !In.expectInteger(1, C.Count))
    return false;
  if (!sequence(C.Layers))
    return false;
  S.Chunks.push_back(std::move(C));
  return true;
}

bool ProgramParser::stage() {
  Stage S;
  if (!In.expectStages(S.First, S.Count))
    return false;
  S.ReceivesForward = In.takeWord("receives");
  S.SendsForward = In.takeWord("sends");
  if (!In.expectBraces([&] { return stageEntry(S); }))
    return false;
  P.Stages.push_back(std::move(S));
  return true;
}

bool ProgramParser::schedule() {
  return once(SeenSchedule) && parseSchedule(In, P.Schedule);
}

bool ProgramParser::part() {
  static constexpr struct {
    llvm::StringLiteral Word;
    bool (ProgramParser::*Parse)();
  } Parts[] = {
      {"spec", &ProgramParser::spec},        {"mesh", &ProgramParser::mesh},
      {"let", &ProgramParser::definition},   {"block", &ProgramParser::block},
      {"layers", &ProgramParser::layers},    {"stage", &ProgramParser::stage},
      {"schedule", &ProgramParser::schedule}};
  Keyword = In.peek();
  for (const auto &Part : Parts)
    if (In.takeWord(Part.Word))
      return (this->*Part.Parse)();
  return In.expected("`spec`, `mesh`, `let`, `block`, `layers`, `stage` or "
                     "`schedule`");
}

std::optional<Program> foretrace::ir::parse(SourceFiles &Sources, FileId File,
                                            DiagnosticEngine &Diags) {
  return ProgramParser(Sources, File, Diags).parse();
}
