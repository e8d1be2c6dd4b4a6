// SPDX-License-Identifier: Apache-2.0
#include "backends/simai/Simai.h"
#include "backends/simai/Adapt.h"
#include "backends/simai/Aicb.h"
#include "backends/simai/Exact.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace foretrace;
using namespace foretrace::simai;

namespace {

/// A table and the file it goes to.
struct Output {
  std::string Path;
  simai::Table Table;
};

} // namespace

/// `gpt.txt` for one of several stages: `gpt-stage1-6.txt`.
static std::string stagePath(llvm::StringRef Path, const ir::Stage &S) {
  std::string Stages = "-stage" + std::to_string(S.First);
  if (S.Count > 1)
    Stages += "-" + std::to_string(S.First + S.Count - 1);
  llvm::StringRef Extension = llvm::sys::path::extension(Path);
  return (Path.drop_back(Extension.size()) + Stages + Extension).str();
}

static void reportLost(const EmitRequest &Request, llvm::StringRef Path,
                       llvm::ArrayRef<LeftOut> Lost, DiagnosticEngine &Diags) {
  for (const LeftOut &L : Lost)
    Diags.report(Request.Emit.Range, diag::SimaiInexpressible, Path, L.What,
                 L.Total.isOverflow() ? "2^63 or more"
                                      : llvm::itostr(L.Total.value()));
}

/// Builds every table of the request; reports what is wrong with it.
static std::vector<Output> buildTables(const EmitRequest &Request,
                                       const Options &O,
                                       DiagnosticEngine &Diags) {
  const ir::Program &P = Request.Program;
  std::string Path =
      O.File.empty() ? (Request.DefaultStem + ".txt").str() : O.File;
  std::vector<Output> Outputs;
  if (O.Accounting == Accounting::Aicb) {
    if (std::optional<Table> T = aicbTable(P.Spec, O.Version, Diags))
      Outputs.push_back({Path, std::move(*T)});
    return Outputs;
  }
  std::vector<const ir::Stage *> Stages = chosenStages(P, O.Stage, Diags);
  for (const ir::Stage *S : Stages) {
    std::vector<LeftOut> Lost;
    Output Out{Stages.size() > 1 ? stagePath(Path, *S) : Path,
               exactTable(P, *S, Lost)};
    reportLost(Request, Out.Path, Lost, Diags);
    Outputs.push_back(std::move(Out));
  }
  return Outputs;
}

/// Limits of the simulator's reader (32-bit times and pp_comm).
static void checkLimits(const EmitRequest &Request, const Table &T,
                        DiagnosticEngine &Diags) {
  constexpr int64_t Limit = int64_t(1) << 31;
  for (const std::vector<Row> &Body : T.Bodies)
    for (const Row &R : Body)
      for (const Cell *C : {&R.Forward, &R.Backward, &R.Update})
        if (C->Time >= Limit)
          Diags.report(Request.Emit.Range, diag::SimaiTimeLimit, C->Time,
                       R.Name);
  int64_t PpComm = 0;
  if (T.Header.PpComm && llvm::to_integer(*T.Header.PpComm, PpComm) &&
      PpComm >= Limit)
    Diags.report(Request.Emit.Range, diag::SimaiPpCommLimit, PpComm);
}

ir::FactSet foretrace::simai::prepare(const ir::EmitSpec &Emit,
                                      DiagnosticEngine &Diags) {
  Options O = readOptions(Emit, Diags);
  for (const std::string &Slug : O.Allow)
    Diags.allow(Slug);
  if (O.Accounting == Accounting::Aicb)
    return {ir::Fact::Complete};
  return {ir::Fact::Complete, ir::Fact::Blocks,    ir::Fact::Gradients,
          ir::Fact::Layouts,  ir::Fact::Recompute, ir::Fact::Stages,
          ir::Fact::Sync,     ir::Fact::Costs};
}

bool foretrace::simai::check(const EmitRequest &Request,
                             DiagnosticEngine &Diags) {
  unsigned Before = Diags.errorCount();
  DiagnosticEngine Known; // `prepare` has reported these
  Options O = readOptions(Request.Emit, Known);
  AdaptationPtr Adapt = O.Adapt ? readAdaptation(*O.Adapt, Diags) : nullptr;
  for (const Output &Out : buildTables(Request, O, Diags)) {
    if (Out.Table.rowCount().isOverflow())
      Diags.report(Request.Emit.Range, diag::SizeOverflow,
                   "the number of rows of the table");
    if (O.Accounting == Accounting::Exact)
      checkLimits(Request, Out.Table, Diags);
    if (Adapt)
      checkAdaptation(*Adapt, Out.Table, Diags);
  }
  return Diags.errorCount() == Before;
}

llvm::Error foretrace::simai::emit(const EmitRequest &Request, OutputSet &Out,
                                   DiagnosticEngine &) {
  DiagnosticEngine Known; // `prepare` and `check` have reported these
  Options O = readOptions(Request.Emit, Known);
  for (const std::string &Slug : O.Allow)
    Known.allow(Slug);
  AdaptationPtr Adapt = O.Adapt ? readAdaptation(*O.Adapt, Known) : nullptr;
  for (const Output &File : buildTables(Request, O, Known)) {
    auto Write = [&](llvm::raw_ostream &OS) {
      if (Adapt)
        writeAdapted(*Adapt, File.Table, OS);
      else
        writeTable(File.Table, OS);
    };
    if (llvm::Error E = Out.add(File.Path, Write))
      return E;
    auto Record = [&](llvm::raw_ostream &OS) {
      writeRecord(*Adapt, File.Table, OS);
    };
    if (Adapt)
      if (llvm::Error E = Out.add(File.Path + ".adapt.json", Record))
        return E;
  }
  return llvm::Error::success();
}

/// `-g` is a second source of truth: the simulator takes the number of ranks
/// from it, not from the table.
std::string foretrace::simai::showCommand(const EmitRequest &Request,
                                          llvm::StringRef File) {
  constexpr int64_t RanksPerServer = 8;
  int64_t World = *Request.Program.Spec.Parallel.World;
  DiagnosticEngine Known; // `prepare` and `check` have reported these
  if (const Options O = readOptions(Request.Emit, Known); O.Adapt)
    if (AdaptationPtr Adapt = readAdaptation(*O.Adapt, Known))
      World = adaptedWorld(*Adapt).value_or(World);
  return "SimAI_analytical -w " + File.str() + " -g " + std::to_string(World) +
         " -g_p_s " + std::to_string(std::min(World, RanksPerServer)) + " -r " +
         llvm::sys::path::stem(File).str() + "-";
}
