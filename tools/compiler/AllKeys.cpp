// SPDX-License-Identifier: Apache-2.0
#include "tools/compiler/AllKeys.h"
#include "tools/compiler/Compiler.h"

namespace foretrace {

/// Jobs that state little else than they must, with all sections and both kinds
/// of attention, so that the rest is what is by default: one that trains, and
/// one that serves.
static constexpr char Model[] = R"(
model m {
  vocab = 512  hidden = 64
  block dense { attention mha { heads = 4 } }
  block moe {
    experts = 4  topk = 2
    attention mla { heads = 4  kv_lora = 16  rope_dim = 8  nope_dim = 8  v_dim = 8 }
  }
  layers = dense + moe
}
)";
static constexpr char Training[] = R"(
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
static constexpr char Serving[] = R"(
requests { input = 32  output = 32 }
serve {
  draft { kind = ngram  acceptance = 0.5 }
  lora { slots = 1  rank = 8 }
}
parallel { world = 1 }
)";

std::vector<KeyEntry> allKeys() {
  Compiler Session;
  auto SpecOf = [&](const char *Job) {
    const ir::Program *P =
        Session.compile("defaults.fore", std::string(Model) + Job).program();
    assert(P && "the job is legal");
    return P->Spec;
  };
  ir::Spec Keys = SpecOf(Training);
  ir::Spec Served = SpecOf(Serving);
  Keys.Requests = std::move(Served.Requests);
  Keys.Serve = std::move(Served.Serve);
  Keys.Draft = std::move(Served.Draft);
  Keys.Lora = std::move(Served.Lora);
  return listKeys(Keys);
}

} // namespace foretrace
