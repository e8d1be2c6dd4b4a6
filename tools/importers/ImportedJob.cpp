// SPDX-License-Identifier: Apache-2.0
#include "tools/importers/ImportedJob.h"
#include "frontend/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace llvm;
namespace path = llvm::sys::path;

namespace foretrace::importers {

std::string wordOf(StringRef Name) {
  std::string Word;
  for (char C : Name)
    Word += isAlnum(C) ? toLower(C) : '_';
  if (Word.empty() || isDigit(Word.front()))
    Word.insert(0, "model_");
  return Word;
}

std::string modelNameOf(StringRef Path) {
  if (Path.starts_with("-") || Path.contains(' ')) // arguments
    return "imported";
  StringRef Stem = path::stem(Path);
  if (Stem == "config" || Stem == "-")
    Stem = path::filename(path::parent_path(Path));
  if (!Stem.empty() && sys::fs::is_directory(Path))
    Stem = path::filename(Path);
  return Stem.empty() || Stem == "." ? "imported" : wordOf(Stem);
}

std::string KeyCounts::text() const {
  return formatv("{0} keys: {1} used, {2} without effect, {3} not modelled, "
                 "{4} unknown",
                 Used + NoEffect + NotModelled + Unknown, Used, NoEffect,
                 NotModelled, Unknown);
}

void SectionText::set(StringRef Key, StringRef Text) {
  auto *At = llvm::find_if(MutableArrayRef(Keys),
                           [&](const WrittenKey &K) { return K.Key == Key; });
  if (At != Keys.data() + Keys.size())
    At->Text = Text.str();
  else
    Keys.push_back({Key.str(), Text.str()});
}

void SectionText::erase(StringRef Key) {
  llvm::erase_if(Keys, [&](const WrittenKey &K) { return K.Key == Key; });
}

const std::string *SectionText::find(StringRef Key) const {
  for (const WrittenKey &K : Keys)
    if (K.Key == Key)
      return &K.Text;
  return nullptr;
}

// Texts are written without regard to the width of lines: the formatter breaks
// them.

/// Returns a line with the keys; nothing if there are none.
static std::string lineOf(const SectionText &S) {
  std::string Line;
  for (const WrittenKey &K : S.Keys)
    Line += K.Key + " = " + K.Text + " ";
  return Line.empty() ? Line : Line + "\n";
}

/// Writes a section, on one line unless it \p IsBroken.
static void writeSection(StringRef Keyword, const SectionText &S,
                         raw_ostream &OS, bool IsBroken = false) {
  OS << Keyword << ' ' << S.Kind << (IsBroken ? " {\n" : " { ");
  const std::string Line = lineOf(S);
  OS << (IsBroken ? StringRef(Line) : StringRef(Line).rtrim("\n")) << "}\n";
}

namespace {

/// The layers of a model as blocks and a pattern.
class BlockWriter {
public:
  /// With \p AreNamed, blocks are written even if the model needs none.
  BlockWriter(std::vector<LayerText> &Layers, bool AreNamed, raw_ostream &OS);

  void write();
  const std::string &nameOfLast() const { return Blocks[Order.back()].Name; }

private:
  SectionText shared(SectionText LayerText::*Part) const;
  void writeBlock(const LayerText &B);
  std::string pattern(ArrayRef<size_t> Of) const;
  std::string symbols() const;
  bool hasKey(StringRef Key) const {
    return any_of(Blocks,
                  [&](const LayerText &B) { return B.Block.find(Key); });
  }

  raw_ostream &OS;
  const bool AreNamed;
  std::vector<LayerText> Blocks; ///< each kind once
  std::vector<size_t> Order;     ///< the block of each layer
  SectionText Attention, Ffn;    ///< of the model
};

} // namespace

BlockWriter::BlockWriter(std::vector<LayerText> &Layers, bool AreNamed,
                         raw_ostream &OS)
    : OS(OS), AreNamed(AreNamed) {
  std::vector<LayerText> Kinds;
  for (const LayerText &L : Layers) {
    const auto Known =
        find_if(Kinds, [&](const LayerText &B) { return B.isSameAs(L); });
    Order.push_back(Known - Kinds.begin());
    if (Known != Kinds.end())
      continue;
    Kinds.push_back(L);
    Blocks.push_back(L);
    // A character is one block; others are in the pattern by their names.
    if (const std::string *Symbol = L.Block.find("symbol");
        Symbol && any_of(drop_end(Blocks), [&](const LayerText &B) {
          const std::string *Other = B.Block.find("symbol");
          return Other && *Other == *Symbol;
        }))
      Blocks.back().Block.erase("symbol");
    std::string &Name = Blocks.back().Name;
    if (Name.empty())
      Name = "layer_kind";
    const std::string Stem = Name;
    for (unsigned I = 2;
         any_of(drop_end(Blocks),
                [&](const LayerText &B) { return B.Name == Name; });
         ++I)
      Name = Stem + "_" + std::to_string(I);
  }
}

/// The keys that are the same in all blocks that have the part, if these have
/// the same kind of it.
SectionText BlockWriter::shared(SectionText LayerText::*Part) const {
  SectionText Most = Blocks.front().*Part;
  for (const LayerText &B : Blocks) {
    const SectionText &Of = B.*Part;
    if (Most.Kind == "none")
      Most = Of;
    if (Of.Kind != Most.Kind && Of.Kind != "none")
      return {};
  }
  erase_if(Most.Keys, [&](const WrittenKey &K) {
    return any_of(Blocks, [&](const LayerText &B) {
      const std::string *Text = (B.*Part).find(K.Key);
      return (B.*Part).Kind == Most.Kind && (!Text || *Text != K.Text);
    });
  });
  return Most;
}

/// The keys of \p S that \p Base does not have; all if its kind differs.
static SectionText without(const SectionText &S, const SectionText &Base) {
  SectionText Rest = S;
  if (S.Kind == Base.Kind)
    erase_if(Rest.Keys,
             [&](const WrittenKey &K) { return is_contained(Base.Keys, K); });
  return Rest;
}

void BlockWriter::writeBlock(const LayerText &B) {
  OS << "block " << B.Name << " {";
  const SectionText A = without(B.Attention, Attention),
                    F = without(B.Ffn, Ffn);
  const bool HasAttention = A.Kind != Attention.Kind || !A.Keys.empty();
  const bool HasFfn = F.Kind != Ffn.Kind || !F.Keys.empty();
  if (!HasAttention && !HasFfn && B.Block.Keys.empty()) {
    OS << " }\n";
    return;
  }
  OS << "\n";
  if (HasAttention)
    writeSection("attention", A, OS);
  OS << lineOf(B.Block);
  if (HasFfn)
    writeSection("ffn", F, OS);
  OS << "}\n";
}

/// A sum of runs, and of groups of runs that repeat: the shortest that a search
/// for the longest repetition finds.
std::string BlockWriter::pattern(ArrayRef<size_t> Of) const {
  constexpr size_t LongestGroup = 64;
  SmallVector<std::string, 8> Terms;
  for (size_t I = 0; I < Of.size();) {
    const ArrayRef<size_t> Rest = Of.drop_front(I);
    size_t Best = 1, Covered = 1;
    for (size_t U = 1; U <= std::min(LongestGroup, Rest.size() / 2); ++U) {
      size_t Times = 1;
      while ((Times + 1) * U <= Rest.size() &&
             Rest.slice(Times * U, U) == Rest.take_front(U))
        ++Times;
      if (Times > 1 && Times * U > Covered) {
        Best = U;
        Covered = Times * U;
      }
    }
    const std::string Unit = Best == 1
                                 ? Blocks[Rest.front()].Name
                                 : "(" + pattern(Rest.take_front(Best)) + ")";
    const size_t Times = Covered / Best;
    Terms.push_back(Times == 1 ? Unit : std::to_string(Times) + " * " + Unit);
    I += Covered;
  }
  return join(Terms, " + ");
}

/// The pattern as a string, if each block has a character.
std::string BlockWriter::symbols() const {
  std::string Text;
  for (size_t B : Order) {
    const std::string *Symbol = Blocks[B].Block.find("symbol");
    if (!Symbol && Blocks[B].Name.size() != 1)
      return "";
    Text += Symbol ? StringRef(*Symbol).trim('"').str() : Blocks[B].Name;
  }
  return Text;
}

void BlockWriter::write() {
  const bool HasExperts = hasKey("experts");
  Attention = shared(&LayerText::Attention);
  if (const auto &First = Blocks.front().Ffn;
      !HasExperts || (Blocks.size() > 1 && all_of(Blocks, [&](const auto &B) {
                        return B.Ffn == First;
                      })))
    Ffn = shared(&LayerText::Ffn);
  if (!Attention.Kind.empty() || !Attention.Keys.empty())
    writeSection("attention", Attention, OS);
  if (!Ffn.Kind.empty() || !Ffn.Keys.empty())
    writeSection("ffn", Ffn, OS);
  const bool IsPlain =
      !AreNamed && Blocks.size() == 1 && Blocks.front().Block.Keys.empty() &&
      without(Blocks.front().Attention, Attention).Keys.empty() &&
      Blocks.front().Attention.Kind == Attention.Kind &&
      Blocks.front().Ffn == Ffn;
  if (!IsPlain)
    for (const LayerText &B : Blocks)
      writeBlock(B);
  const std::string Symbols = hasKey("symbol") ? symbols() : "";
  OS << "layers = ";
  if (!Symbols.empty())
    OS << '"' << Symbols << "\"\n";
  else if (Blocks.size() == 1)
    OS << Order.size() << "\n";
  else
    OS << pattern(Order) << "\n";
}

static void writeComments(ArrayRef<std::string> Lines, raw_ostream &OS) {
  for (const std::string &Line : Lines)
    OS << "// " << Line << "\n";
}

Error ImportedJob::complete(ArrayRef<std::string> Given) {
  const auto IsLacking = [&](StringRef Key) {
    const std::string *Text = Keys.find(Key);
    return Text && *Text == Key && is_contained(Params, Key);
  };
  for (StringRef G : Given) {
    const auto [Key, Value] = G.split('=');
    if (!IsLacking(Key) || Value.empty())
      return createStringError("-D gives a key that the input of the model "
                               "lacks, such as `vocab=32000`, found `" +
                               G + "`");
    Keys.set(Key, Value);
  }
  for (const std::string &P : Params)
    if (IsLacking(P))
      return createStringError("the input has no `" + P +
                               "`; give it with `-D " + P + "=...`");
  return Error::success();
}

void ImportedJob::write(raw_ostream &To) {
  std::string Text;
  raw_string_ostream OS(Text);
  writeComments(Comments, OS);
  if (!Library.empty())
    OS << "import \"models/" << Library << ".fore\"\n";
  if (!Params.empty())
    OS << "\n// To be given with -D.\n";
  for (const std::string &P : Params)
    OS << "param " << P << "\n";
  if (!Layers.empty()) {
    OS << "\n";
    writeComments(ModelComments, OS);
    OS << "model " << Model << " {\n" << lineOf(Keys);
    BlockWriter Blocks(Layers, !Branch.Kind.empty(), OS);
    Blocks.write();
    SectionText Of = Branch;
    for (WrittenKey &K : Of.Keys)
      if (K.Text == "last_layer")
        K.Text = Blocks.nameOfLast();
    if (!Of.Kind.empty())
      writeSection("branch", Of, OS);
    OS << "}\n";
  }
  const std::pair<StringRef, const SectionText *> Sections[] = {
      {"requests", &Requests},
      {"serve", &Serve},
      {"train", &Train},
      {"parallel", &Parallel},
      {"emit", &Emit}};
  for (const auto &[Keyword, S] : Sections)
    if (!S->Keys.empty() || !S->Kind.empty()) {
      OS << "\n";
      writeSection(Keyword, *S, OS, /*IsBroken=*/true);
    }
  // The formatter drops an empty line before the first section.
  const std::optional<std::string> Styled = formatText(Text);
  To << (Styled && StringRef(Text).starts_with("\n") ? "\n" : "")
     << Styled.value_or(Text);
}

} // namespace foretrace::importers
