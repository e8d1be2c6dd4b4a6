// SPDX-License-Identifier: Apache-2.0
//
// `foretrace diff`: what differs in meaning between two jobs.
#include "tools/diff/Input.h"
#include "tools/diff/Writer.h"
#include "tools/driver/FormatOption.h"
#include "tools/foretrace/Emit.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Messages.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace {

static cl::list<std::string> Paths(cl::Positional,
                                   cl::desc("<before.fore> [<after.fore>]"),
                                   jobOption(diffCommand()));

static cl::list<std::string> Changes(
    "with", cl::value_desc("name=value"),
    cl::desc(
        "Like -D, but only for the second job, which can be the first one"),
    jobOption(diffCommand()));

static driver::QuantityFormatOption DiffFormat(diffCommand(), outputCategory(),
                                               "Format of differences:");

static cl::opt<std::string>
    DiffOutput("o", cl::value_desc("file"), cl::init("-"),
               cl::desc("Output file (default: standard output)"),
               outputOption(diffCommand()));

static cl::opt<unsigned>
    DiffLimit("limit", cl::value_desc("n"), cl::init(20),
              cl::desc("Number of rows to print of each table or in Markdown "
                       "(default: 20; 0: all)"),
              outputOption(diffCommand()));

/// Messages of both.
static ExitCode showTrouble(const diff::Input &Before, const diff::Input &After,
                            const SourceFiles &Sources) {
  const ExitCode Codes[] = {showMessages(Before.messages(), Sources),
                            showMessages(After.messages(), Sources)};
  return is_contained(Codes, ExitDiagnosed) ? ExitDiagnosed : ExitEnvironment;
}

static std::string nameOfSecond() {
  const std::string &Path = Paths[Paths.size() - 1];
  return Changes.empty() ? Path : Path + " with " + join(Changes, " ");
}

static ExitCode compare(diff::Input &Before, diff::Input &After,
                        const SourceFiles &Sources) {
  if (!Before.isRead() || !After.isRead())
    return showTrouble(Before, After, Sources);
  const diff::Side Old = Before.side(Paths[0], After),
                   New = After.side(nameOfSecond(), Before);
  if (!Old.Program && !New.Program)
    return showTrouble(Before, After, Sources);
  const std::unique_ptr<diff::Difference> D = diff::compare(Old, New);
  InputFiles Inputs;
  Inputs.add(Sources);
  const diff::DiffWriter Writer(Old, New, *D, Sources, DiffLimit,
                                DiffFormat.isExact());
  if (Error E =
          writeFile(DiffOutput, outputOptions(), std::move(Inputs),
                    [&](raw_ostream &OS) { Writer.write(DiffFormat, OS); }))
    return failure(std::move(E));
  return D->isNone() ? ExitSuccess : ExitDiffers;
}

ExitCode runDiff() {
  if (Paths.empty() || Paths.size() > 2 ||
      (Paths.size() == 1 && Changes.empty()))
    return usageError("diff: two jobs, or one and --with, for example "
                      "`foretrace diff job.fore --with=parallel.tp=4`");
  Compiler Session;
  if (DiagnosticEngine Diags; !hasFolder(DiffOutput, Diags))
    return showMessages(Diags, Session.sources());
  FrontendOptions Reading = frontendOptions();
  diff::Input Before(Session, Paths[0], Reading, makeEngine());
  Reading.Overrides.insert(Reading.Overrides.end(), Changes.begin(),
                           Changes.end());
  diff::Input After(Session, Paths[Paths.size() - 1], std::move(Reading),
                    makeEngine());
  return compare(Before, After, Session.sources());
}

} // namespace foretrace
