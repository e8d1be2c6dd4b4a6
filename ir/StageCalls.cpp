// SPDX-License-Identifier: Apache-2.0
#include "ir/StageCalls.h"

using namespace foretrace;
using namespace foretrace::ir;

bool StageCalls::next() {
  if (!Pending)
    return false;
  Actions.clear();
  do {
    Actions.push_back(*Pending);
    Pending = Walker.next();
  } while (Pending && Pending->Start != SlotStart::After);
  return true;
}

Meeting StageCalls::meeting(size_t Part) const {
  const Action &A = Actions[Part];
  if (!isMessage(A.Kind))
    return {};
  const bool Sends = isSend(A.Kind);
  const auto From = static_cast<uint64_t>(Sends ? stage() : A.Peer);
  const auto To = static_cast<uint64_t>(Sends ? A.Peer : stage());
  const PipelineMessage M = *messageOf(S, stage(), A);
  // What a message carries is part of its name: ends that disagree don't meet.
  const auto Content =
      static_cast<uint64_t>(M.Part * S.MicroBatches + M.MicroBatch) * 2 +
      M.IsForward;
  return {{From << 32 | To, static_cast<uint64_t>(A.Tag), Content},
          2,
          !Sends || S.Transport == Transport::Combined};
}
