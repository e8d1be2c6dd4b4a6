// SPDX-License-Identifier: Apache-2.0
#include "tools/explore/PrintedJob.h"
#include "frontend/Format.h"
#include "tools/diff/Keys.h"
#include "tools/explore/JobText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace::explore {

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
