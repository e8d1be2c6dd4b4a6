// SPDX-License-Identifier: Apache-2.0
//
// The `volume` backend: communication volume of a job by group, phase and
// tier of its cluster.
#include "analysis/Flows.h"
#include "backends/EmissionOf.h"
#include "backends/volume/Tables.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::option;
using namespace foretrace::volume;

struct volume::Options : FigureOptions {
  FlowSpan Per = FlowSpan::Iteration;
};

static constexpr llvm::StringRef Spans[] = {"iteration", "micro_batch"};
using SpanWord = WordOf<Spans>;

constexpr EmitOption volume::OptionRows[] = {
#include "backends/volume/Options.def"
};
constexpr EmitReader volume::Reader = readerOf<Options>(OptionRows);

FactSet volume::needs(const Options &) { return {Fact::Totalled}; }

static std::vector<std::string> notesOf(const FlowCounter &Counter,
                                        const Options &O) {
  const Program &P = Counter.program();
  if (Counter.flows().empty())
    return {"Every group has one rank, so nothing is sent."};
  std::vector<std::string> Notes = {
      "`message` is the size as reported by NCCL tests, summed over ranks: the "
      "gathered buffer of an all-gather, the input of a reduce-scatter or an "
      "all-reduce, otherwise the buffer of a rank.",
      "`sent` is the number of bytes that leave the ranks, along a ring over "
      "each group in rank order, or directly in an all-to-all: per rank, (n - "
      "1) / n of a message among n ranks, and 2 (n - 1) / n of an all-reduce."};
  if (O.Per == FlowSpan::MicroBatch)
    Notes.emplace_back("For one micro-batch through each chunk of each stage, "
                       "without what happens once per iteration.");
  if (P.Spec.Cluster)
    Notes.emplace_back(
        "A byte counts for the innermost tier that connects the two ranks of "
        "its link, and as cross-node if they are on different nodes.");
  else
    Notes.emplace_back(
        "Without a `cluster` it is not known which bytes leave a node; add "
        "`import \"clusters/h100.toml\" as pod` and `cluster : pod { }`.");
  if (P.Spec.Train.ExpertLoad.isPresent())
    Notes.emplace_back(
        "Routing is uneven: `load` is the number of tokens of the experts of a "
        "rank, in percent of the mean, which other tables assume.");
  if (P.Spec.Cluster && llvm::any_of(Counter.flows(), [&](const Flow &F) {
        return Counter.isUnevenlyShared(F);
      }))
    Notes.emplace_back(
        "Ranks of `ep` are not spread evenly over NVLink domains, so "
        "each copy of a token is counted on its own link.");
  return Notes;
}

/// Writes the bytes of a job by the keys that cause them, by kinds of groups,
/// collectives, phases, stages, and tiers of the cluster.
Figures volume::figures(const EmitRequest &Request, const Options &O) {
  ExprOverlay P(Request.Program);
  FlowCounter Counter(P, O.Per);
  Tables Of(Counter, P.Sizes, Request);
  Figures F{
      "foretrace.volume/2", Of.named(), Of.tables(), notesOf(Counter, O), {}};
  F.Sizes = std::move(P.Sizes);
  if (const CacheTransfer T = *transferOf(Request); !T.Stages.empty())
    addTransfer(T, F);
  return F;
}

/// Bytes are multiplied by numbers of links, which are below the square of the
/// ranks, and then divided.
bool volume::check(const EmitRequest &Request, const Options &,
                   DiagnosticEngine &Diags) {
  const Program &P = Request.Program;
  const Located<int64_t> &World = P.Spec.Parallel.World;
  if (P.Spec.Serve && !transferOf(Request)) {
    Diags.report(P.Spec.Serve->Range, diag::ServeTransfer, MaxTransfers);
    return false;
  }
  __int128 Most = (static_cast<__int128>(1) << 125) / *World / *World / *World;
  for (const Stage &S : P.Stages) {
    __int128 Sum = 0;
    for (const GroupBytes &G : S.Totals.Messages)
      Sum += P.Sizes.value(G.Size).value();
    if (Sum <= Most)
      continue;
    Diags.report(World.Range, diag::SizeOverflow,
                 "the product of the bytes and the links of all ranks");
    return false;
  }
  warnIfExceeded(Request, deviceMemoryOf(P.Spec), Diags);
  return true;
}
