// SPDX-License-Identifier: Apache-2.0
//
// The test of one collective: sizes that double, each of them repeated.
#include "backends/aicb/Workload.h"

using namespace foretrace;
using namespace foretrace::aicb;

namespace {

class Collective final : public Workload {
public:
  using Workload::Workload;

private:
  void init() override { send(dataParallel(), O.BeginSize, "warmup"); }
  void step() override;
  void send(const Members &M, int64_t Size, llvm::StringRef Stage);
};

} // namespace

void Collective::send(const Members &M, int64_t Size, llvm::StringRef Stage) {
  for (int64_t I = 0; I < O.Repeats && !Out.isFull(); ++I)
    Out.send({O.Tested, M, Size, Stage.str()});
}

void Collective::step() {
  const Members M =
      O.OverStages ? Members{CommGroup::Pp, J.Pp} : dataParallel();
  // A size above half of the last has no double.
  for (int64_t Size = O.BeginSize; Size <= O.EndSize; Size *= 2) {
    send(M, Size, "test_step");
    if (Size > O.EndSize / 2)
      break;
  }
}

std::unique_ptr<Workload> foretrace::aicb::makeCollective(const ir::Spec &S,
                                                          const Options &O,
                                                          OutputStream &OS) {
  return std::make_unique<Collective>(S, O, OS);
}
