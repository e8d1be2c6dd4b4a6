// SPDX-License-Identifier: Apache-2.0
//
// `from` of `requests`: a trace in the form of another tool, which the names of
// its columns tell.
#include "frontend/Bind.h"
#include "frontend/RequestReader.h"
#include "lang/ParseJson.h"
#include "lang/diagnostics/Frontend.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace foretrace;
using ir::RequestTrace;
using ir::TracedRequest;

namespace {

/// Columns of a trace; one without ids, or with dates for times, leaves theirs
/// empty.
struct TraceColumns {
  llvm::StringLiteral Input, Output, Ids, Arrival;
};

/// Reads the lines of a trace.
class TraceReader {
public:
  TraceReader(SourceText Source, DiagnosticEngine &Diags,
              bool ChecksArrivals = false)
      : Source(Source), Diags(Diags), ChecksArrivals(ChecksArrivals) {}

  std::optional<RequestTrace> read(SourceRange Use);

private:
  bool findColumns(llvm::StringRef First);
  std::optional<TracedRequest> readJson(llvm::StringRef Line);
  bool readTokens(const llvm::json::Object &Of, llvm::StringLiteral Key,
                  llvm::StringRef Line, uint32_t &Out);
  bool readIds(const llvm::json::Object &Of, llvm::StringRef Line,
               TracedRequest &Out);
  bool checkArrival(llvm::StringRef At);
  std::optional<TracedRequest> readCells(llvm::StringRef Line);
  bool readCell(llvm::ArrayRef<llvm::StringRef> Cells, llvm::StringRef Line,
                llvm::StringLiteral Name, uint32_t &Out);
  /// Reports; false.
  template <typename... Ts>
  bool report(llvm::StringRef At, diag::Id Id, Ts &&...Args) {
    Diags.report(Source.rangeOf(At), Id, std::forward<Ts>(Args)...);
    return false;
  }

  SourceText Source;
  DiagnosticEngine &Diags;
  const bool ChecksArrivals;
  const TraceColumns *Columns = nullptr;
  llvm::StringRef LastArrival = "0";
  llvm::SmallVector<llvm::StringRef> Header; ///< of CSV; else empty
};

} // namespace

/// Mooncake, FAST25-release/traces; LLMServingSim 2.0; APEX and the traces of
/// Azure; Vidur.
static constexpr TraceColumns KnownColumns[] = {
    {"input_length", "output_length", "hash_ids", "timestamp"},
    {"input_toks", "output_toks", "", "arrival_time_ns"},
    {"ContextTokens", "GeneratedTokens", "", ""},
    {"num_prefill_tokens", "num_decode_tokens", "", "arrived_at"}};

/// Beyond all times, in ns.
static constexpr double Never = int64_t(1) << 62;

static constexpr llvm::StringLiteral TokenCount = "a number below 2^32";

static llvm::SmallVector<llvm::StringRef> cellsOf(llvm::StringRef Line) {
  llvm::SmallVector<llvm::StringRef> Cells;
  Line.split(Cells, ',');
  for (llvm::StringRef &Cell : Cells)
    Cell = Cell.trim();
  return Cells;
}

/// Returns the text of the value of \p Key in a JSON object without others in
/// it, or the line.
static llvm::StringRef valueIn(llvm::StringRef Line, llvm::StringRef Key,
                               llvm::StringRef Ends = ",}") {
  const size_t At = Line.find(("\"" + Key + "\"").str());
  if (At == llvm::StringRef::npos)
    return Line;
  const llvm::StringRef Value =
      Line.drop_front(At + Key.size() + 2).ltrim(" \t:");
  return Value.take_front(Value.find_first_of(Ends)).rtrim();
}

/// Returns the columns that the first line of a trace has, or null.
static const TraceColumns *columnsIn(llvm::StringRef First) {
  const auto Cells = cellsOf(First);
  auto Has = [&](llvm::StringLiteral Name) {
    return First.starts_with("{") ? First.contains(("\"" + Name + "\"").str())
                                  : llvm::is_contained(Cells, Name);
  };
  const auto *Of = llvm::find_if(KnownColumns, [&](const TraceColumns &C) {
    return Has(C.Input) && Has(C.Output);
  });
  return Of == std::end(KnownColumns) ? nullptr : Of;
}

bool foretrace::looksLikeRequests(llvm::StringRef Text) {
  return columnsIn(Text.ltrim().split('\n').first.rtrim()) != nullptr;
}

/// Selects the columns that the first line has.
bool TraceReader::findColumns(llvm::StringRef First) {
  Columns = columnsIn(First);
  if (!First.starts_with("{"))
    Header = cellsOf(First);
  if (Columns)
    return true;
  std::string All;
  for (const TraceColumns &C : KnownColumns)
    All +=
        ((All.empty() ? "`" : ", or `") + C.Input + "` and `" + C.Output + "`")
            .str();
  return report(First, diag::TraceColumns, All);
}

bool TraceReader::readTokens(const llvm::json::Object &Of,
                             llvm::StringLiteral Key, llvm::StringRef Line,
                             uint32_t &Out) {
  const llvm::json::Value *Value = Of.get(Key);
  if (!Value)
    return report(Line, diag::TraceKey, Key);
  const std::optional<int64_t> Tokens = Value->getAsInteger();
  if (!Tokens || !llvm::isUInt<32>(static_cast<uint64_t>(*Tokens))) {
    const llvm::StringRef At = valueIn(Line, Key);
    return report(At, diag::TraceCell, Key, TokenCount, At);
  }
  Out = static_cast<uint32_t>(*Tokens);
  return true;
}

bool TraceReader::readIds(const llvm::json::Object &Of, llvm::StringRef Line,
                          TracedRequest &Out) {
  const llvm::json::Value *Value = Of.get(Columns->Ids);
  if (!Value)
    return report(Line, diag::TraceKey, Columns->Ids);
  const llvm::StringRef At = valueIn(Line, Columns->Ids, "]");
  const llvm::json::Array *Ids = Value->getAsArray();
  if (!Ids)
    return report(valueIn(Line, Columns->Ids), diag::TraceCell, Columns->Ids,
                  "a list of numbers", valueIn(Line, Columns->Ids));
  for (const llvm::json::Value &Id : *Ids) {
    const std::optional<uint64_t> Number = Id.getAsUINT64();
    if (!Number)
      return report(At, diag::TraceCell, Columns->Ids, "a list of numbers",
                    llvm::formatv("{0}", Id).str());
    Out.Ids.push_back(*Number);
  }
  const auto Blocks = llvm::divideCeil(uint64_t(Out.Input),
                                       uint64_t(RequestTrace::BlockTokens));
  return Out.Ids.size() == Blocks ||
         report(At, diag::TraceIds, Out.Ids.size(), Out.Input, Blocks,
                RequestTrace::BlockTokens);
}

/// Returns whether a request arrives no earlier than the one above it; reports
/// if not. Jobs have no use for times.
bool TraceReader::checkArrival(llvm::StringRef At) {
  double Now = 0, Before = 0;
  LastArrival.getAsDouble(Before);
  if (At.getAsDouble(Now) || !(Now >= Before && Now < Never))
    return report(At, diag::TraceCell, Columns->Arrival,
                  "a time from " + LastArrival.str() + " on", At);
  LastArrival = At;
  return true;
}

std::optional<TracedRequest> TraceReader::readJson(llvm::StringRef Line) {
  llvm::Expected<llvm::json::Value> Value = parseJson(Line);
  const llvm::json::Object *Of = Value ? Value->getAsObject() : nullptr;
  TracedRequest R;
  if (!Of) {
    // LLVM's parser begins with the place: `[1:7, byte=6]: ...`.
    const std::string Text =
        Value ? "a value of another kind" : toString(Value.takeError());
    const auto [Place, Reason] = llvm::StringRef(Text).split("]: ");
    llvm::StringRef Byte = Place.split("byte=").second;
    size_t At = 0;
    if (!Byte.consumeInteger(10, At))
      Line = Line.substr(At, 1);
    report(Line, diag::TraceLine, Reason.empty() ? Place : Reason);
    return std::nullopt;
  }
  if (readTokens(*Of, Columns->Input, Line, R.Input) &&
      readTokens(*Of, Columns->Output, Line, R.Output) &&
      (Columns->Ids.empty() || readIds(*Of, Line, R)) &&
      (!ChecksArrivals || !Of->get(Columns->Arrival) ||
       checkArrival(valueIn(Line, Columns->Arrival))))
    return R;
  return std::nullopt;
}

bool TraceReader::readCell(llvm::ArrayRef<llvm::StringRef> Cells,
                           llvm::StringRef Line, llvm::StringLiteral Name,
                           uint32_t &Out) {
  const auto Column =
      static_cast<size_t>(llvm::find(Header, Name) - Header.begin());
  if (Column >= Cells.size())
    return report(Line, diag::TraceKey, Name);
  return !Cells[Column].getAsInteger(10, Out) ||
         report(Cells[Column], diag::TraceCell, Name, TokenCount,
                Cells[Column]);
}

std::optional<TracedRequest> TraceReader::readCells(llvm::StringRef Line) {
  const llvm::SmallVector<llvm::StringRef> Cells = cellsOf(Line);
  const auto Arrival = static_cast<size_t>(
      llvm::find(Header, Columns->Arrival) - Header.begin());
  TracedRequest R;
  if (readCell(Cells, Line, Columns->Input, R.Input) &&
      readCell(Cells, Line, Columns->Output, R.Output) &&
      (!ChecksArrivals || Arrival >= Cells.size() ||
       checkArrival(Cells[Arrival])))
    return R;
  return std::nullopt;
}

/// Returns the requests; nothing after a report.
std::optional<RequestTrace> TraceReader::read(SourceRange Use) {
  RequestTrace T;
  llvm::SmallVector<llvm::StringRef> Lines;
  Source.str().split(Lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef Line : Lines) {
    Line = Line.trim();
    if (Line.empty())
      continue;
    if (!Columns) {
      if (!findColumns(Line))
        return std::nullopt;
      if (!Header.empty())
        continue;
    }
    std::optional<TracedRequest> R =
        Header.empty() ? readJson(Line) : readCells(Line);
    if (!R)
      return std::nullopt;
    T.Requests.push_back(std::move(*R));
  }
  const int64_t Input = T.tokens(&TracedRequest::Input),
                Output = T.tokens(&TracedRequest::Output);
  if (Input > 0 && Output > 0)
    return T;
  Diags.report(Use, diag::TraceEmpty, T.Requests.size(), Input, Output);
  return std::nullopt;
}

std::optional<RequestTrace> foretrace::readRequests(SourceText Source,
                                                    SourceRange Use,
                                                    DiagnosticEngine &Diags) {
  return TraceReader(Source, Diags, /*ChecksArrivals=*/true).read(Use);
}

/// Lengths that the job leaves open are the means of the trace.
void Binder::bindTrace(const Field &F, ir::RequestsSpec &R) {
  const SourceRange Use = F.Value->Range;
  std::optional<RequestTrace> T;
  if (findFileCall(F)) {
    if (const std::optional<SourceText> File = readFileCall(F))
      T = TraceReader(*File, Diags).read(Use);
  } else if (const std::optional<ExprValue> V =
                 Eval.evaluate(*F.Value, *F.Names, Words::Any)) {
    Diags.report(V->Range, diag::WrongType, "from", describe(*V),
                 "file(\"...\")");
  }
  auto Derive = [&](Located<int64_t> &Length, uint32_t TracedRequest::*Of) {
    // Without a trace, so that nothing else is reported.
    const uint64_t Count = T ? T->Requests.size() : 1;
    const uint64_t Sum = T ? static_cast<uint64_t>(T->tokens(Of)) : 1;
    if (!Length.isPresent())
      Length.derive(static_cast<int64_t>(llvm::divideCeil(Sum, Count)), Use);
  };
  Derive(R.Input, &TracedRequest::Input);
  Derive(R.Output, &TracedRequest::Output);
  if (T)
    R.From.state(T->text(), Use);
}
