// SPDX-License-Identifier: Apache-2.0
#include "passes/LayerCutter.h"

using namespace foretrace;
using namespace foretrace::ir;

static int64_t periodLength(const LayerGroup &G) {
  int64_t N = 0;
  for (const BlockRun &R : G.Runs)
    N += R.Count;
  return N;
}

void foretrace::append(LayerSequence &Out, LayerGroup G) {
  if (!Out.empty() && Out.back().Periods == 1 && G.Periods == 1) {
    LayerGroup &Last = Out.back();
    for (const BlockRun &R : G.Runs) {
      if (Last.Runs.back().Block == R.Block)
        Last.Runs.back().Count += R.Count;
      else
        Last.Runs.push_back(R);
    }
    return;
  }
  Out.push_back(std::move(G));
}

LayerGroup foretrace::folded(LayerGroup G) {
  if (G.Runs.size() == 1) {
    G.Runs[0].Count *= G.Periods;
    G.Periods = 1;
  }
  return G;
}

LayerSequence foretrace::sequenceOf(const ModelSpec &M) {
  LayerSequence Out;
  for (const LayerRun &R : M.Layers) {
    LayerGroup &G = Out.emplace_back();
    G.Periods = R.Periods;
    for (const LayerRun::Item &I : R.Items)
      G.Runs.push_back({BlockId(I.Block), I.Count});
  }
  return Out;
}

void foretrace::setLayers(ModelSpec &M, const LayerSequence &Layers) {
  M.Layers.clear();
  for (const LayerGroup &G : Layers) {
    LayerRun &R = M.Layers.emplace_back();
    R.Periods = G.Periods;
    R.Range = M.LayersRange;
    for (const BlockRun &Of : G.Runs)
      R.Items.push_back({Of.Block.Index, Of.Count});
  }
}

void foretrace::repeat(LayerSequence &Out, const LayerSequence &Of,
                       int64_t Times) {
  constexpr int MostRuns = 64;
  __int128 Written = 0, Unfolded = 0;
  for (const LayerGroup &G : Of) {
    Written += static_cast<__int128>(G.Runs.size()) * Times;
    Unfolded += static_cast<__int128>(G.Runs.size()) * G.Periods;
  }
  if (Times == 1 || Unfolded > Written || Unfolded > MostRuns) {
    for (; Times > 0; --Times)
      for (const LayerGroup &G : Of)
        append(Out, G);
    return;
  }
  LayerSequence Period;
  for (const LayerGroup &G : Of)
    for (int64_t I = 0; I < G.Periods; ++I)
      append(Period, {1, G.Runs});
  if (Period.empty())
    return;
  Period.front().Periods = Times;
  append(Out, folded(std::move(Period.front())));
}

int64_t LayerCutter::takeWholePeriods(const LayerGroup &G, int64_t Count,
                                      LayerSequence &Out) {
  int64_t Periods = std::min(Count / periodLength(G), G.Periods - Period);
  if (Periods > 0)
    append(Out, folded({Periods, G.Runs}));
  Period += Periods;
  return Periods * periodLength(G);
}

int64_t LayerCutter::takePartOfPeriod(const LayerGroup &G, int64_t Count,
                                      LayerSequence &Out) {
  LayerGroup Part;
  int64_t Begin = 0;
  int64_t Taken = 0;
  for (const BlockRun &R : G.Runs) {
    int64_t From = std::max(Begin, InPeriod);
    int64_t To = std::min(Begin + R.Count, InPeriod + Count);
    if (From < To) {
      Part.Runs.push_back({R.Block, To - From});
      Taken += To - From;
    }
    Begin += R.Count;
  }
  append(Out, std::move(Part));
  InPeriod += Taken;
  if (InPeriod == Begin) {
    InPeriod = 0;
    ++Period;
  }
  return Taken;
}

LayerSequence LayerCutter::take(int64_t Count) {
  LayerSequence Out;
  while (Count > 0 && Group < S.size()) {
    const LayerGroup &G = S[Group];
    if (InPeriod == 0 && Count >= periodLength(G))
      Count -= takeWholePeriods(G, Count, Out);
    else
      Count -= takePartOfPeriod(G, Count, Out);
    if (Period == G.Periods) {
      ++Group;
      Period = 0;
    }
  }
  return Out;
}
