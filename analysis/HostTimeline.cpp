// SPDX-License-Identifier: Apache-2.0
#include "analysis/HostTimeline.h"
#include <algorithm>

using namespace foretrace;

using Delay = std::optional<Nanoseconds>;

static Delay later(Delay A, Delay B) {
  if (!A || !B)
    return A ? A : B;
  if (A->isOverflow() || B->isOverflow())
    return Nanoseconds::overflow();
  return Nanoseconds(std::max(A->value(), B->value()));
}

static Delay add(Delay A, Delay B) {
  return A && B ? Delay(*A + *B) : std::nullopt;
}

HostTimeline::HostTimeline() {
  After[Host][Host] = After[Device][Device] = Nanoseconds();
}

void HostTimeline::launch(Nanoseconds Time, Nanoseconds Launch) {
  for (const Processor From : {Host, Device}) {
    After[Host][From] = add(After[Host][From], Launch);
    After[Device][From] =
        add(later(After[Host][From], After[Device][From]), Time);
  }
}

void HostTimeline::synchronize() {
  for (const Processor From : {Host, Device})
    After[Host][From] = later(After[Host][From], After[Device][From]);
}

void HostTimeline::append(const HostTimeline &Next) {
  std::array<Row, 2> Both;
  for (const Processor To : {Host, Device})
    for (const Processor From : {Host, Device})
      Both[To][From] = later(add(Next.After[To][Host], After[Host][From]),
                             add(Next.After[To][Device], After[Device][From]));
  After = Both;
}

HostTimeline HostTimeline::repeated(int64_t Count) const {
  HostTimeline All, Power = *this;
  for (; Count > 0; Count /= 2) {
    if (Count % 2)
      All.append(Power);
    Power.append(Power);
  }
  return All;
}

Nanoseconds HostTimeline::time() const {
  Delay Last;
  for (const Row &Of : After)
    for (const Delay &One : Of)
      Last = later(Last, One);
  return *Last;
}
