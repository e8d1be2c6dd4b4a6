// SPDX-License-Identifier: Apache-2.0
//
// `foretrace completion` and `foretrace man`: the option table, read at run
// time, as a shell script and as a manual page.
#include "tools/foretrace/Commands.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace foretrace {

static cl::opt<std::string> Shell(cl::Positional, cl::desc("bash|zsh"),
                                  cl::cat(jobCategory()),
                                  cl::sub(completionCommand()));

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

/// As it is typed: `-o`, `--emit`, with a `=` where a value follows one.
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

static void printBash() {
  outs() << "# foretrace completion for bash; source this file\n"
            "_foretrace() {\n"
            "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" words\n"
            "  case \"$COMP_CWORD:${COMP_WORDS[1]}\" in\n"
            "  1:*) words=\"";
  for (const cl::SubCommand *C : commands())
    outs() << C->getName() << " ";
  outs() << "--help --version\" ;;\n";
  for (const cl::SubCommand *C : commands())
    outs() << "  *:" << C->getName() << ") words=\"" << spellings(*C)
           << "\" ;;\n";
  outs() << "  esac\n"
            "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
            "  [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
            "}\n"
            "complete -o default -F _foretrace foretrace\n";
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

static void printZsh() {
  outs() << "#compdef foretrace\n_foretrace() {\n"
            "  if (( CURRENT == 2 )); then\n    local -a commands=(\n";
  for (const cl::SubCommand *C : commands())
    outs() << "      '" << C->getName() << ":" << zshText(C->getDescription())
           << "'\n";
  outs() << "    )\n    _describe command commands\n    return\n  fi\n"
            "  case $words[2] in\n";
  for (const cl::SubCommand *C : commands()) {
    outs() << "  " << C->getName() << ") _arguments";
    for (const cl::Option *O : options(*C)) {
      bool Valued = O->getValueExpectedFlag() == cl::ValueRequired;
      outs() << " \\\n    '" << spelling(*O) << "[" << zshText(O->HelpStr)
             << "]" << (Valued ? ":value:_default" : "") << "'";
    }
    outs() << " \\\n    '*:file:_files' ;;\n";
  }
  outs() << "  esac\n}\n_foretrace \"$@\"\n";
}

ExitCode runCompletion() {
  if (Shell == "bash")
    printBash();
  else if (Shell == "zsh")
    printZsh();
  else
    return usageError("completion: say for which shell: bash or zsh");
  return ExitSuccess;
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

ExitCode runMan() {
  raw_ostream &OS = outs();
  OS << ".TH FORETRACE 1 \"\" \"foretrace " FORETRACE_VERSION "\"\n"
        ".SH NAME\nforetrace \\- compile the description of an LLM training "
        "job to workloads for simulators\n"
        ".SH SYNOPSIS\n.B foretrace\n.I command\n[options]\n";
  for (const cl::SubCommand *C : commands()) {
    OS << ".SH \"FORETRACE " << C->getName().upper() << "\"\n"
       << roff(C->getDescription()) << ".\n";
    for (const cl::Option *O : options(*C)) {
      OS << ".TP\n.B " << roff(spelling(*O));
      if (O->getValueExpectedFlag() == cl::ValueRequired)
        OS << (O->ArgStr.size() == 1 ? "\\ " : "") << "\\fI"
           << roff(O->ValueStr.empty() ? "value" : O->ValueStr) << "\\fR";
      OS << "\n" << roff(O->HelpStr) << "\n";
    }
  }
  OS << ".SH EXIT STATUS\n0 done, 1 diagnosed, 2 wrong usage.\n"
        ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nNo colours on a terminal.\n"
        ".TP\n.B FORETRACE_VERIFY_EACH\nIf set, the same as "
        "\\-\\-verify\\-each.\n";
  return ExitSuccess;
}

} // namespace foretrace
