// SPDX-License-Identifier: Apache-2.0
#include "tools/compiler/AllKeys.h"
#include "tools/compiler/Compiler.h"

namespace foretrace {

/// A job that states little else than it must, with all sections and both kinds
/// of attention, so that the rest is what is by default.
static constexpr char JobOfDefaults[] = R"(
model m {
  vocab = 512  hidden = 64
  block dense { attention mha { heads = 4 } }
  block moe {
    experts = 4  topk = 2
    attention mla { heads = 4  kv_lora = 16  rope_dim = 8  nope_dim = 8  v_dim = 8 }
  }
  layers = dense + moe
}
train { sequence = 64  micro_batch = 1 }
parallel { world = 16 }
cluster {
  nodes = 2  devices_per_node = 8  nic_bandwidth = 50 GB/s
  tiers {
    node { devices = 8  bandwidth = 400 GB/s  latency = 1 us }
    fabric { latency = 1 us }
  }
}
)";

std::vector<KeyEntry> allKeys() {
  Compiler Session;
  const ir::Program *P =
      Session.compile("defaults.fore", JobOfDefaults).program();
  assert(P && "the job is legal");
  return listKeys(P->Spec);
}

} // namespace foretrace
