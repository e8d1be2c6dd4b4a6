// SPDX-License-Identifier: Apache-2.0
#include "backends/aicb/Workload.h"

using namespace foretrace;
using namespace foretrace::aicb;

Workload::~Workload() = default;

void Workload::write() {
  Out.header();
  init();
  Out.endEpoch();
  for (int64_t Epoch = 0; Epoch < O.Epochs && !Out.isFull(); ++Epoch) {
    if (O.Kind == Kind::Collective) {
      // Its messages are those of the step.
    } else if (J.Pp > 1) {
      pipeline();
      step(); // and once more below
    } else {
      for (int64_t Batch = 0; Batch < J.Ga && !Out.isFull(); ++Batch) {
        forward();
        backward();
      }
    }
    step();
    Out.endEpoch();
  }
}

std::unique_ptr<Workload> foretrace::aicb::makeWorkload(const ir::Spec &S,
                                                        const Options &O,
                                                        OutputStream &OS) {
  switch (O.Kind) {
  case Kind::DeepSpeed:
    return *S.Parallel.Zero == 3 ? makeZero3(S, O, OS) : makeZero12(S, O, OS);
  case Kind::Megatron:
    return makeMegatron(S, O, OS);
  case Kind::Collective:
    return makeCollective(S, O, OS);
  case Kind::Vidur: // has no iterations
    break;
  }
  llvm_unreachable("unknown kind");
}
