// SPDX-License-Identifier: Apache-2.0
//
// What the server answers: every request has the whole state of the page, a
// text and changes of keys, so that the server keeps nothing but caches.
#pragma once

#include "frontend/KeyList.h"
#include "tools/explore/HttpReply.h"
#include "tools/explore/LiveJob.h"
#include <variant>

namespace foretrace::explore {

/// The answer to a request, now or later.
using HttpAnswer = std::variant<HttpReply, SlowReply>;

class Endpoints {
public:
  /// Diagnostics of jobs begin as \p MakeEngine says.
  Endpoints(LiveJob &Job, std::function<DiagnosticEngine()> MakeEngine);

  /// Answers a request for \p Path, with a body if it is a POST. What is wrong
  /// with a request is an answer, never an end. Only a search is made later.
  HttpAnswer answer(bool IsPost, llvm::StringRef Path, llvm::StringRef Body);

private:
  using Object = llvm::json::Object;

  HttpReply page();
  HttpReply job();
  HttpReply compile(const Object &Asked);
  HttpReply controls(const Object &Asked);
  HttpReply values(const Object &Asked);
  HttpAnswer suggest(const Object &Asked);
  HttpReply compare(const Object &Asked);
  HttpReply exportAs(const Object &Asked);
  HttpReply write(const Object &Asked);

  std::string commandOf(const JobVariant &V) const;
  bool writeData(CompiledJob &Of, llvm::raw_ostream &OS);

  LiveJob &Job;
  const std::function<DiagnosticEngine()> MakeEngine;
  std::vector<KeyEntry> Keys; ///< with their documentation; filled when needed
};

} // namespace foretrace::explore
