// SPDX-License-Identifier: Apache-2.0
//
// `foretrace opt`: passes on the text form of the IR.
#include "ir/text/Parse.h"
#include "ir/text/Print.h"
#include "ir/verify/Verify.h"
#include "lang/diagnostics/Lang.h"
#include "tools/compiler/Compiler.h"
#include "tools/foretrace/Emit.h"
#include "tools/foretrace/Messages.h"
#include "tools/foretrace/Pipeline.h"

using namespace llvm;

namespace foretrace {

static cl::opt<std::string> Input(cl::Positional, cl::desc("<job.ftir>"),
                                  cl::init("-"), jobOption(optCommand()));

static cl::list<std::string>
    PassNames("passes", cl::value_desc("pass"), cl::CommaSeparated,
              cl::desc("Run these passes, in this order"),
              passOption(optCommand()));

static cl::opt<bool> PrintLocations("print-locations",
                                    cl::desc("Print where each op comes from"),
                                    passOption(optCommand()));

static cl::opt<ir::SizeStyle>
    Sizes("sizes", cl::desc("Format of sizes:"),
          cl::values(clEnumValN(ir::SizeStyle::Names, "names",
                                "as expressions (default)"),
                     clEnumValN(ir::SizeStyle::Values, "values", "as numbers"),
                     clEnumValN(ir::SizeStyle::Both, "both",
                                "as expressions with their values")),
          cl::init(ir::SizeStyle::Names), passOption(optCommand()));

static cl::opt<std::string>
    OptOutput("o", cl::value_desc("path"), cl::init("-"),
              cl::desc("Output file (`-`: standard output)"),
              outputOption(optCommand()));

static std::optional<ir::Program> read(SourceFiles &Sources,
                                       DiagnosticEngine &Diags) {
  const ErrorOr<FileId> File = Sources.openOrStdin(Input);
  if (!File) {
    Diags.report({}, diag::FileUnreadable, Input.getValue(),
                 File.getError().message());
    return std::nullopt;
  }
  return ir::parse(Sources, *File, Diags);
}

static void optimize(SourceFiles &Sources, ArrayRef<const PassInfo *> Passes,
                     DiagnosticEngine &Diags) {
  if (!hasFolder(OptOutput, Diags))
    return;
  std::optional<ir::Program> P = read(Sources, Diags);
  if (!P || !ir::verify(*P, Diags) || !runPipeline(*P, Passes, Diags))
    return;
  showStatistics(*P);
  ir::PrintOptions Options;
  Options.Locations = PrintLocations ? &Sources : nullptr;
  Options.Sizes = Sizes;
  InputFiles Inputs;
  Inputs.add(Sources);
  if (Error E = writeFile(OptOutput, outputOptions(), std::move(Inputs),
                          [&](raw_ostream &OS) { ir::print(*P, OS, Options); }))
    reportOutput(std::move(E), {}, Diags);
}

ExitCode runOpt() {
  auto Passes =
      findPasses(std::vector<std::string>(PassNames.begin(), PassNames.end()));
  if (!Passes)
    return usageError("--passes: " + toString(Passes.takeError()));
  if (!checkPipelineOptions())
    return ExitUsage;
  Compiler Session;
  DiagnosticEngine Diags = makeEngine();
  optimize(Session.sources(), *Passes, Diags);
  return showMessages(Diags, Session.sources());
}

} // namespace foretrace
