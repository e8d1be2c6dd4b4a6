// SPDX-License-Identifier: Apache-2.0
#include "ir/schedule/StageCalls.h"

using namespace foretrace;
using namespace foretrace::ir;

Meeting StageCalls::meetingOf(const Action &A) const {
  const std::optional<PipelineMessage> M = messageOf(S, stage(), A);
  if (!M)
    return {};
  return {M->key(S), 2,
          isReceive(A.Kind) || S.Transport == Transport::Combined};
}

bool StageCalls::next() {
  if (!Pending)
    return false;
  Actions.clear();
  Meetings.clear();
  do {
    Actions.push_back(*Pending);
    Meetings.push_back(meetingOf(*Pending));
    Pending = Walker.next();
  } while (Pending && Pending->Start != SlotStart::After);
  return true;
}
