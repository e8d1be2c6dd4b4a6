// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/CommandLineText.h"
#include "backends/Backends.h"
#include "ir/model/SpecFields.h"
#include "lang/Library.h"
#include "passes/PassManager.h"
#include "tools/driver/Listings.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace::driver {

namespace {

/// Collects `parallel.tp=` and so on.
struct OverrideCollector {
  StringRef Section;
  std::vector<std::string> &To;

  template <typename T>
  void operator()(const ir::FieldRow &Row, const Located<T> &) {
    To.push_back((Section + "." + Row.Name + "=").str());
  }
};

} // namespace

/// Returns the names for `-D`: the keys of a job's sections.
static ArrayRef<std::string> overrides() {
  static const std::vector<std::string> All = [] {
    std::vector<std::string> Made;
    const ir::Spec S;
    ir::visitFields(S.Model, OverrideCollector{"model", Made});
    ir::visitFields(S.Train, OverrideCollector{"train", Made});
    ir::visitFields(S.Parallel, OverrideCollector{"parallel", Made});
    return Made;
  }();
  return All;
}

std::vector<CompletionWords> completionWords() {
  // Options of the command line that set one of an `emit` block.
  static constexpr struct {
    StringLiteral Command, Option, Backend, Of;
  } EmitOptions[] = {{"compile", "level", "ir", "level"},
                     {"convert", "ranks", "chakra", "ranks"},
                     {"plan", "comms", "schedule", "comms"},
                     {"plan", "format", "plan", "format"},
                     {"plan", "time", "schedule", "time"}};
  std::vector<CompletionWords> All;
  for (const auto &Row : EmitOptions)
    All.push_back({Row.Command, Row.Option,
                   findBackend(Row.Backend)->findOption(Row.Of)->Words()});
  const std::vector<StringRef> Passes = names(allPasses());
  All.push_back({"compile", "emit", names(allBackends())});
  All.push_back({"compile", "print-after", Passes});
  All.push_back({"completion", "", {"bash", "zsh", "fish"}});
  All.push_back({"", "D", {overrides().begin(), overrides().end()}});
  All.push_back({"list", "", listingNames()});
  std::vector<StringRef> Models, Clusters;
  for (const LibraryModel &M : libraryModels())
    Models.push_back(M.Title);
  for (const LibraryFile &F : libraryFiles())
    if (sys::path::parent_path(F.Path) == "clusters")
      Clusters.push_back(sys::path::stem(F.Path));
  All.push_back({"new", "model", std::move(Models)});
  All.push_back({"new", "cluster", std::move(Clusters)});
  All.push_back({"opt", "passes", Passes});
  All.push_back({"opt", "print-after", Passes});
  return All;
}

static std::vector<const cl::SubCommand *> commands() {
  std::vector<const cl::SubCommand *> All;
  for (cl::SubCommand *S : cl::getRegisteredSubcommands())
    if (!S->getName().empty() && S != &cl::SubCommand::getAll())
      All.push_back(S);
  sort(All, [](auto *A, auto *B) { return A->getName() < B->getName(); });
  return All;
}

/// The visible options of a subcommand, by name.
static std::vector<const cl::Option *> options(const cl::SubCommand &Command) {
  std::vector<const cl::Option *> All;
  for (const auto &Entry : Command.OptionsMap)
    if (Entry.second->getOptionHiddenFlag() == cl::NotHidden)
      All.push_back(Entry.second);
  sort(All, [](auto *A, auto *B) { return A->ArgStr < B->ArgStr; });
  return All;
}

/// Returns an option as typed: `-o`, `--emit`, with `=` if a value follows.
static std::string spelling(const cl::Option &O) {
  if (O.ArgStr.size() == 1)
    return ("-" + O.ArgStr).str();
  StringRef Equals = O.getValueExpectedFlag() == cl::ValueRequired ? "=" : "";
  return ("--" + O.ArgStr + Equals).str();
}

static std::string spellings(const cl::SubCommand &Command) {
  return join(map_range(options(Command),
                        [](const cl::Option *O) { return spelling(*O); }),
              " ");
}

/// The words after a subcommand, or its option, with blanks between them; empty
/// if they can't be known.
static std::string wordsOf(ArrayRef<CompletionWords> Known, StringRef Command,
                           const cl::Option *O = nullptr) {
  for (const CompletionWords &W : Known)
    if ((W.Command == Command || (O && W.Command.empty())) &&
        W.Option == (O ? O->ArgStr : ""))
      return join(W.Words, " ");
  if (!O || !O->ValueStr.contains('|'))
    return "";
  return join(split(O->ValueStr, '|'), " ");
}

static void writeBashCase(const cl::SubCommand &Command,
                          ArrayRef<CompletionWords> Known, raw_ostream &OS) {
  const StringRef Name = Command.getName();
  for (const cl::Option *O : options(Command)) {
    const std::string Words = wordsOf(Known, Name, O);
    if (!Words.empty())
      OS << "  *:" << Name << "--" << O->ArgStr << ") words=\"" << Words
         << "\" ;;\n";
  }
  const std::string Words = wordsOf(Known, Name);
  OS << "  *:" << Name << ") words=\"" << spellings(Command)
     << (Words.empty() ? "" : " ") << Words << "\" ;;\n";
}

void writeBashCompletion(StringRef Name, ArrayRef<CompletionWords> Known,
                         raw_ostream &OS) {
  // Bash takes a `=` for a word of its own.
  OS << "# " << Name << " completion for bash; source this file\n_" << Name
     << "() {\n"
        "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" option= words=\n"
        "  if [[ $cur == = ]]; then\n"
        "    option=${COMP_WORDS[COMP_CWORD-1]} cur=\n"
        "  elif [[ ${COMP_WORDS[COMP_CWORD-1]} == = ]]; then\n"
        "    option=${COMP_WORDS[COMP_CWORD-2]}\n"
        "  elif [[ ${COMP_WORDS[COMP_CWORD-1]} == -D ]]; then\n"
        "    option=--D\n"
        "  fi\n"
        "  case \"$COMP_CWORD:${COMP_WORDS[1]}$option\" in\n"
        "  1:*) words=\"";
  for (const cl::SubCommand *C : commands())
    OS << C->getName() << " ";
  OS << "--help --version\" ;;\n";
  for (const cl::SubCommand *C : commands())
    writeBashCase(*C, Known, OS);
  OS << "  esac\n"
        "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
        "  [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
        "}\n"
        "complete -o default -F _"
     << Name << ' ' << Name << '\n';
}

/// Text for zsh's _arguments, inside single quotes and brackets.
static std::string zshText(StringRef Text) {
  std::string Out;
  for (char C : Text)
    if (C == '[' || C == ']' || C == ':')
      (Out += '\\') += C;
    else if (C == '\'')
      Out += "'\\''";
    else
      Out += C;
  return Out;
}

static void writeZshCase(const cl::SubCommand &Command,
                         ArrayRef<CompletionWords> Known, raw_ostream &OS) {
  const StringRef Name = Command.getName();
  auto Action = [&](const cl::Option *O, StringRef Otherwise) {
    const std::string Words = wordsOf(Known, Name, O);
    return Words.empty() ? Otherwise.str() : "(" + Words + ")";
  };
  OS << "  " << Name << ") _arguments";
  for (const cl::Option *O : options(Command)) {
    OS << " \\\n    '" << spelling(*O) << "[" << zshText(O->HelpStr) << "]";
    if (O->getValueExpectedFlag() == cl::ValueRequired)
      OS << ":value:" << Action(O, "_default");
    OS << "'";
  }
  OS << " \\\n    '*:file:" << Action(nullptr, "_files") << "' ;;\n";
}

void writeZshCompletion(StringRef Name, ArrayRef<CompletionWords> Known,
                        raw_ostream &OS) {
  OS << "#compdef " << Name << "\n_" << Name
     << "() {\n"
        "  if (( CURRENT == 2 )); then\n    local -a commands=(\n";
  for (const cl::SubCommand *C : commands())
    OS << "      '" << C->getName() << ":" << zshText(C->getDescription())
       << "'\n";
  OS << "    )\n    _describe command commands\n    return\n  fi\n"
        "  case $words[2] in\n";
  for (const cl::SubCommand *C : commands())
    writeZshCase(*C, Known, OS);
  OS << "  esac\n}\n_" << Name << " \"$@\"\n";
}

/// Text inside single quotes of fish.
static std::string fishText(StringRef Text) {
  std::string Out;
  for (char C : Text)
    (Out += C == '\'' || C == '\\' ? "\\" : "") += C;
  return Out;
}

void writeFishCompletion(StringRef Name, ArrayRef<CompletionWords> Known,
                         raw_ostream &OS) {
  const std::string Start = ("complete -c " + Name + " -n ").str();
  for (const cl::SubCommand *C : commands())
    OS << Start << "__fish_use_subcommand -a " << C->getName() << " -d '"
       << fishText(C->getDescription()) << "'\n";
  OS << Start << "__fish_use_subcommand -l help -l version\n";
  for (const StringRef Of : {"help", "man"}) // take the name of a subcommand
    OS << Start << "'__fish_seen_subcommand_from " << Of << "' -f -a '"
       << join(map_range(commands(),
                         [](const cl::SubCommand *C) { return C->getName(); }),
               " ")
       << "'\n";
  for (const cl::SubCommand *C : commands()) {
    const std::string Of =
        (Start + "'__fish_seen_subcommand_from " + C->getName() + "'").str();
    for (const cl::Option *O : options(*C)) {
      const std::string Words = wordsOf(Known, C->getName(), O);
      OS << Of << (O->ArgStr.size() == 1 ? " -s " : " -l ") << O->ArgStr
         << " -d '" << fishText(O->HelpStr) << "'";
      if (!Words.empty())
        OS << " -x -a '" << fishText(Words) << "'";
      else if (O->getValueExpectedFlag() == cl::ValueRequired)
        OS << " -r";
      OS << '\n';
    }
    const bool TakesFiles =
        C->getName() == "import" || C->getName() == "export";
    if (const std::string Words = wordsOf(Known, C->getName()); !Words.empty())
      OS << Of << (TakesFiles ? " -a '" : " -f -a '") << fishText(Words)
         << "'\n";
  }
}

/// Text for troff: hyphens and backslashes mean themselves.
static std::string roff(StringRef Text) {
  std::string Out;
  for (char C : Text)
    if (C == '-' || C == '\\')
      (Out += '\\') += C == '-' ? '-' : 'e';
    else
      Out += C;
  return Out;
}

/// The options of a subcommand, and an example.
static void writeManOptions(const ManPage &Of, const cl::SubCommand &C,
                            raw_ostream &OS) {
  for (const cl::Option *O : options(C)) {
    OS << ".TP\n.B " << roff(spelling(*O));
    if (O->getValueExpectedFlag() == cl::ValueRequired)
      OS << (O->ArgStr.size() == 1 ? "\\ " : "") << "\\fI"
         << roff(O->ValueStr.empty() ? "value" : O->ValueStr) << "\\fR";
    OS << "\n" << roff(O->HelpStr) << "\n";
  }
  for (const auto &[Command, Example] : Of.Examples)
    if (Command == C.getName())
      OS << ".PP\nExample:\n.PP\n.RS\n.nf\n" << roff(Example) << "\n.fi\n.RE\n";
}

static void writeManEnd(const ManPage &Of, raw_ostream &OS) {
  OS << ".SH EXIT STATUS\n" << roff(Of.ExitStatus) << "\n.SH ENVIRONMENT\n";
  for (const auto &[Variable, Doc] : Of.Environment)
    OS << ".TP\n.B " << Variable << '\n' << roff(Doc) << '\n';
}

/// The page of one subcommand.
static void writeManPageOf(const cl::SubCommand &C, const ManPage &Of,
                           raw_ostream &OS) {
  OS << ".TH " << Of.Name.upper() << "\\-" << C.getName().upper()
     << " 1 \"\" \"" << Of.Name << ' ' << Of.Version << "\"\n.SH NAME\n"
     << Of.Name << "\\-" << C.getName() << " \\- " << roff(C.getDescription())
     << "\n.SH SYNOPSIS\n.B " << Of.Name << ' ' << C.getName()
     << "\n[options]\n.SH OPTIONS\n";
  writeManOptions(Of, C, OS);
  writeManEnd(Of, OS);
  OS << ".SH SEE ALSO\n.BR " << Of.Name << " (1)\n";
}

bool writeManPage(const ManPage &Of, StringRef Command, raw_ostream &OS) {
  for (const cl::SubCommand *C : commands())
    if (C->getName() == Command) {
      writeManPageOf(*C, Of, OS);
      return true;
    }
  if (!Command.empty())
    return false;
  OS << ".TH " << Of.Name.upper() << " 1 \"\" \"" << Of.Name << ' '
     << Of.Version << "\"\n.SH NAME\n"
     << Of.Name << " \\- " << roff(Of.Summary) << "\n.SH SYNOPSIS\n.B "
     << Of.Name << "\n.I command\n[options]\n";
  for (const cl::SubCommand *C : commands()) {
    OS << ".SH \"" << Of.Name.upper() << ' ' << C->getName().upper() << "\"\n"
       << roff(C->getDescription()) << ".\n";
    writeManOptions(Of, *C, OS);
  }
  writeManEnd(Of, OS);
  return true;
}

} // namespace foretrace::driver
