// SPDX-License-Identifier: Apache-2.0
#include "llvm/Support/JSON.h"
#include "backends/optimus/Job.h"

using namespace foretrace;
using namespace foretrace::optimus;
using llvm::json::Array;

namespace {

class JSONWriter {
public:
  JSONWriter(const PartitionJob &Of, llvm::raw_ostream &OS)
      : Of(Of), J(OS, 2) {}

  void run();

private:
  void graph();
  void part(const LayerPart &P);
  void boundary(int64_t From);
  void schedule(int64_t Stage);

  /// A list with \p Of of each stage.
  template <typename FnT> void listStages(llvm::StringRef Key, FnT Of) {
    J.attributeArray(Key, [&] {
      for (int64_t S = 0; S < this->Of.stages(); ++S)
        J.value(Of(S));
    });
  }
  /// An object in which \p Write writes the value of each stage, its number or
  /// its submodule the key.
  template <typename FnT>
  void eachStage(llvm::StringRef Key, bool HasNames, FnT Write) {
    J.attributeObject(Key, [&] {
      for (int64_t S = 0; S < Of.stages(); ++S) {
        J.attributeBegin(HasNames ? Of.stage(S).Name : std::to_string(S));
        Write(S);
        J.attributeEnd();
      }
    });
  }

  const PartitionJob &Of;
  llvm::json::OStream J;
};

} // namespace

static Array shapeOf(const GraphValue &V) {
  switch (V.Shape) {
  case ShapeKind::Tokens:
    return Array{"B", "S", V.Width};
  case ShapeKind::Mask:
    return Array{"B", 1, "S", "S+1"};
  case ShapeKind::Rope:
    return Array{1, "S", V.Width};
  case ShapeKind::Integer:
    return {};
  }
  llvm_unreachable("every shape is handled");
}

void JSONWriter::graph() {
  listStages("stage_module_counts",
             [&](int64_t S) { return Of.stage(S).Modules; });
  listStages("stage_params_materialised",
             [&](int64_t S) { return Of.stage(S).Parameters; });
  listStages("first_metadata_range", [&](int64_t S) {
    return Array{S, Of.value(Of.stage(S).Last).Node};
  });
  listStages("second_metadata_range", [&](int64_t S) {
    return Array{S, Of.stage(S).Name};
  });
  eachStage("submod_args", /*HasNames=*/true,
            [&](int64_t S) { J.value(Array(Of.stage(S).Arguments)); });
  eachStage("submod_outputs", /*HasNames=*/true, [&](int64_t S) {
    J.array([&] {
      for (const Output &O : Of.stage(S).Outputs)
        J.value(Array{Of.value(O.Value).Node, Of.value(O.Value).Path,
                      shapeOf(Of.value(O.Value))});
    });
  });
  J.attributeArray("getitem_table", [&] {
    for (const SplitNode &N : Of.Plan.Nodes)
      if (const PlannedStage &S = Of.stage(N.Stage); N.Item) {
        const GraphValue &V = Of.value(S.Outputs[*N.Item].Value);
        J.value(Array{N.Name, S.Name, static_cast<int64_t>(*N.Item), V.Node,
                      V.Path, shapeOf(V)});
      }
  });
  J.attributeArray("top_graph_order", [&] {
    J.value(Of.value(0).Node);
    for (const SplitNode &N : Of.Plan.Nodes)
      J.value(N.Name);
    J.value("output");
  });
  J.attributeObject("from_to", [&] {
    for (int64_t S = Of.stages() - 1; S > 0; --S)
      J.attribute(std::to_string(S),
                  Array{Of.firstNodeFor(S), Of.stage(S).Name});
  });
  J.attributeObject("special_nodes", [&] {
    for (const SpecialNode &N : Of.Plan.Special)
      J.attribute(N.Node, Array{N.First, N.Last});
  });
}

void JSONWriter::part(const LayerPart &P) {
  J.object([&] {
    if (P.Layer >= 0)
      J.attribute("layer", P.Layer);
    else
      J.attribute("layer", Of.keyOf(P));
    J.attribute("modules", static_cast<int64_t>(P.Leaves.size()));
    J.attribute("ops", Of.calls(P));
    J.attributeArray("members", [&] {
      for (unsigned V : P.Leaves)
        J.value(Of.value(V).Path);
    });
  });
}

void JSONWriter::boundary(int64_t From) {
  const std::vector<int64_t> Owners = Of.Plan.sentAfter(From);
  const std::string Sequence = std::to_string(*Of.Program.Spec.Train.Sequence);
  const Payload Bytes = Of.payloadAfter(From);
  Array Objects;
  for (int64_t Owner : Owners)
    Objects.push_back(Of.stage(Owner).Name);
  // A tuple is sent as its type, its length and its items.
  int64_t Messages = 0;
  J.attribute("from_stage", From);
  J.attribute("to_stage", From + 1);
  J.attribute("objects_sent_in_order", Array(Objects));
  J.attribute("objects_received_in_order", std::move(Objects));
  J.attribute("send_recv_agree", true);
  J.attributeArray("tensors", [&] {
    for (int64_t Owner : Owners) {
      Messages += Of.stage(Owner).hasItems() ? 2 : 0;
      for (const Output &O : Of.stage(Owner).Outputs)
        J.object([&] {
          const GraphValue &V = Of.value(O.Value);
          const bool IsTensor = V.Shape != ShapeKind::Integer;
          // A tensor is five messages, its type, rank, shape, element type and
          // data; an integer two.
          Messages += IsTensor ? 5 : 2;
          J.attribute("object", Of.stage(Owner).Name);
          J.attribute("value", V.Path);
          J.attribute("shape", shapeOf(V));
          // The runtime loads weights like this by default.
          if (IsTensor)
            J.attribute("dtype", "float32");
          J.attribute("bytes", Of.bytesOf(O.Value));
        });
    }
  });
  const auto Gradients =
      static_cast<int64_t>(Of.stage(From + 1).Arguments.size());
  J.attribute("p2p_sends_per_microbatch_fwd", Messages);
  J.attributeObject("fwd_payload_bytes_per_microbatch_fp32",
                    [&] { J.attribute(Sequence, Bytes.Sent); });
  J.attributeObject("ideal_payload_bytes_per_microbatch_fp32",
                    [&] { J.attribute(Sequence, Bytes.Needed); });
  J.attribute("grad_entries_bwd", Gradients);
  // A pair of a list of gradients and nothing.
  J.attribute("p2p_sends_per_microbatch_bwd", 2 + 2 + 5 * Gradients + 1);
}

void JSONWriter::schedule(int64_t Stage) {
  const int64_t Warmup = std::min(Of.stages() - 1 - Stage, Of.microBatches());
  J.object([&] {
    J.attribute("warmup_F", Warmup);
    J.attribute("steady_1F1B", Of.microBatches() - Warmup);
    J.attribute("cooldown_B", Warmup);
    J.attribute("max_in_flight", std::min(Warmup + 1, Of.microBatches()));
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
    J.attribute("length", Of.Length);
    J.attribute("modcnt", Of.Graph.Modules);
    J.attribute("segment", Of.Graph.Modules / Of.stages());
    J.attribute("params_total", Of.Graph.Parameters);
    J.attribute("params_per_layer", Of.Graph.LayerParameters);
    graph();
    eachStage("layer_lines", /*HasNames=*/false, [&](int64_t S) {
      J.array([&] {
        for (const LayerPart &P : Of.stage(S).Parts)
          part(P);
      });
    });
    J.attributeArray("boundaries", [&] {
      for (int64_t S = 0; S + 1 < Of.stages(); ++S)
        J.object([&] { boundary(S); });
    });
    eachStage("schedule_1f1b", /*HasNames=*/false,
              [&](int64_t S) { schedule(S); });
    eachStage("stage2rank", /*HasNames=*/false,
              [&](int64_t S) { J.value(Array(Of.ranks(S))); });
  });
  J.flush();
}

void foretrace::optimus::writeJSON(const PartitionJob &J,
                                   llvm::raw_ostream &OS) {
  JSONWriter(J, OS).run();
  OS << '\n';
}
