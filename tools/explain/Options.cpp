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
  Option<bool> Memory = {At, "memory", "", "What each stage holds"};
  Option<bool> Sent = {At, "messages", "", "What each stage sends"};
  Option<bool> Work = {At, "work", "", "What each stage computes"};
  Option<std::string> Backend = {At, "emit", "backend",
                                 "What this backend writes"};
  Option<int64_t> Row = {At, "row", "n", "A row of it, from 1"};
  Option<std::string> Cell = {At, "figure", "figure",
                              "A figure of it: KEY or TABLE/ROW/COLUMN"};
  Option<int64_t> Node = {At, "node", "n", "A node of it"};
  Option<int64_t> Rank = {At, "rank", "n", "Whose trace it is"};
  Option<int64_t> Stage = {At, "stage", "n", "Only of this stage, from 0"};
  Option<std::string> Format = {At, "format", PrinterWords,
                                "A tree, or a row each figure", "text"};
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
