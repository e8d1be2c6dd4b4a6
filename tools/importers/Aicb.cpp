// SPDX-License-Identifier: Apache-2.0
//
// Command lines of AICB: those of its scripts, which read their options in a
// loop and pass others on, and those of the generator itself.
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Import.h"
#include "tools/importers/Importers.h"
#include "tools/importers/Translation.h"
#include "tools/importers/readers/ReadArguments.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
namespace path = llvm::sys::path;

namespace foretrace::importers {

namespace {

/// The options of a program, as sections `takes` and `flags` of a page list
/// them: the key of each, and the words for it.
class OptionTable {
public:
  explicit OptionTable(const ast::Section &Class);

  struct Option {
    StringRef Key;
    bool TakesValue = false;
  };
  const Option *find(StringRef Word) const;
  /// Finds a word that may be cut short, as Python's argparse does.
  const Option *findPrefix(StringRef Word) const;
  std::vector<StringRef> words() const;

private:
  std::vector<std::pair<std::string, Option>> All;
};

class CommandImporter {
public:
  CommandImporter(std::vector<ArgumentWord> Words, ImportRequest &Request)
      : Words(std::move(Words)),
        Classes("import/aicb", Request.Sources, Request.Diags),
        Request(Request), Diags(Request.Diags) {}

  std::optional<ImportedJob> import();

private:
  const ast::Section *readCommand();
  const ast::Section *readScript(const ast::Section &Script, size_t At);
  void readScriptOptions(const OptionTable &Known, size_t At);
  void readArguments(size_t At, StringRef Options, StringRef Positional);
  const ast::Section *findProgram(size_t At);
  void applyPreset(StringRef Script, const ArgumentWord &Called);
  /// Sets the keys of a section of a class, as if they were at \p Where.
  void setAll(const ast::Section &Class, StringRef Keyword, SourceRange Where);
  void set(StringRef Key, ForeignValue Is);
  ForeignValue *find(StringRef Key);

  const std::vector<ArgumentWord> Words;
  Pages Classes;
  ImportRequest &Request;
  DiagnosticEngine &Diags;
  std::vector<ForeignValue::Member> Members;
};

} // namespace

static const ast::Section *childOf(const ast::Section &Class,
                                   StringRef Keyword) {
  for (const ast::Entry &E : Class.Entries)
    if (const ast::Section *S = sectionOf(E); S && S->Keyword.Text == Keyword)
      return S;
  return nullptr;
}

OptionTable::OptionTable(const ast::Section &Class) {
  for (StringRef Keyword : {"takes", "flags"}) {
    const ast::Section *S = childOf(Class, Keyword);
    if (!S)
      continue;
    for (const ast::Entry &E : S->Entries) {
      const auto &A = std::get<ast::Assignment>(E.Node);
      SmallVector<StringRef, 4> Spellings;
      SplitString(textOf(*A.Value), Spellings);
      for (StringRef Word : Spellings)
        All.push_back({Word.str(), {A.Key.Text, Keyword == "takes"}});
    }
  }
}

const OptionTable::Option *OptionTable::find(StringRef Word) const {
  for (const auto &[Known, Is] : All)
    if (Known == Word)
      return &Is;
  return nullptr;
}

const OptionTable::Option *OptionTable::findPrefix(StringRef Word) const {
  if (const Option *Exact = find(Word))
    return Exact;
  const Option *Only = nullptr;
  for (const auto &[Known, Is] : All)
    if (StringRef(Known).starts_with(Word)) {
      if (Only)
        return nullptr;
      Only = &Is;
    }
  return Only;
}

std::vector<StringRef> OptionTable::words() const {
  std::vector<StringRef> Known;
  for (const auto &[Word, Is] : All)
    Known.push_back(Word);
  return Known;
}

ForeignValue *CommandImporter::find(StringRef Key) {
  for (ForeignValue::Member &M : Members)
    if (M.Key.Text == Key)
      return &M.Is;
  return nullptr;
}

void CommandImporter::set(StringRef Key, ForeignValue Is) {
  const SourceRange Where = Is.Range;
  if (ForeignValue *Known = find(Key))
    *Known = std::move(Is);
  else
    Members.push_back({{Key.str(), Where}, std::move(Is)});
}

void CommandImporter::setAll(const ast::Section &Class, StringRef Keyword,
                             SourceRange Where) {
  const ast::Section *S = childOf(Class, Keyword);
  if (!S)
    return;
  for (const ast::Entry &E : S->Entries) {
    const auto &A = std::get<ast::Assignment>(E.Node);
    ForeignValue New = ForeignValue::of(textOf(*A.Value).str(), Where);
    if (const auto *N = std::get_if<ast::Number>(&A.Value->Node))
      New = readScalar(N->Digits, Where);
    else if (const auto *B = std::get_if<ast::Boolean>(&A.Value->Node))
      New = ForeignValue::of(B->Value, Where);
    const ForeignValue *Old = find(A.Key.Text);
    if (Keyword == "sets" && Old && Old->IsBare && Old->print() != New.print())
      Diags.report(Old->Range, diag::ImportPresetWins, A.Key.Text, Old->print(),
                   New.print());
    set(A.Key.Text, std::move(New));
  }
}

/// The value of an option's word, marked as written by the user.
static ForeignValue valueOfWord(const ArgumentWord &Word) {
  ForeignValue V = readScalar(Word.Text, Word.Range);
  V.IsBare = true;
  return V;
}

/// Replays the loop of a script, which ends at the first word that it does not
/// know.
void CommandImporter::readScriptOptions(const OptionTable &Known, size_t At) {
  for (; At < Words.size(); ++At) {
    const ArgumentWord &Word = Words[At];
    const OptionTable::Option *Option = Known.find(Word.Text);
    if (!Option) {
      suggest(Diags.report(Word.Range, diag::ImportReadingStops, Word.Text,
                           Words.size() - At),
              Word.Range, StringRef(Word.Text).split('=').first, Known.words());
      return;
    }
    if (!Option->TakesValue) {
      set(Option->Key, ForeignValue::of(true, Word.Range));
    } else if (++At < Words.size()) {
      set(Option->Key, valueOfWord(Words[At]));
    } else {
      Diags.report(Word.Range, diag::ImportOptionValue, Word.Text,
                   "has no value");
    }
  }
}

/// Applies the preset of `-m` or of its default, which overrides options.
void CommandImporter::applyPreset(StringRef Script,
                                  const ArgumentWord &Called) {
  const ForeignValue *Size = find("model_size");
  const SourceRange Where = Size ? Size->Range : Called.Range;
  const std::string Name = Size ? Size->print() : "";
  const ast::Section *Preset =
      Classes.findBy("presets", (Script + " " + Name).str());
  if (!Preset)
    Preset = Classes.findBy("presets", (Script + " else").str());
  if (!Preset)
    return;
  if (const StringRef Warning = textOfKey(*Preset, "warn"); !Warning.empty())
    Diags.report(Where, diag::ImportDiffers, Warning);
  setAll(*Preset, "sets", Where);
}

const ast::Section *CommandImporter::readScript(const ast::Section &Script,
                                                size_t At) {
  for (const ArgumentWord &Before : ArrayRef(Words).take_front(At))
    if (const auto [Name, Is] = StringRef(Before.Text).split('='); !Is.empty())
      set(Name, readScalar(Is, Before.Range));
  setAll(Script, "start", Words[At].Range);
  readScriptOptions(OptionTable(Script), At + 1);
  applyPreset(Script.Label.Text, Words[At]);
  return Classes.findClass(textOfKey(Script, "passes_to"));
}

/// Reads arguments as Python's argparse does. Words without `--` are those of
/// \p Positional, as many as it has.
void CommandImporter::readArguments(size_t At, StringRef Options,
                                    StringRef Positional) {
  const OptionTable Known(*Classes.findClass(Options));
  for (; At < Words.size(); ++At) {
    const ArgumentWord &Word = Words[At];
    const auto [Name, Assigned] = StringRef(Word.Text).split('=');
    const bool HasValue = Name.size() != Word.Text.size();
    const OptionTable::Option *Option =
        Name.starts_with("--") ? Known.findPrefix(Name) : nullptr;
    if (!Name.starts_with("--") && !Positional.empty()) {
      StringRef Key;
      std::tie(Key, Positional) = Positional.split(' ');
      set(Key, valueOfWord(Word));
    } else if (!Option) {
      suggest(Diags.report(Word.Range, diag::ImportUnknownOption, Name),
              Word.Range, Name, Known.words());
    } else if (!Option->TakesValue && !HasValue) {
      set(Option->Key, ForeignValue::of(true, Word.Range));
    } else if (Option->TakesValue && HasValue) {
      set(Option->Key, valueOfWord({Assigned.str(), Word.Range}));
    } else if (Option->TakesValue && At + 1 < Words.size()) {
      set(Option->Key, valueOfWord(Words[++At]));
    } else {
      Diags.report(Word.Range, diag::ImportOptionValue, Name,
                   HasValue ? "takes no value" : "has no value");
    }
  }
}

/// Returns the class of one of the programs for inference, if that is at \p At
/// or has the options there; else null.
const ast::Section *CommandImporter::findProgram(size_t At) {
  StringRef Name = path::filename(Words[At].Text);
  Name.consume_back(".py");
  Name = Name.drop_front(Name.rfind('.') + 1); // of its package
  if (const ast::Section *Program = Classes.findBy("programs", Name))
    return Program;
  const bool HasPhase = any_of(Words, [](const ArgumentWord &W) {
    return StringRef(W.Text).split('=').first == "--phase";
  });
  return HasPhase && !find("program") ? Classes.findClass("inference")
                                      : nullptr;
}

/// Reads the words as the program in them does; the class of what they mean.
const ast::Section *CommandImporter::readCommand() {
  size_t At = 0;
  for (; At != Words.size(); ++At) {
    const ArgumentWord &Word = Words[At];
    const StringRef Base = path::filename(Word.Text);
    if (const ast::Section *Script = Classes.findBy("scripts", Base))
      return readScript(*Script, At);
    if (Base.ends_with(".sh")) {
      Diags.report(Word.Range, diag::ImportUnknownScript, Word.Text,
                   join(Classes.wordsOf("scripts"), ", "));
      return nullptr;
    }
    // `torchrun ... aicb.py ...` and `python -m module ...`.
    if (Base.ends_with(".py") || (At && Words[At - 1].Text == "-m"))
      break;
  }
  if (At == Words.size()) // arguments alone
    At = find_if(Words,
                 [](const ArgumentWord &W) {
                   return StringRef(W.Text).starts_with("-");
                 }) -
         Words.begin();
  else
    set("program", ForeignValue::of(path::filename(Words[At].Text).str(),
                                    Words[At].Range));
  if (At == Words.size()) {
    Diags.report(Words.front().Range, diag::ImportSyntax,
                 "neither a script of AICB nor arguments of its generator");
    return nullptr;
  }
  if (const ast::Section *Program = findProgram(At)) {
    readArguments(find("program") ? At + 1 : 0, "inference_options",
                  "model_name config_file aiob_file");
    return Program;
  }
  readArguments(find("program") ? At + 1 : At, "generator_options", "");
  return Classes.findClass("generator");
}

std::optional<ImportedJob> CommandImporter::import() {
  const ast::Section *Class = readCommand();
  if (!Class || Diags.hasErrors())
    return std::nullopt;
  if (!find("program"))
    set("program",
        ForeignValue::of(std::string("SimAI_training_workload_generator"),
                         Words.front().Range));
  std::optional<ImportedJob> Job = translate(
      Classes, *Class, ForeignValue::of(Members, Words.front().Range), Request);
  if (!Job)
    return std::nullopt;
  Job->Comments = {"A job of AICB, as its generator reads it."};
  if (const ForeignValue *Name = find("model_name"))
    Job->Model = wordOf(Name->Is == ForeignValue::Kind::Text ? Name->Text
                                                             : Name->print());
  return Job;
}

std::optional<ImportedJob> importAicb(ImportRequest &Request) {
  std::optional<SourceText> Text;
  const std::string &First = Request.Words.front();
  if (Request.Words.size() == 1 && (First == "-" || sys::fs::exists(First)))
    Text = Request.read(First);
  else
    Text = Request.Sources.text(
        Request.Sources.add(join(Request.Words, " "), "<arguments>"));
  if (!Text)
    return std::nullopt;
  std::vector<ArgumentWord> Words = readWords(*Text);
  if (Words.empty()) {
    Request.Diags.report(Text->range(), diag::ImportSyntax,
                         "the file is empty");
    return std::nullopt;
  }
  return CommandImporter(std::move(Words), Request).import();
}

} // namespace foretrace::importers
