// SPDX-License-Identifier: Apache-2.0
//
// `foretrace convert`: a workload table as what other simulators read.
#include "passes/derive/DeriveCluster.h"
#include "tools/convert/Formats.h"
#include "tools/convert/TableImport.h"
#include "tools/foretrace/Emit.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Messages.h"

using namespace llvm;

namespace foretrace {

static cl::opt<std::string> TablePath(cl::Positional, cl::desc("<table.txt>"),
                                      jobOption(convertCommand()));

static cl::list<std::string> Formats(
    "to", cl::value_desc("backend"), cl::CommaSeparated,
    cl::desc("Output format: chakra (default), goal, simgrid or astra-sim"),
    outputOption(convertCommand()));

static cl::opt<std::string> Cluster(
    "cluster", cl::value_desc("file"),
    cl::desc("Cluster, such as `clusters/h100.toml`, or a job that has one; "
             "with --to=chakra, ASTRA-sim's files are written, too"),
    jobOption(convertCommand()));

static cl::opt<std::string> Ranks(
    "ranks", cl::value_desc("which"), cl::init("all"),
    cl::desc("Ranks whose traces --to=chakra writes: all (default), a list "
             "such as `0,4,8-11`, or classes: one trace for all ranks"),
    outputOption(convertCommand()));

static cl::opt<std::string>
    ConvertOutput("o", cl::value_desc("folder"),
                  cl::desc("Output folder, created if needed"),
                  outputOption(convertCommand()));

static void convertTable(ir::Program P, std::vector<ir::EmitSpec> Emits,
                         Compiler &Session, DiagnosticEngine &Diags) {
  if (!Cluster.empty())
    P.Spec.Cluster = Session.readCluster(Cluster, frontendOptions(), Diags);
  if (Diags.hasErrors() || !deriveCluster(P, Diags))
    return;
  P.Spec.Emits = std::move(Emits);
  driver::Emitter Emitter =
      makeEmitter(StringRef(TablePath) == "-" ? "table" : StringRef(TablePath),
                  {ConvertOutput, "", ""}, Session.sources(), Diags);
  for (const ir::EmitSpec &E : P.Spec.Emits)
    Emitter.emitProgram(P, E);
  Emitter.commit();
}

ExitCode runConvert() {
  if (TablePath.empty() || ConvertOutput == "-")
    return usageError("convert: takes a table and a folder, for example "
                      "`foretrace convert table.txt --to=chakra -o traces`");
  auto Emits = convert::emitsFor({Formats.begin(), Formats.end()}, Ranks,
                                 !Cluster.empty());
  if (!Emits)
    return usageError(toString(Emits.takeError()));
  Compiler Session;
  SourceFiles &Sources = Session.sources();
  const ErrorOr<FileId> Table = Sources.openOrStdin(TablePath);
  if (!Table)
    return failure(createFileError(TablePath, Table.getError()));
  DiagnosticEngine Diags = makeEngine();
  validate::Findings Found;
  if (std::optional<ir::Program> P =
          convert::importTable(Sources.text(*Table), TablePath, Found, Diags))
    convertTable(std::move(*P), std::move(*Emits), Session, Diags);
  Found.show(messages());
  const ExitCode Code = showMessages(Diags, Sources);
  return Found.hasErrors() ? ExitDiagnosed : Code;
}

} // namespace foretrace
