# SPDX-License-Identifier: Apache-2.0
"""A job, and the file that states it."""

import dataclasses
import pathlib

BYTES = {"bf16": 2, "fp16": 2, "fp32": 4}


@dataclasses.dataclass
class Latent:
    """Multi-head latent attention: ranks and channels of one head."""
    q_lora: int
    kv_lora: int
    rope: int
    nope: int
    v: int


@dataclasses.dataclass
class Experts:
    """The routed experts of a block, and the shared ones' width."""
    count: int
    topk: int
    ffn: int
    shared: int
    gate: bool
    router_bias: bool
    precision: str
    aux_loss: str
    dispatcher: str
    latent: int = 0  # channels that are sent in place of hidden


@dataclasses.dataclass
class Gated:
    """Attention of a kind that the job defines (test/layers/Inputs)."""
    gate: bool
    sinks: bool
    window: int


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


LAYERS = pathlib.Path(__file__).parent.parent.joinpath(
    "layers", "Inputs")


@dataclasses.dataclass
class Job:
    """A job as its file states it; sizes over all ranks."""
    vocab: int
    vocab_multiple: int
    hidden: int
    norm: str
    positions: str
    tied: bool
    bias: bool
    qkv_bias: bool
    heads: int
    kv_heads: int
    head_dim: int
    qk_norm: bool
    latent: Latent
    ffn: int
    activation: str
    experts: Experts
    layers: list
    sequence: int
    micro_batch: int
    precision: str
    grad_precision: str
    recompute: str
    attention_backend: str
    dropout: bool
    fused_loss: str
    per_token_loss: bool
    attention_mask: bool
    tp: int
    sp: bool
    cp: int
    cp_comm: str
    pp: int
    vpp: int
    dp: int
    ga: int
    ep: int
    etp: int
    zero: int
    dp_replicate: int = 1  # times dp replicas, among which ZeRO shares
    gated: Gated = None
    mixer: object = None  # DeltaNet or Mamba
    branch: Branch = None

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


def word(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def keys(job, *names):
    return "  ".join(f"{n} = {word(getattr(job, n))}" for n in names)


def attention_text(job):
    if m := job.latent:
        return (f"mla {{ heads = {job.heads}  q_lora = {m.q_lora}  "
                f"kv_lora = {m.kv_lora}  rope_dim = {m.rope}  "
                f"nope_dim = {m.nope}  v_dim = {m.v} }}")
    if m := job.mixer:
        kind = "mamba2" if isinstance(m, Mamba) else "gated_delta_net"
        return kind + " { " + "  ".join(
            f"{k} = {v}" for k, v in dataclasses.asdict(m).items()) + " }"
    if g := job.gated:
        return ("gated_attention { " + keys(job, "heads", "kv_heads", "head_dim",
                                            "qk_norm", "bias", "qkv_bias")
                + f"  gate = {word(g.gate)}  sinks = {word(g.sinks)}"
                + f"  window = {g.window} }}")
    return "gqa { " + keys(job, "heads", "kv_heads", "head_dim",
                           "qk_norm") + " }"


def network_text(job, width):
    return f"ffn {{ intermediate = {width}  activation = {job.activation} }}"


def experts_text(job):
    e = job.experts
    return (f"  block moe {{\n    experts = {e.count}  topk = {e.topk}  "
            f"shared_intermediate = {e.shared}  shared_gate = {word(e.gate)}\n"
            f"    router_bias = {word(e.router_bias)}  "
            f"router_precision = {e.precision}  aux_loss = {e.aux_loss}\n"
            + ("    dispatcher = allgather\n" if e.dispatcher == "allgather"
               else "")
            + (f"    latent = {e.latent}\n" if e.latent else "")
            + f"    {network_text(job, e.ffn)}\n  }}\n")


def blocks_text(job):
    text = {"dense": f"  block dense {{ {network_text(job, job.ffn)} }}\n",
            "moe": experts_text(job) if job.experts else ""}
    names = [n for n in text if n in job.layers]
    branch = (f"  branch mtp {{ depths = {job.branch.depths}  shared = "
              f"{word(job.branch.shared)}  layers = {names[-1]} }}\n"
              if job.branch else "")
    return "".join(text[n] for n in names) + "  layers = " + " + ".join(
        f"{job.layers.count(n)} * {n}" for n in names) + "\n" + branch


def text_of(job):
    world = job.tp * job.cp * job.replicas * job.pp
    mesh = ["tp", "cp", "pp", "vpp", "zero"]
    mesh += ["ep", "etp"] if job.experts else []
    mesh += ["dp_shard"] if job.dp_replicate > 1 else []
    mesh += ["zero_pipeline"] if job.zero_pipeline else []
    mesh += ["cp_comm"] if job.cp_comm != "all_gather" else []
    train = ["sequence", "micro_batch", "precision", "grad_precision",
             "recompute", "fused_loss"]
    train += ["attention_backend"] if job.attention_backend != "fused" else []
    train += [k for k in ("dropout", "per_token_loss", "attention_mask")
              if getattr(job, k)]
    layer = (LAYERS.joinpath("gated_attention.fore").read_text(encoding="utf-8")
             if job.gated else "")
    return (
        layer + "model random {\n  "
        + keys(job, "vocab", "vocab_multiple", "hidden", "norm", "positions",
               "tied", "bias", "qkv_bias")
        + f"\n  attention {attention_text(job)}\n{blocks_text(job)}}}\n"
        + "train {\n  " + keys(job, *train) + "\n"
        + f"  global_batch = {job.micro_batch * job.replicas * job.ga}\n}}\n"
        + f"parallel {{\n  world = {world}  "
        + f"sequence_parallel = {word(job.sp)}  " + keys(job, *mesh) + "\n}\n")
