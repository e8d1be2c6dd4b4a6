// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/Validate.h"
#include "frontend/RequestReader.h"
#include "lang/ReadFile.h"
#include "lang/SourceFiles.h"
#include "lang/diagnostics/Validate.h"
#include "tools/runs/TraceFiles.h"
#include "tools/validate/ChakraCheck.h"
#include "tools/validate/Format.h"
#include "tools/validate/GoalCheck.h"
#include "tools/validate/ServingSimCheck.h"
#include "tools/validate/SimaiCheck.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace::validate {

namespace {

class Validator {
public:
  Validator(DiagnosticClient &Out, raw_ostream *People, bool IsExact)
      : Out(Out), People(People), IsExact(IsExact) {}

  /// Returns whether anything at \p Path was recognised.
  Expected<bool> run(StringRef Path);
  bool hasErrors() const { return HasErrors; }

private:
  Error takeSet(const ChakraSet &Set);
  /// Takes \p Path, given or \p InFolder; false if it has no known format.
  Expected<bool> takeFile(StringRef Path, bool InFolder);
  void show(StringRef Name, StringRef Summary, const Findings &Found);

  DiagnosticClient &Out;
  raw_ostream *People; ///< null: no text is shown
  const bool IsExact;
  bool HasErrors = false;
};

void Validator::show(StringRef Name, StringRef Summary, const Findings &Found) {
  HasErrors |= Found.hasErrors();
  Found.show(Out);
  if (!People)
    return;
  *People << Name << ": ";
  if (Found.hasErrors())
    *People << Found.errorCount() << " errors, " << Found.warningCount()
            << " warnings\n";
  else
    *People << Summary << '\n';
}

Error Validator::takeSet(const ChakraSet &Set) {
  Findings Found;
  Expected<ChakraReport> Report = checkChakra(Set, Found);
  if (!Report)
    return Report.takeError();
  show(Set.Prefix, summarize(*Report, IsExact), Found);
  return Error::success();
}

/// Megatron-LM's traces: whether every line is a row. `check` does the rest.
std::string checkTrace(StringRef Path, Findings &Out) {
  int64_t Rows = 0;
  Error E = runs::forEachLine(Path, [&](const runs::TraceLine &Line) {
    ++Rows;
    if (!Line.Malformed.empty())
      Out.report({Path.str(), Line.Number, {}}, diag::TraceLine,
                 Line.Malformed);
    return true;
  });
  if (E)
    Out.report({Path.str(), Rows, {}}, diag::TraceLine, toString(std::move(E)));
  return formatv("Megatron-LM trace: {0} rows", Rows);
}

/// Requests: what a job that imports them would be told.
std::string checkRequests(StringRef Text, StringRef Path, Findings &Out) {
  SourceFiles Sources;
  DiagnosticEngine Diags;
  const FileId File = Sources.add(Text, Path);
  const std::optional<ir::RequestTrace> T =
      readRequests(Sources.text(File), {File, 0, 0}, Diags);
  for (const Diagnostic &D : Diags.diagnostics())
    Out.report({Path.str(), Sources.locate(D.Range.start()).Line, {}},
               diag::RequestLine, D.text());
  if (!T)
    return "";
  return formatv("requests: {0}, {1} tokens of prompts, {2} of output",
                 T->Requests.size(), T->tokens(&ir::TracedRequest::Input),
                 T->tokens(&ir::TracedRequest::Output));
}

Expected<bool> Validator::takeFile(StringRef Path, bool InFolder) {
  auto Buffer = readLargeFile(Path);
  if (!Buffer)
    return createFileError(Path, Buffer.getError());
  const StringRef Text = (*Buffer)->getBuffer();
  Findings Found;
  std::string Summary;
  switch (recognize(Text)) {
  case Format::Unknown:
    return false;
  case Format::Chakra:
    if (InFolder)
      return false;
    return createFileError(
        Path, createStringError("a Chakra trace, which must be called "
                                "`<prefix>.<rank>.et`"));
  case Format::Table:
    Summary = checkTable(Text, Path, IsExact, Found);
    break;
  case Format::ServingSim:
    Summary = checkServingSim(Text, Path, Found);
    break;
  case Format::Requests:
    Summary = checkRequests(Text, Path, Found);
    break;
  case Format::Goal:
    Summary = checkGoal(Text, Path, IsExact, Found);
    break;
  case Format::Trace:
    Summary = checkTrace(Path, Found);
    break;
  }
  show(Path, Summary, Found);
  return true;
}

Expected<bool> Validator::run(StringRef Path) {
  if (!sys::fs::exists(Path))
    return createFileError(
        Path, std::make_error_code(std::errc::no_such_file_or_directory));
  Expected<std::vector<ChakraSet>> Sets = findChakraSets(Path);
  if (!Sets)
    return Sets.takeError();
  for (const ChakraSet &Set : *Sets)
    if (Error E = takeSet(Set))
      return E;
  if (!sys::fs::is_directory(Path))
    return Sets->empty() ? takeFile(Path, false) : true;
  std::vector<std::string> Files;
  std::error_code EC;
  for (sys::fs::directory_iterator I(Path, EC), End; I != End && !EC;
       I.increment(EC))
    if (!is_contained({".et", ".json"}, sys::path::extension(I->path())) &&
        I->type() == sys::fs::file_type::regular_file)
      Files.push_back(I->path());
  if (EC)
    return createFileError(Path, EC);
  sort(Files);
  bool IsAnyKnown = !Sets->empty();
  for (const std::string &File : Files) {
    Expected<bool> IsKnown = takeFile(File, true);
    if (!IsKnown)
      return IsKnown.takeError();
    IsAnyKnown |= *IsKnown;
  }
  return IsAnyKnown;
}

} // namespace

Expected<bool> validate(StringRef Path, DiagnosticClient &Out,
                        raw_ostream *People, bool IsExact) {
  Validator V(Out, People, IsExact);
  Expected<bool> IsKnown = V.run(Path);
  if (!IsKnown)
    return IsKnown.takeError();
  if (!*IsKnown)
    return createFileError(
        Path, createStringError("neither a workload table, nor Chakra traces, "
                                "a GOAL schedule, traces of Megatron-LM or "
                                "LLMServingSim, nor requests"));
  return !V.hasErrors();
}

Error summarizeSets(StringRef Path, RowFormat As, bool IsExact,
                    raw_ostream &OS) {
  Expected<std::vector<ChakraSet>> Sets = findChakraSets(Path);
  if (!Sets)
    return Sets.takeError();
  if (Sets->empty())
    return createFileError(
        Path, createStringError("no traces called `<prefix>.<rank>.et`"));
  std::optional<RowWriter> Rows;
  if (As != RowFormat::Table)
    Rows.emplace(summaryColumns(), As, OS);
  for (const ChakraSet &Set : *Sets) {
    Findings Found;
    Expected<ChakraReport> Report = checkChakra(Set, Found);
    if (!Report)
      return Report.takeError();
    if (Rows) {
      writeSummary(Set.Prefix, *Report, Found, *Rows);
      continue;
    }
    OS << Set.Prefix << ": ";
    printSummary(*Report, IsExact, OS);
    if (Found.hasErrors())
      OS << Found.errorCount() << " errors; see `foretrace validate`\n";
  }
  return Error::success();
}

} // namespace foretrace::validate
