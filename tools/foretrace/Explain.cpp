// SPDX-License-Identifier: Apache-2.0
//
// `foretrace explain`: a number of a job back to its source, or a diagnostic.
#include "tools/explain/Explain.h"
#include "tools/explain/DiagnosticPage.h"
#include "tools/explain/Printer.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Messages.h"

using namespace llvm;

namespace foretrace {

/// An option of the command.
template <typename T> struct Option : cl::opt<T> {
  Option(StringRef Name, StringRef Value, StringRef Doc, const T &Default = T())
      : cl::opt<T>(Name, cl::value_desc(Value), cl::desc(Doc),
                   cl::init(Default), cl::cat(outputCategory()),
                   cl::sub(explainCommand())) {}
  std::optional<T> given() const {
    return this->getNumOccurrences() ? std::optional(T(*this)) : std::nullopt;
  }
};

static Option<std::string> Op("op", "name", "Ops: [BLOCK/]OP[/PHASE]");
static Option<std::string> Param("param", "name", "Parameters: [BLOCK/]NAME");
static Option<bool> Memory("memory", "", "What each stage holds");
static Option<bool> Sent("messages", "", "What each stage sends");
static Option<std::string> Backend("emit", "backend",
                                   "Of this: simai or chakra");
static Option<int64_t> Row("row", "n", "A row of its table, from 1");
static Option<int64_t> Node("node", "n", "A node of its trace of --rank");
static Option<int64_t> Rank("rank", "n", "Whose trace it is");
static Option<int64_t> Stage("stage", "n", "Only of this stage, from 0");
static Option<std::string> Format("format", "format", "text or json", "text");

ExitCode runExplain() {
  const explain::Query Asked = {Op,           Param,         Memory,
                                Sent,         Backend,       Row.given(),
                                Node.given(), Stage.given(), Rank.given()};
  explain::PrinterFn *Print = explain::findPrinter(Format);
  if (jobPath().empty() || !Print)
    return usageError(!Print ? "--format: text or json"
                             : "explain: a job or a diagnostic is missing");
  if (Asked.isEmpty()) {
    Error E = explain::printDiagnostic(jobPath(), outs());
    return E ? usageError(toString(std::move(E))) : ExitSuccess;
  }
  Compiler Session;
  CompiledJob &Job = Session.read(jobPath(), frontendOptions(), makeEngine());
  if (const ir::Program *P = Job.program()) {
    Expected<explain::Subjects> Found = explain::explain(*P, Asked);
    if (!Found)
      return usageError(toString(Found.takeError()));
    Print(*Found, Session.sources(), outs());
  }
  return showMessages(Job.engine(), Session.sources());
}

} // namespace foretrace
