// SPDX-License-Identifier: Apache-2.0
//
// `foretrace explore`: a page on which the keys of a job are moved.
#include "tools/explore/PageServer.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Messages.h"

using namespace llvm;

namespace foretrace {

static cl::opt<unsigned>
    Port("port", cl::value_desc("n"), cl::init(0),
         cl::desc("Port of 127.0.0.1 (default: 0, a free one)"),
         outputOption(exploreCommand()));

ExitCode runExplore() {
  if (jobPath().empty() || jobPath() == "-")
    return usageError("explore: a file with a job is missing, for example "
                      "`foretrace explore job.fore`");
  if (Port > UINT16_MAX)
    return usageError("explore: --port is at most 65535");
  Compiler Session;
  DiagnosticEngine Diags = makeEngine();
  FrontendOptions Options = jobOptions(Session, Diags);
  if (const ExitCode Failed = showMessages(Diags, Session.sources()))
    return Failed;
  explore::LiveJob Job(jobPath().str(), std::move(Options));
  ExitCode Code = ExitSuccess;
  if (!Job.load(makeEngine(), [&](const auto &Diags, const auto &Sources) {
        Code = showMessages(Diags, Sources);
      }))
    return Code;
  explore::Endpoints Pages(Job, makeEngine);
  if (Error E = explore::serve(Pages, static_cast<uint16_t>(Port),
                               [](StringRef Address) {
                                 outs() << "exploring at " << Address << '\n';
                                 outs().flush();
                               }))
    return failure(std::move(E), ExitEnvironment);
  return ExitSuccess;
}

} // namespace foretrace
