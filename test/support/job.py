# SPDX-License-Identifier: Apache-2.0
"""A job, and the file that states it."""

import dataclasses
import pathlib

from tool import keys, section, word

BYTES = {"bf16": 2, "fp16": 2, "fp32": 4}
LAYERS = pathlib.Path(__file__).parent.parent.joinpath("layers", "Inputs")


@dataclasses.dataclass
class Latent:
    """Multi-head latent attention: ranks and channels of one head."""
    q_lora: int
    kv_lora: int
    rope: int
    nope: int
    v: int
    gate: bool = False  # of each channel


@dataclasses.dataclass
class Grouped:
    """What grouped-query attention has beside heads; `kind` if the job defines it itself
    (test/layers/Inputs)."""
    kind: str = "gqa"
    value: int = 0  # channels of a value, if these are not those of a key
    norm: str = "head"
    gate: str = "none"
    sinks: bool = False
    window: int = 0
    chunk: int = 0
    causal: bool = True
    shared: bool = False  # keys are values
    bias: bool = False
    output_bias: bool = False


@dataclasses.dataclass
class Experts:
    """The routed experts of a block, and the shared ones' width."""
    count: int
    topk: int
    ffn: int
    shared: int = 0
    gate: bool = False
    router_bias: bool = False
    precision: str = "bf16"
    aux_loss: str = "none"
    dispatcher: str = "alltoall"
    latent: int = 0  # channels that are sent in place of hidden
    zero: int = 0  # experts that return their input
    linear_bias: bool = None  # of the router; None: as of other layers

    @property
    def ways(self):
        """How many experts a token can choose from."""
        return self.count + self.zero


@dataclasses.dataclass
class Branch:
    """Layers that predict further tokens, each of the last kind of the model."""
    depths: int
    shared: bool


@dataclasses.dataclass
class DeltaNet:
    """A gated delta net in place of attention."""
    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int
    kernel: int


@dataclasses.dataclass
class Mamba:
    """Mamba-2 in place of attention."""
    heads: int
    head_dim: int
    groups: int
    state: int
    kernel: int
    gated_norm: bool = True


@dataclasses.dataclass
class Kimi:
    """Kimi delta attention in place of attention."""
    heads: int
    head_dim: int
    kernel: int
    full_gate: bool


MIXERS = {DeltaNet: "gated_delta_net", Mamba: "mamba2", Kimi: "kimi_delta_attention"}


@dataclasses.dataclass(eq=False)
class Job:
    """A job as its file states it; sizes over all ranks."""
    hidden: int
    sequence: int
    layers: list
    vocab: int = 512
    vocab_multiple: int = 128
    norm: str = "rmsnorm"
    placement: str = "pre"  # of norms
    positions: str = "rope"
    tied: bool = False
    bias: bool = False
    qkv_bias: bool = False
    heads: int = 4
    kv_heads: int = 4
    head_dim: int = 64
    qk_norm: bool = False
    latent: Latent = None
    grouped: Grouped = None
    mixer: object = None  # DeltaNet, Mamba or Kimi
    ffn: int = 0
    activation: str = "swiglu"
    experts: Experts = None
    branch: Branch = None
    micro_batch: int = 1
    precision: str = "bf16"
    grad_precision: str = "fp32"
    recompute: str = "none"
    attention_backend: str = "fused"
    dropout: bool = False
    fused_loss: str = "none"
    per_token_loss: bool = False
    attention_mask: bool = False
    tp: int = 1
    sp: bool = False
    cp: int = 1
    cp_comm: str = "all_gather"
    pp: int = 1
    vpp: int = 1
    dp: int = 1
    ga: int = 1
    ep: int = 1
    etp: int = 1
    zero: int = 0
    dp_replicate: int = 1  # times dp replicas, among which ZeRO shares

    def __post_init__(self):
        self.element = BYTES[self.precision]
        self.grad = BYTES[self.grad_precision]
        step = self.vocab_multiple * self.tp
        self.padded_vocab = -(-self.vocab // step) * step
        self.edp = self.tp * self.cp * self.dp // (self.etp * self.ep)
        self.replicas = self.dp * self.dp_replicate
        self.dp_shard = self.dp
        self.zero_pipeline = self.zero > 1 and self.pp > 1
        self.ends = min(self.pp, 2)
        # Tokens within tensor-parallel regions, and outside of them.
        self.tokens = self.sequence // self.cp * self.micro_batch
        self.local = self.tokens // self.tp if self.sp else self.tokens
        # Key heads with those that several ranks have.
        self.rank_kv_heads = max(self.kv_heads, self.tp)
        self.fc1_parts = 2 if self.activation in ("swiglu", "geglu") else 1

    def size(self, axes):
        product = 1
        for axis in axes:
            product *= getattr(self, axis)
        return product


def keys_of(job, *names):
    return keys(**{name: getattr(job, name) for name in names})


def grouped_text(job):
    """The attention of a job with keys beyond the usual ones."""
    g = job.grouped
    heads = {name: getattr(job, name) for name in ("heads", "kv_heads", "head_dim", "qk_norm")}
    if g.kind != "gqa":
        return section(g.kind, **heads, bias=job.bias, qkv_bias=job.qkv_bias,
                       gate=g.gate == "channel", sinks=g.sinks, window=g.window)
    if job.qk_norm:
        heads["qk_norm_kind"] = g.norm
    if g.value not in (0, job.head_dim):
        heads["v_dim"] = g.value
    return section("gqa", **heads, window=g.window, chunk=g.chunk, causal=g.causal, sinks=g.sinks,
                   output_gate=g.gate, shared_kv=g.shared, qkv_bias=g.bias,
                   output_bias=g.output_bias)


def latent_text(job, kind="mla", **more):
    m = job.latent
    return section(kind, heads=job.heads, q_lora=m.q_lora, kv_lora=m.kv_lora, rope_dim=m.rope,
                   nope_dim=m.nope, v_dim=m.v, **more)


def attention_text(job):
    if job.latent:
        return latent_text(job, **{"output_gate": "channel"} if job.latent.gate else {})
    if job.mixer:
        return section(MIXERS[type(job.mixer)], **dataclasses.asdict(job.mixer))
    if job.grouped:
        return grouped_text(job)
    return f"gqa {{ {keys_of(job, 'heads', 'kv_heads', 'head_dim', 'qk_norm')} }}"


def network_text(job, width):
    return f"ffn {{ intermediate = {width}  activation = {job.activation} }}"


def experts_text(job):
    e = job.experts
    more = {"dispatcher": e.dispatcher} if e.dispatcher != "alltoall" else {}
    more |= {"latent": e.latent} if e.latent else {}
    more |= {"zero_experts": e.zero} if e.zero else {}
    more |= {} if e.linear_bias is None else {"router_linear_bias": e.linear_bias}
    return keys(experts=e.count, topk=e.topk, shared_intermediate=e.shared, shared_gate=e.gate,
                router_bias=e.router_bias, router_precision=e.precision, aux_loss=e.aux_loss, **more)


def blocks_text(job):
    text = {"dense": f"  block dense {{ {network_text(job, job.ffn)} }}\n",
            "moe": f"  block moe {{\n    {experts_text(job)}\n    {network_text(job, job.experts.ffn)}"
                   "\n  }\n" if job.experts else ""}
    names = [n for n in text if n in job.layers]
    branch = ("  " + section("branch mtp", depths=job.branch.depths, shared=job.branch.shared,
                             layers=names[-1]) + "\n" if job.branch else "")
    return "".join(text[n] for n in names) + "  layers = " + " + ".join(
        f"{job.layers.count(n)} * {n}" for n in names) + "\n" + branch


def text_of(job, model=None):
    """The file; `model` is the part of the model with its attention and layers, if these are not
    those of the job."""
    world = job.tp * job.cp * job.replicas * job.pp
    mesh = ["tp", "cp", "pp", "vpp", "zero"]
    mesh += ["ep", "etp"] if job.experts else []
    mesh += ["dp_shard"] if job.dp_replicate > 1 else []
    mesh += ["zero_pipeline"] if job.zero_pipeline else []
    mesh += ["cp_comm"] if job.cp_comm != "all_gather" else []
    train = ["sequence", "micro_batch", "precision", "grad_precision", "recompute", "fused_loss"]
    train += ["attention_backend"] if job.attention_backend != "fused" else []
    train += [k for k in ("dropout", "per_token_loss", "attention_mask") if getattr(job, k)]
    own = job.grouped and job.grouped.kind != "gqa"
    layer = LAYERS.joinpath(job.grouped.kind + ".fore").read_text("utf-8") if own else ""
    more = f"  norm_placement = {job.placement}" if job.placement != "pre" else ""
    return (
        layer + "model random {\n  "
        + keys_of(job, "vocab", "vocab_multiple", "hidden", "norm", "positions", "tied", "bias", "qkv_bias")
        + more + "\n" + (model or f"  attention {attention_text(job)}\n{blocks_text(job)}") + "}\n"
        + "train {\n  " + keys_of(job, *train) + "\n"
        + f"  global_batch = {job.micro_batch * job.replicas * job.ga}\n}}\n"
        + f"parallel {{\n  world = {world}  sequence_parallel = {word(job.sp)}  " + keys_of(job, *mesh)
        + "\n}\n")
