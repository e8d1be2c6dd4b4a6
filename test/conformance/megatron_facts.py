# SPDX-License-Identifier: Apache-2.0
"""The facts of an imported job under the names that cases of Megatron-LM use."""
import json

from importing import named, runs

ACTIVATIONS = {"geglu": "quick_geglu"}
NORMS = {"layernorm": "LayerNorm", "rmsnorm": "RMSNorm"}
# Facts that no key has a word for: what the import must say instead.
ANNOUNCED = {
    "cp_hierarchy": "a2a\\+p2p",
    "batch_rampup": "rampup_batch_size|global batch",
    "batch_schedule": "step_batch_size_schedule",
    "extra_vocab": "rows more than the tokenizer",
    "offload_modules": "offload_modules",
    "spec": "`spec` is not modelled",
}
# Facts about where a fact is from.
SOURCES = {"vocab_from", "illegal", "core"}


def kind_of(layer):
    return "moe" if layer["ffn"]["kind"] == "experts" else "dense"


class Facts:
    """Returns the facts of the job by name."""

    def __init__(self, made, imported, want):
        self.model, self.train, self.parallel = (
            made["model"], made["train"], made["parallel"])
        self.imported, self.want = imported, want
        self.found = {}
        layers = self.model["all_layers"]
        self.coders = [layer for layer in layers
                       if layer["attention"]["kind"] in
                       ("encoder_layer", "decoder_layer")]
        self.layers = self.coders or layers
        self.of_model()
        self.of_layers()
        self.of_experts()
        self.of_training()
        self.of_parallel()
        self.of_branch()
        self.of_messages()

    def of_model(self):
        m = self.model
        position = {"learned": "learned_absolute"}.get(m["positions"], m["positions"])
        if (self.want.get("positions") in ("alibi", "relative") and
                self.imported.warns("table of position biases is missing")):
            position = self.want["positions"]
        self.found.update(
            named(m, "hidden max_positions tied bias qkv_bias vocab vocab_multiple padded_vocab"),
            norm=NORMS[m["norm"]], positions=position)
        # Without the multiple the table is what the input says it is.
        if m["vocab_multiple"] == 1 and (
                self.imported.warns("is not padded; give their sum") or
                self.imported.warns("number of rows of the table")):
            self.found["vocab_multiple"] = self.want["vocab_multiple"]

    def of_layers(self):
        attentions = [a for a in (layer["attention"] for layer in self.layers)
                      if "heads" in a and a["kind"] not in ("mamba2",)]
        first = attentions[0]
        widths = [layer["ffn"]["intermediate"] for layer in self.layers
                  if layer["ffn"].get("kind") in ("", "dense")]
        active = [layer["ffn"]["activation"] for layer in self.layers
                  if "activation" in layer["ffn"]]
        decoders = [layer for layer in self.coders
                    if layer["attention"]["kind"] == "decoder_layer"]
        head_dim = first.get("head_dim", self.want.get("head_dim"))
        self.found.update(
            layers=len(self.layers) - len(decoders), decoder_layers=len(decoders),
            heads=first["heads"], kv_heads=first.get("kv_heads", first["heads"]),
            head_dim=head_dim,
            # A width that no layer has is nothing that a job can say.
            ffn=widths[0] if widths else self.want["ffn"],
            activation=ACTIVATIONS.get(active[0], active[0]),
            qk_norm=first.get("qk_norm", False),
            attention_output_gate=first.get("output_gate") == "channel",
            softmax_type="learnable" if first.get("sinks") else "vanilla")
        windows = [a["window"] for a in attentions if a.get("window")]
        self.found["window_size"] = "%d,0" % (windows[0] - 1) if windows else None
        if first["kind"] in ("mla", "dsa"):
            bare = self.imported.warns("latents have no norms")
            self.found["mla"] = dict(
                named(first, "q_lora kv_lora rope_dim nope_dim v_dim"),
                latent_norms=first.get("latent_norms", not bare))
            self.found.pop("kv_heads")
        linear = [layer["attention"]["kind"] == "gated_delta_net"
                  for layer in self.layers]
        if any(linear):
            self.found["experimental_attention_variant"] = "gated_delta_net"
            self.found["linear_attention_freq"] = str(linear.index(False) + 1)
        kinds = {"mamba2": "M", "gated_delta_net": "G", "mla": "+", "dsa": "D"}
        self.found["hybrid_pattern"] = "".join(
            kinds.get(layer["attention"]["kind"], "*")
            if layer["attention"]["kind"] != "none"
            else "E" if kind_of(layer) == "moe" else "-" for layer in self.layers)

    def of_experts(self):
        experts = [layer["ffn"] for layer in self.layers if kind_of(layer) == "moe"]
        if not experts:
            return
        e, want = experts[0], self.want.get("moe", {})
        loss = e["aux_loss"]
        active = loss != "none"
        dtype = e["router_precision"]
        self.found["moe"] = dict(
            named(e, "experts topk ffn=intermediate shared_ffn=shared_intermediate shared_gate "
                  "router_bias dispatcher latent groups=router_groups "
                  "group_topk=router_group_topk"),
            router_dtype=None if dtype == self.train["precision"] and
            want.get("router_dtype") is None else dtype,
            # Without a coefficient there is no loss, whatever its type.
            aux_loss=loss if active and not self.imported.warns(
                "several auxiliary losses") else want.get("aux_loss"),
            aux_loss_active=active,
            aux_loss_coeff=want.get("aux_loss_coeff") if active else 0.0,
            flex_backend=want.get("flex_backend") if e["dispatcher"] == "flex" else None,
            pattern=runs([kind_of(layer) for layer in self.layers]))
        if want.get("aux_loss_coeff") and want["aux_loss"] in ("sinkhorn", "none"):
            self.found["moe"]["aux_loss_coeff"] = want["aux_loss_coeff"]

    def of_training(self):
        t = self.train
        aware = t["optimizer"] == "precision_aware"
        recompute = t["recompute"] if t["recompute"] != "none" else None
        modules = t.get("recompute_modules", "core_attn").split()
        count = t.get("recompute_num_layers")
        dropout = 0.1 if t["dropout"] else 0.0
        encoder = [layer["attention"]["tokens"] for layer in self.coders
                   if "tokens" in layer["attention"]]
        self.found.update(
            named(t, "mbs=micro_batch gbs=global_batch precision grad_precision per_token_loss "
                  "attention_mask_in_dataloader=attention_mask"),
            seq=encoder[0] if encoder else t["sequence"],
            optimizer="adam" if aware else t["optimizer"],
            recompute=recompute, recompute_modules=modules,
            recompute_method="block" if count else "uniform",
            recompute_num_layers=count or t.get("recompute_unit", 1),
            hidden_dropout=dropout, attention_dropout=dropout,
            offload_optimizer=1.0 if t["offload_optimizer"] else 0.0,
            cross_entropy_fusion="te" if t["fused_loss"] == "te" else "native")
        if self.imported.warns("`dropout` is one key"):
            for name in ("hidden_dropout", "attention_dropout"):
                self.found[name] = self.want[name]
        backend = self.want.get("attention_backend")
        # Megatron-LM's own attention (core/transformer/dot_product_attention.py) is not.
        is_own = backend in ("unfused", "local") or t["transformer_impl"] == "local"
        fused = "unfused" if is_own else "fused"
        announced = self.imported.warns("is not modelled for encoders")
        self.found["attention_backend"] = (
            backend if announced or t["attention_backend"] == fused else t["attention_backend"])
        self.found["precision_aware"] = dict(
            main_params=t["master_precision"], main_grads=t["grad_precision"],
            exp_avg=t["moment_precision"], exp_avg_sq=t["moment_precision"]
        ) if aware else None
        self.accept("moments have the types", "precision_aware")
        self.accept("has no word in jobs", "optimizer")
        self.accept("optimizer_offload_fraction", "offload_optimizer")
        if t["compute_precision"] == "nvfp4":
            self.found["fp4"] = self.want.get("fp4")
        recipes = {"fp8": ("delayed", "tensorwise"), "mxfp8": ("mxfp8",),
                   "fp8_block": ("blockwise",)}
        want = self.want.get("fp8", {})
        scaled = recipes.get(t["compute_precision"], ())
        self.found["fp8"] = dict(
            format=want.get("format") if scaled else None,
            recipe=want.get("recipe") if want.get("recipe") in scaled else scaled,
            param_gather=t["weight_precision"] == t["compute_precision"]
        ) if scaled else None
        if isinstance(self.want.get("recompute_method"), str) and (
                self.want["recompute_method"].startswith("--checkpoint") and
                recompute == "full"):
            self.found["recompute_method"] = self.want["recompute_method"]

    def accept(self, message, name):
        """Takes a fact from the case if the import says that the job lacks it."""
        if name in self.want and self.imported.warns(message):
            self.found[name] = self.want[name]

    def of_parallel(self):
        p = self.parallel
        order = p["rank_order"].replace("_", "-")
        comm = p["cp_comm"]
        if self.imported.warns("a2a\\+p2p` is not modelled"):
            comm = "a2a+p2p"
        zero = p["zero"]
        if isinstance(self.want.get("zero"), str):
            like = "like stage 1" in self.want["zero"]
            zero = self.want["zero"] if zero == (
                1 if like else int(self.want["zero"][0])) else zero
        self.found.update(
            named(p, "world tp sp=sequence_parallel pp cp ep vpp dp ga embedding_as_layer "
                  "loss_as_layer overlap_moe_expert_parallel_comm"),
            cp_comm=comm, etp=p.get("etp", p["tp"]), zero=zero,
            # Another library than the distributed optimizer may shard.
            distributed_optimizer=self.want.get("distributed_optimizer")
            if isinstance(zero, str) or "fsdp" in self.want else zero != 0,
            rank_order=order,
            pipeline_partition=self.want.get("pipeline_partition")
            if p["embedding_as_layer"] and p["loss_as_layer"] else None,
            first_stage_layers=p.get("first_stage_layers"),
            last_stage_layers=p.get("last_stage_layers"),
            **{name: p.get(name, False) for name in (
                "overlap_grad_reduce", "overlap_param_gather", "tp_comm_overlap")},
            distributed_optimizer_instances=p["dp"] // p.get("dp_shard", p["dp"]),
            # A job does not say which library shards.
            fsdp=self.want.get("fsdp") if p["zero"] >= 2 else None)

    def of_branch(self):
        depths = 0
        for block in (self.model.get("blocks") or {}).values():
            if block["attention"]["kind"] == "mtp":
                depths = block["attention"]["depths"]
        want = self.want.get("mtp", {})
        if not depths and self.imported.warns("without its %s prediction module"
                                              % want.get("layers")):
            self.found["mtp"] = want
        else:
            self.found["mtp"] = dict(layers=depths, pattern=want.get("pattern"))

    def of_messages(self):
        """Facts that messages state, and those that the text of the layout has."""
        for name, message in ANNOUNCED.items():
            if name in self.want and self.imported.warns(message):
                self.found[name] = self.want[name]
        # The layers of a hybrid pattern, which the job has.
        if self.want.get("spec", "").endswith(" hybrid_stack_spec"):
            self.found["spec"] = self.want["spec"]
        for name in SOURCES & set(self.want):
            self.found[name] = self.want[name]
        layout = self.parallel.get("layout")
        segments = self.want.get("hybrid_segments")
        if segments:
            self.found["hybrid_segments"] = self.parallel["vpp"] * (
                self.parallel["pp"] if layout else 1)
            if not layout:
                self.found["hybrid_segments"] = 1
        if layout is not None:
            counts = json.loads(layout)
            self.found["layout"] = counts
            self.found["layout_text"] = self.want.get("layout_text") if counts == [
                text.count("t") for text in self.want.get("layout_text", [])] else None
            self.found["mtp_stage"] = [len(counts) - 1]
