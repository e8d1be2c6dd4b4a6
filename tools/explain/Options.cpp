// SPDX-License-Identifier: Apache-2.0
#include "tools/explain/Options.h"
#include "llvm/Support/CommandLine.h"

using namespace llvm;

namespace foretrace::explain {

struct Options::Table {
  /// Where options belong.
  struct Place {
    cl::SubCommand &Of;
    cl::OptionCategory &In;
  };

  template <typename T> struct Option : cl::opt<T> {
    Option(Place At, StringRef Name, StringRef Value, StringRef Doc,
           const T &Default = T())
        : cl::opt<T>(Name, cl::value_desc(Value), cl::desc(Doc),
                     cl::init(Default), cl::cat(At.In), cl::sub(At.Of)) {}
    std::optional<T> given() const {
      return this->getNumOccurrences() ? std::optional(T(*this)) : std::nullopt;
    }
  };

  Place At;
  Option<std::string> Op = {At, "op", "name", "Ops: [BLOCK/]OP[/PHASE]"};
  Option<std::string> Param = {At, "param", "name", "Parameters: [BLOCK/]NAME"};
  Option<bool> Memory = {At, "memory", "", "Memory of each stage"};
  Option<bool> Sent = {At, "messages", "",
                       "Communication volume of each stage"};
  Option<bool> Work = {At, "work", "", "FLOPs of each stage"};
  Option<std::string> Backend = {At, "emit", "backend",
                                 "Output of this backend"};
  Option<int64_t> Row = {At, "row", "n", "Row of the output, from 1"};
  Option<std::string> Cell = {At, "figure", "figure",
                              "Figure of the output: KEY or TABLE/ROW/COLUMN"};
  Option<int64_t> Node = {At, "node", "n", "Explain this node of the trace"};
  Option<int64_t> Rank = {At, "rank", "n", "Rank of the trace"};
  Option<int64_t> Stage = {At, "stage", "n", "Only this stage, from 0"};
  Option<std::string> Format = {At, "format", PrinterWords,
                                "A tree, or one row per figure", "text"};
};

Options::Options(cl::SubCommand &Of, cl::OptionCategory &In)
    : Given(new Table{{Of, In}}) {}
Options::~Options() = default;

Query Options::asked() const {
  const Table &G = *Given;
  Query Asked;
  Asked.Op = G.Op;
  Asked.Parameter = G.Param;
  Asked.Memory = G.Memory;
  Asked.Messages = G.Sent;
  Asked.Work = G.Work;
  Asked.Backend = G.Backend;
  Asked.Cell = {G.Rank.given(), G.Row.given(), G.Node.given(), G.Stage.given(),
                G.Cell.given()};
  return Asked;
}

PrinterFn *Options::printer() const { return findPrinter(Given->Format); }

} // namespace foretrace::explain
