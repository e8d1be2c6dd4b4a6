// SPDX-License-Identifier: Apache-2.0
//
// Caches of a request that move between the engines of a job.
#include "backends/volume/Tables.h"

using namespace foretrace;
using namespace foretrace::ir;

std::optional<CacheTransfer> volume::transferOf(const EmitRequest &Request) {
  const Program *Peer = Request.Peer ? Request.Peer() : nullptr;
  if (!Peer)
    return CacheTransfer();
  ExprOverlay Own(Request.Program), Other(*Peer);
  const bool Sends = Request.Program.Spec.Serve->Name == "prefill";
  return Sends ? cacheTransferOf(Own, Other) : cacheTransferOf(Other, Own);
}

/// `0`, `0,2` or `0,2,...,6`: ranks at equal distances, or one alone.
static std::string ranksText(int64_t First, int64_t Step, int64_t Count) {
  std::string Text = std::to_string(First);
  if (Step == 0)
    return Text;
  if (Count > 1)
    Text += "," + std::to_string(First + Step);
  if (Count > 2)
    Text += (Count > 3 ? ",...," : ",") +
            std::to_string(First + Step * (Count - 1));
  return Text;
}

void volume::addTransfer(const CacheTransfer &Of, Figures &To) {
  To.Named.push_back({"transfer_tokens",
                      "tokens of a prompt that move from prefill to decode",
                      FigureUnit::Count, Of.Tokens});
  To.Named.push_back({"transfer", "sent from prefill to decode for a request",
                      FigureUnit::Bytes, Of.Bytes});
  FigureTable T{"transfers",
                "caches of a request, from ranks of prefill to ranks of decode "
                "along tp",
                {{"from_stages", FigureUnit::Text, "prefill stages"},
                 {"from_ranks", FigureUnit::Text, "prefill ranks"},
                 {"to_stages", FigureUnit::Text, "decode stages"},
                 {"to_ranks", FigureUnit::Text, "decode ranks"},
                 {"pairs", FigureUnit::Count},
                 {"bytes", FigureUnit::Bytes, "each"}},
                {},
                4};
  for (const StageTransfer &S : Of.Stages)
    for (const RankTransfer &R : S.First)
      T.Rows.push_back({{printRange(S.From)},
                        {ranksText(R.From, S.FromStep, S.Times)},
                        {printRange(S.To)},
                        {ranksText(R.To, S.ToStep, S.Times)},
                        {S.Times * S.From.Count},
                        {R.Bytes}});
  To.Tables.push_back(std::move(T));
  To.Notes.emplace_back(
      "A request moves once, between one replica of attention of each pool; "
      "the n-th of several stages and ranks sends to the n-th.");
}
