// SPDX-License-Identifier: Apache-2.0
//
// The `requests` backend: requests that arrive at random times, in the forms
// that simulators of serving read.
#include "analysis/Arrivals.h"
#include "backends/CommandLine.h"
#include "backends/EmissionOf.h"
#include "ir/model/RequestTrace.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Lang.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::option;

namespace {

/// Whose form the file has.
enum class RequestFormat : unsigned char { Vidur, LLMServingSim };

} // namespace

struct requests::Options {
  RequestFormat As = RequestFormat::Vidur;
  std::string File; ///< empty: from the job's name
};

static constexpr llvm::StringRef Formats[] = {"vidur", "llmservingsim"};

using foretrace::requests::Options;
constexpr EmitOption requests::OptionRows[] = {
#include "backends/requests/Options.def"
};
constexpr EmitReader requests::Reader = readerOf<Options>(OptionRows);

FactSet requests::needs(const Options &) { return {Fact::Complete}; }

/// Warns of prompts with equal beginnings: both formats have lengths alone.
static void checkShared(const RequestsSpec &R, DiagnosticEngine &Diags) {
  if (*R.Prefix > 0)
    Diags.report(R.Prefix.Range, diag::RequestsShared, "`prefix`");
  if (R.HitRate.isPresent())
    Diags.report(R.HitRate.Range, diag::RequestsShared, "`hit_rate`");
  if (R.From.isPresent() && RequestTrace::parse(*R.From)->hasIds())
    Diags.report(R.From.Range, diag::RequestsShared, "the ids of a trace");
}

bool requests::check(const EmitRequest &Request, const Options &,
                     DiagnosticEngine &Diags) {
  const Spec &S = Request.Program.Spec;
  if (!S.Requests) {
    Diags.report(Request.Emit.Range, diag::EmitServes, Request.Emit.Backend);
    return false;
  }
  const RequestsSpec &R = *S.Requests;
  if (!R.Rate.isPresent()) {
    Diags.report(R.Range, diag::MissingKey, "requests", "rate", "2.5");
    return false;
  }
  if (!canArrive(R)) {
    Diags.report(R.Count.isPresent() ? R.Count.Range : R.Rate.Range,
                 diag::SizeOverflow, "the time of the last request");
    return false;
  }
  checkShared(R, Diags);
  constexpr double BytesOfRequest = 8;
  return Request.hasRoom(static_cast<double>(arrivalCount(R)) * BytesOfRequest,
                         Diags);
}

llvm::Error requests::emit(const EmitRequest &Request, const Options &O,
                           OutputSet &Out) {
  const bool IsCSV = O.As == RequestFormat::Vidur;
  constexpr unsigned Nano = 9;
  return Out.add(
      Request.file(O.File, IsCSV ? ".requests.csv" : ".requests.jsonl"),
      [&](OutputStream &OS) {
        if (IsCSV)
          OS << "arrived_at,num_prefill_tokens,num_decode_tokens\n";
        forEachArrival(*Request.Program.Spec.Requests, [&](const Arrival &A) {
          if (IsCSV)
            OS << decimalFraction(A.At, Nano) << ',' << A.Input << ','
               << A.Output << '\n';
          else
            OS << "{\"input_toks\": " << A.Input
               << ", \"output_toks\": " << A.Output
               << ", \"arrival_time_ns\": " << A.At << "}\n";
          return !OS.isFull();
        });
      });
}
