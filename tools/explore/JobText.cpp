// SPDX-License-Identifier: Apache-2.0
#include "tools/explore/JobText.h"
#include "frontend/Format.h"
#include "frontend/Parse.h"
#include "frontend/UnusedNames.h"
#include "tools/diff/Keys.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <map>

using namespace llvm;

namespace foretrace::explore {

namespace {

/// Replaces what is between two bytes.
struct Edit {
  size_t Begin, End;
  std::string Text;
};

class ChangeWriter {
public:
  ChangeWriter(const ast::File &File, StringRef Text, StringRef Model)
      : File(File), Text(Text), Model(Model) {}

  /// Replaces the section with the cluster by one of the cluster \p Name, whose
  /// keys can be written from then on. Returns the name of the import that the
  /// section had.
  StringRef writeCluster(StringRef Name);
  /// False if the change has no place.
  bool write(StringRef Path, StringRef Value);
  std::string apply() &&;

private:
  bool writeParam(StringRef Name, StringRef Value, bool IsOfKey);
  bool isTaken(StringRef Name) const;
  bool writeKey(const ast::Section &In, ArrayRef<StringRef> Sections,
                StringRef Key, StringRef Value);
  const ast::Section *findTop(StringRef Keyword, bool &IsUnique) const;
  void insertInto(const ast::Section &In, std::string Entry);
  void replace(SourceRange Range, StringRef By) {
    Edits.push_back({Range.Begin, Range.End, By.str()});
  }

  const ast::File &File;
  const StringRef Text, Model;
  std::vector<Edit> Edits;
  std::map<std::string, std::string> NewSections; ///< entries by head
  std::string NewCluster;                         ///< head of its section
};

} // namespace

/// A param of the name of a key that has no value gets that of the key.
bool ChangeWriter::writeParam(StringRef Name, StringRef Value, bool IsOfKey) {
  for (const ast::Item &I : File.Items) {
    const auto *P = std::get_if<ast::Param>(&I.Node);
    if (!P || P->Name.Text != Name || (IsOfKey && P->Default))
      continue;
    if (P->Default)
      replace(P->Default->Range, Value);
    else
      Edits.push_back({I.Range.End, I.Range.End, (" = " + Value).str()});
    return true;
  }
  return false;
}

bool ChangeWriter::isTaken(StringRef Name) const {
  return any_of(File.Items, [&](const ast::Item &I) {
    const auto *Import = std::get_if<ast::Import>(&I.Node);
    const auto *P = std::get_if<ast::Param>(&I.Node);
    const auto *L = std::get_if<ast::Let>(&I.Node);
    return (Import && Import->Alias.Text == Name) ||
           (P && P->Name.Text == Name) || (L && L->Name.Text == Name);
  });
}

StringRef ChangeWriter::writeCluster(StringRef Name) {
  const bool IsFile = Name.ends_with(".toml");
  std::string Alias;
  for (const char C : IsFile ? sys::path::stem(Name) : Name)
    Alias += isAlnum(C) ? C : '_';
  while (isTaken(Alias))
    Alias += '_';
  size_t LastImport = 0;
  for (const ast::Item &I : File.Items)
    if (std::holds_alternative<ast::Import>(I.Node))
      LastImport = I.Range.End;
  const std::string Import =
      "import \"" +
      (IsFile ? Name.str() : ("clusters/" + Name + ".toml").str()) + "\" as " +
      Alias;
  Edits.push_back({LastImport, LastImport,
                   LastImport == 0 ? Import + "\n" : "\n" + Import});
  NewCluster = "cluster : " + Alias;
  NewSections[NewCluster] = "";
  bool IsUnique = true;
  const ast::Section *Old = findTop("cluster", IsUnique);
  if (!Old)
    return "";
  replace(Old->Range, "");
  return Old->Base.Text;
}

const ast::Section *ChangeWriter::findTop(StringRef Keyword,
                                          bool &IsUnique) const {
  const ast::Section *Found = nullptr;
  IsUnique = true;
  for (const ast::Item &I : File.Items)
    if (const auto *S = std::get_if<ast::Section>(&I.Node);
        S && S->Keyword.Text == Keyword) {
      IsUnique &= !Found;
      Found = S;
    }
  return Found;
}

/// Adds an entry in front of the closing brace, on a line of its own if the
/// brace is on one.
void ChangeWriter::insertInto(const ast::Section &In, std::string Entry) {
  const size_t Brace = In.Range.End - 1;
  const StringRef Before = Text.take_front(Brace).rtrim(" \t");
  const bool IsOnLine = Before.ends_with("\n");
  Edits.push_back({IsOnLine ? Before.size() : Brace,
                   IsOnLine ? Before.size() : Brace,
                   IsOnLine ? "  " + Entry + "\n" : " " + Entry + " "});
}

/// In a model, other names than those of sections are names of blocks.
static std::string nest(ArrayRef<StringRef> Sections, std::string Entry,
                        bool IsInModel = false) {
  for (const StringRef Section : reverse(Sections)) {
    const bool IsBlock = IsInModel && Section != "attention" &&
                         Section != "ffn" && Section != "branch";
    Entry = ((IsBlock ? "block " : "") + Section + " { " + Entry + " }").str();
  }
  return Entry;
}

/// Returns whether a condition decides what the key or section is.
static bool isConditional(ArrayRef<ast::Entry> Entries, StringRef Name) {
  return any_of(Entries, [&](const ast::Entry &E) {
    if (const auto *If = std::get_if<ast::If>(&E.Node))
      return isConditional(If->Then, Name) || isConditional(If->Else, Name);
    const auto *A = std::get_if<ast::Assignment>(&E.Node);
    const auto *S = std::get_if<ast::Section>(&E.Node);
    return (A && A->Key.Text == Name) || (S && S->Keyword.Text == Name);
  });
}

bool ChangeWriter::writeKey(const ast::Section &In,
                            ArrayRef<StringRef> Sections, StringRef Key,
                            StringRef Value) {
  const StringRef Next = Sections.empty() ? Key : Sections.front();
  for (const ast::Entry &E : In.Entries) {
    if (const auto *A = std::get_if<ast::Assignment>(&E.Node);
        A && A->Key.Text == Next) {
      if (!Sections.empty())
        return false; // a table
      replace(A->Value->Range, Value);
      return true;
    }
    const auto *S = std::get_if<ast::Section>(&E.Node);
    if (S && !Sections.empty() &&
        (S->Keyword.Text == "block" ? S->Label : S->Keyword).Text == Next)
      return writeKey(*S, Sections.drop_front(), Key, Value);
  }
  if ((!Sections.empty() && In.Keyword.Text == "model") ||
      isConditional(In.Entries, Next))
    return false; // of a kind that is not known, or under a condition
  insertInto(In, nest(Sections, (Key + " = " + Value).str()));
  return true;
}

bool ChangeWriter::write(StringRef Path, StringRef Value) {
  SmallVector<StringRef, 4> Names;
  Path.split(Names, '.');
  if (Names.size() == 1)
    return writeParam(Path, Value, /*IsOfKey=*/false);
  if (Names.size() == 2)
    writeParam(Names.back(), Value, /*IsOfKey=*/true);
  const StringRef Top = Names.front(), Key = Names.back();
  const ArrayRef<StringRef> Sections = ArrayRef(Names).drop_front().drop_back();
  bool IsUnique = true;
  const bool IsOfNewCluster = Top == "cluster" && !NewCluster.empty();
  const ast::Section *In = IsOfNewCluster ? nullptr : findTop(Top, IsUnique);
  if (In)
    return IsUnique && writeKey(*In, Sections, Key, Value);
  if ((Top == "model" && Model.empty()) || Top == "cost")
    return false; // it has a kind or a name
  const std::string Head =
      Top == "model"   ? (Top + " changed_" + Model + " : " + Model).str()
      : IsOfNewCluster ? NewCluster
                       : Top.str();
  std::string &Entries = NewSections[Head];
  Entries += (Entries.empty() ? "" : "   ") +
             nest(Sections, (Key + " = " + Value).str(), Top == "model");
  return true;
}

std::string ChangeWriter::apply() && {
  stable_sort(Edits,
              [](const Edit &A, const Edit &B) { return A.Begin < B.Begin; });
  std::string Made;
  size_t At = 0;
  for (const Edit &E : Edits) {
    Made += Text.slice(At, E.Begin);
    Made += E.Text;
    At = E.End;
  }
  Made += Text.drop_front(At);
  for (const StringRef Keyword :
       {"model", "train", "requests", "serve", "parallel", "cluster"})
    for (const auto &[Head, Entries] : NewSections)
      if (StringRef(Head).starts_with(Keyword))
        Made += (StringRef(Made).ends_with("\n") ? "\n" : "\n\n") + Head +
                " { " + Entries + " }\n";
  return Made;
}

/// Leaves out the import of that name if nothing in \p Text needs it any more.
static void dropImport(StringRef Alias, std::string &Text) {
  const std::optional<ast::File> File = parseText(Text);
  if (!File)
    return;
  for (const UnusedName &Of : findUnusedNames(*File, Text))
    if (Of.Kind == "import" && Of.Name->Text == Alias) {
      const bool EndsLine =
          StringRef(Text).substr(Of.Item.End).starts_with("\n");
      Text.erase(Of.Item.Begin, Of.Item.End - Of.Item.Begin + EndsLine);
      return;
    }
}

WrittenJob writeChanges(StringRef Text, ArrayRef<std::string> Changes,
                        StringRef Model) {
  const std::optional<ast::File> File = parseText(Text);
  if (!File)
    return {Text.str(), Changes.vec()};
  WrittenJob Made;
  ChangeWriter Writer(*File, Text, Model);
  StringRef OldCluster; // its import
  for (const StringRef Change : reverse(Changes))
    if (const auto [Path, Name] = Change.split('='); Path.trim() == "cluster") {
      OldCluster = Writer.writeCluster(Name.trim().trim('"'));
      break;
    }
  for (size_t I = 0; I != Changes.size(); ++I) {
    const auto [Path, Value] = StringRef(Changes[I]).split('=');
    if (Path.trim() == "cluster")
      continue;
    const bool IsReplaced =
        any_of(Changes.drop_front(I + 1), [&, Of = Path](StringRef Later) {
          return Later.split('=').first.trim() == Of.trim();
        });
    if (!IsReplaced && !Writer.write(Path.trim(), Value.trim()))
      Made.Rest.push_back(Changes[I]);
  }
  Made.Text = std::move(Writer).apply();
  if (!OldCluster.empty())
    dropImport(OldCluster, Made.Text);
  if (formatText(Text) == Text)
    if (std::optional<std::string> Styled = formatText(Made.Text))
      Made.Text = std::move(*Styled);
  return Made;
}

/// Returns the keys that the job \p S has besides those of its text.
static std::vector<std::string> changesOf(const ir::Spec &S,
                                          std::vector<std::string> Changes) {
  const bool HasCluster = any_of(Changes, [](StringRef Change) {
    return Change.split('=').first.trim() == "cluster";
  });
  if (HasCluster && S.Cluster->Nodes.isPresent()) // one that is given wins
    Changes.insert(Changes.begin(),
                   "cluster.nodes=" + std::to_string(*S.Cluster->Nodes));
  append_range(Changes, assumedKeys(S));
  return Changes;
}

Expected<std::string> printJob(Compiler &Session, StringRef Path,
                               const ir::Spec &S, FrontendOptions Options) {
  const WrittenJob Made =
      writeChanges(Session.textOf(Path),
                   changesOf(S, std::move(Options.Overrides)), S.Model.Name);
  Options.Overrides.clear();
  SmallString<128> File = sys::path::parent_path(Path);
  sys::path::append(File, "printed.fore"); // which finds the same imports
  Compiler Fresh;
  Fresh.setText(File, Made.Text);
  const CompiledJob &Job = Fresh.read(File, Options);
  if (!Made.Rest.empty() || !Job.spec() ||
      !diff::compareKeys(S, *Job.spec(), true).empty())
    return createStringError("--print-job: " +
                             (Made.Rest.empty()
                                  ? "a key of the command line"
                                  : "`" + join(Made.Rest, "`, `") + "`") +
                             " can't be set in the text of the job");
  return formatText(Made.Text).value_or(Made.Text);
}

} // namespace foretrace::explore
