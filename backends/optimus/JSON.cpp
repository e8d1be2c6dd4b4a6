// SPDX-License-Identifier: Apache-2.0
#include "llvm/Support/JSON.h"
#include "backends/optimus/Writers.h"

using namespace foretrace;
using namespace foretrace::optimus;

namespace {

class JSONWriter {
public:
  JSONWriter(const PartitionJob &Of, llvm::raw_ostream &OS)
      : Of(Of), J(OS, 2) {}

  void run();

private:
  void shape(const GraphValue &V);
  void namedValue(const GraphValue &V);
  void cuts();
  void submodules();
  void graph();
  void layerLines();
  void boundaries();
  void boundary(int64_t From);
  void schedule();
  template <typename FnT> void perStage(llvm::StringRef Key, FnT Write) {
    J.attributeObject(Key, [&] {
      for (int64_t S = 0; S < Of.stages(); ++S)
        J.attributeBegin(std::to_string(S)), Write(S), J.attributeEnd();
    });
  }

  const PlannedStage &stage(int64_t S) const {
    return Of.Plan.Stages[static_cast<size_t>(S)];
  }
  const GraphValue &value(unsigned V) const { return Of.Graph.Values[V]; }
  static std::string submodule(int64_t S) {
    return "submod_" + std::to_string(S);
  }

  const PartitionJob &Of;
  llvm::json::OStream J;
};

} // namespace

void JSONWriter::shape(const GraphValue &V) {
  J.array([&] {
    switch (V.Shape) {
    case ShapeKind::Tokens:
      J.value("B");
      J.value("S");
      J.value(V.Width);
      break;
    case ShapeKind::Mask:
      J.value("B");
      J.value(1);
      J.value("S");
      J.value("S+1");
      break;
    case ShapeKind::Rope:
      J.value(1);
      J.value("S");
      J.value(V.Width);
      break;
    case ShapeKind::Integer:
      break;
    }
  });
}

void JSONWriter::namedValue(const GraphValue &V) {
  J.value(V.Node);
  J.value(V.Path);
  shape(V);
}

void JSONWriter::cuts() {
  auto PerStage = [&](llvm::StringRef Key, auto Of) {
    J.attributeArray(Key, [&] {
      for (const PlannedStage &S : this->Of.Plan.Stages)
        J.value(Of(S));
    });
  };
  PerStage("stage_module_counts",
           [](const PlannedStage &S) { return S.Modules; });
  PerStage("stage_params_materialised",
           [](const PlannedStage &S) { return S.Parameters; });
  J.attributeArray("first_metadata_range", [&] {
    for (int64_t S = 0; S < Of.stages(); ++S)
      J.array([&] {
        J.value(S);
        J.value(value(stage(S).Last).Node);
      });
  });
  J.attributeArray("second_metadata_range", [&] {
    for (int64_t S = 0; S < Of.stages(); ++S)
      J.array([&] {
        J.value(S);
        J.value(submodule(S));
      });
  });
}

void JSONWriter::submodules() {
  J.attributeObject("submod_args", [&] {
    for (int64_t S = 0; S < Of.stages(); ++S)
      J.attributeArray(submodule(S), [&] {
        for (const std::string &Node : stage(S).Arguments)
          J.value(Node);
      });
  });
  J.attributeObject("submod_outputs", [&] {
    for (int64_t S = 0; S < Of.stages(); ++S)
      J.attributeArray(submodule(S), [&] {
        for (const Output &O : stage(S).Outputs)
          J.array([&] { namedValue(value(O.Value)); });
      });
  });
  J.attributeArray("getitem_table", [&] {
    for (int64_t S = 0; S < Of.stages(); ++S)
      if (stage(S).Outputs.size() > 1)
        for (size_t I = 0; I < stage(S).Outputs.size(); ++I)
          J.array([&] {
            const Output &O = stage(S).Outputs[I];
            J.value(O.Node);
            J.value(submodule(S));
            J.value(static_cast<int64_t>(I));
            namedValue(value(O.Value));
          });
  });
}

void JSONWriter::graph() {
  J.attributeArray("top_graph_order", [&] {
    J.value(Of.Graph.Values.front().Node);
    for (int64_t S = 0; S < Of.stages(); ++S) {
      J.value(submodule(S));
      if (stage(S).Outputs.size() > 1)
        for (const Output &O : stage(S).Outputs)
          J.value(O.Node);
    }
    J.value("output");
  });
  J.attributeObject("from_to", [&] {
    for (int64_t S = Of.stages() - 1; S > 0; --S)
      J.attributeArray(std::to_string(S), [&] {
        J.value(Of.firstNodeFor(S));
        J.value(submodule(S));
      });
  });
  J.attributeObject("special_nodes", [&] {
    for (const SpecialNode &N : Of.Plan.Special)
      J.attributeArray(N.Node, [&] {
        J.value(N.First);
        J.value(N.Last);
      });
  });
}

void JSONWriter::layerLines() {
  perStage("layer_lines", [&](int64_t S) {
    J.array([&] {
      for (const LayerPart &P : stage(S).Parts)
        J.object([&] {
          if (P.Layer >= 0)
            J.attribute("layer", P.Layer);
          else
            J.attribute("layer", Of.keyOf(P));
          const auto Calls = static_cast<int64_t>(P.Leaves.size());
          J.attribute("modules", Calls);
          J.attribute("ops", Calls * Of.microBatches());
          J.attributeArray("members", [&] {
            for (unsigned V : P.Leaves)
              J.value(value(V).Path);
          });
        });
    });
  });
}

/// A tensor travels as five messages, its type, rank, shape, element type and
/// data; an integer as two; a tuple as its type, its length and its items.
static int64_t messages(const PlannedStage &Sender,
                        llvm::ArrayRef<GraphValue> Values) {
  int64_t Count = Sender.Outputs.size() > 1 ? 2 : 0;
  for (const Output &O : Sender.Outputs)
    Count += Values[O.Value].Shape == ShapeKind::Integer ? 2 : 5;
  return Count;
}

void JSONWriter::boundary(int64_t From) {
  const std::vector<int64_t> Owners = Of.Plan.sentAfter(From);
  const std::string Sequence = std::to_string(*Of.Program.Spec.Train.Sequence);
  const Payload Bytes = Of.payloadAfter(From);
  int64_t Messages = 0;
  auto Objects = [&](llvm::StringRef Key) {
    J.attributeArray(Key, [&] {
      for (int64_t Owner : Owners)
        J.value(submodule(Owner));
    });
  };
  J.attribute("from_stage", From);
  J.attribute("to_stage", From + 1);
  Objects("objects_sent_in_order");
  Objects("objects_received_in_order");
  J.attribute("send_recv_agree", true);
  J.attributeArray("tensors", [&] {
    for (int64_t Owner : Owners) {
      Messages += messages(stage(Owner), Of.Graph.Values);
      for (const Output &O : stage(Owner).Outputs)
        J.object([&] {
          J.attribute("object", submodule(Owner));
          J.attribute("value", value(O.Value).Path);
          J.attributeBegin("shape");
          shape(value(O.Value));
          J.attributeEnd();
          // The runtime loads weights so unless it is told otherwise.
          if (value(O.Value).Shape != ShapeKind::Integer)
            J.attribute("dtype", "float32");
          J.attribute("bytes", Of.bytesOf(O.Value));
        });
    }
  });
  const auto Arguments = static_cast<int64_t>(stage(From + 1).Arguments.size());
  J.attribute("p2p_sends_per_microbatch_fwd", Messages);
  J.attributeObject("fwd_payload_bytes_per_microbatch_fp32",
                    [&] { J.attribute(Sequence, Bytes.Sent); });
  J.attributeObject("ideal_payload_bytes_per_microbatch_fp32",
                    [&] { J.attribute(Sequence, Bytes.Needed); });
  J.attribute("grad_entries_bwd", Arguments);
  // A pair of a list of gradients and nothing.
  J.attribute("p2p_sends_per_microbatch_bwd", 2 + 2 + 5 * Arguments + 1);
}

void JSONWriter::boundaries() {
  J.attributeArray("boundaries", [&] {
    for (int64_t S = 0; S + 1 < Of.stages(); ++S)
      J.object([&] { boundary(S); });
  });
}

void JSONWriter::schedule() {
  perStage("schedule_1f1b", [&](int64_t S) {
    const int64_t Warmup = std::min(Of.stages() - 1 - S, Of.microBatches());
    J.object([&] {
      J.attribute("warmup_F", Warmup);
      J.attribute("steady_1F1B", Of.microBatches() - Warmup);
      J.attribute("cooldown_B", Warmup);
      J.attribute("max_in_flight", std::min(Warmup + 1, Of.microBatches()));
    });
  });
  perStage("stage2rank", [&](int64_t S) {
    J.array([&] {
      for (int64_t Rank : Of.ranks(S))
        J.value(Rank);
    });
  });
}

void JSONWriter::run() {
  const ir::Spec &S = Of.Program.Spec;
  J.object([&] {
    J.attribute("class", getClass(Of.Family));
    J.attribute("split", getName(Of.Split));
    J.attribute("pp", Of.stages());
    J.attribute("tp", *S.Parallel.Tp);
    J.attribute("dp", *S.Parallel.Dp);
    J.attribute("num_microbatches", Of.microBatches());
    J.attribute("mbs", *S.Train.MicroBatch);
    J.attribute("line", Of.counts());
    if (Of.Length)
      J.attribute("length", *Of.Length);
    else
      J.attribute("length", nullptr);
    J.attribute("modcnt", Of.Graph.Modules);
    J.attribute("segment", Of.Graph.Modules / Of.stages());
    J.attribute("params_total", Of.Graph.Parameters);
    J.attribute("params_per_layer", Of.Graph.LayerParameters);
    cuts();
    submodules();
    graph();
    layerLines();
    boundaries();
    schedule();
  });
  J.flush();
}

void foretrace::optimus::writeJSON(const PartitionJob &J,
                                   llvm::raw_ostream &OS) {
  JSONWriter(J, OS).run();
  OS << '\n';
}
