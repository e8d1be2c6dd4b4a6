# SPDX-License-Identifier: Apache-2.0
#
# The fields of documents, in the units of docs/json.md and of the pages of the
# subcommands. Those marked with `?` are in some documents only: use `get`.
from ._record import Record

class Params(Record):
    schema: str
    published: int
    activated: int
    activated_without_lookup: int
    blocks: tuple[_ParamsBlock, ...]
    parts: tuple[_ParamsPart, ...]
    notes: tuple[str, ...]

class _ParamsBlock(Record):
    block: str
    layers: int
    published: int
    activated: int

class _ParamsPart(Record):
    part: str
    published: int
    activated: int

class Memory(Record):
    schema: str
    peak: int  # ?
    peak_stages: tuple[int, ...]  # ?
    peak_phase: str  # ?
    device_memory: int  # ?
    reserved: int  # ?
    free: int  # ?
    fits: bool  # ?
    stages: tuple[_MemoryStage, ...]
    notes: tuple[str, ...]
    changes: tuple[_MemoryChange, ...]  # ?
    kv_block: int  # ?
    kv_blocks: int  # ?
    kv_tokens: int  # ?
    sequences: int  # ?
    accepted_tokens: str  # ?
    trace_requests: int  # ?
    input_tokens: int  # ?
    output_tokens: int  # ?
    trace_blocks: int  # ?
    hit_blocks: int  # ?
    hit_tokens: int  # ?
    requests_hit_fully: int  # ?
    evictions: int  # ?
    blocks_at_end: int  # ?
    expert_load: int  # ?
    busiest_rank: str  # ?
    experts: tuple[_MemoryExpert, ...]  # ?

class _MemoryExpert(Record):
    expert: str
    copies: int

class _MemoryStage(Record):
    stages: tuple[int, ...]
    weights: int
    gradients: int  # ?
    optimizer: int  # ?
    dummy_wgrads: int  # ?
    saved: int  # ?
    running: int  # ?
    update: int  # ?
    peak: int  # ?
    micro_batches: int  # ?
    when: str  # ?
    cache_token: int  # ?
    cache_limited: int  # ?
    cache_sequence: int  # ?
    adapters: int  # ?
    step: int  # ?
    pool: int  # ?
    blocks: int  # ?

class _MemoryChange(Record):
    change: str
    peak: int
    flops: int
    messages: int
    time: int  # ?

class Flops(Record):
    schema: str
    tokens: int
    model_flops_per_token: int
    forward_flops: int
    backward_flops: int
    recomputed_flops: int
    model_flops: int
    hardware_flops: int
    repeated_flops: int
    blocks: tuple[_FlopsBlock, ...]
    stages: tuple[_FlopsStage, ...]
    notes: tuple[str, ...]
    flops_per_second: int  # ?
    tokens_per_second: int  # ?
    mfu: int  # ?
    hfu: int  # ?

class _FlopsBlock(Record):
    block: str
    layers: int
    forward_flops: int
    recomputed_flops: int
    backward_flops: int

class _FlopsStage(Record):
    stages: tuple[int, ...]
    ranks: int
    forward_flops: int
    recomputed_flops: int
    backward_flops: int

class Volume(Record):
    schema: str
    message: int
    sent: int
    cross_node: int  # ?
    cross_node_share: int  # ?
    most: str  # ?
    causes: tuple[_VolumeCause, ...]
    groups: tuple[_VolumeGroup, ...]
    phases: tuple[_VolumePhase, ...]
    collectives: tuple[_VolumeCollective, ...]
    stages: tuple[_VolumeStage, ...]
    tiers: tuple[_VolumeTier, ...]  # ?
    tier_groups: tuple[_VolumeTierGroup, ...]  # ?
    exchanges: tuple[_VolumeExchange, ...]  # ?
    notes: tuple[str, ...]

class _VolumeCause(Record):
    at: str
    message: int
    sent: int
    cross_node: int  # ?
    share: int

class _VolumeGroup(Record):
    group: str
    size: int
    message: int
    sent: int
    cross_node: int  # ?

class _VolumePhase(Record):
    phase: str
    message: int
    sent: int
    cross_node: int  # ?

class _VolumeCollective(Record):
    group: str
    collective: str
    phase: str
    message: int
    sent: int
    cross_node: int  # ?

class _VolumeStage(Record):
    stages: tuple[int, ...]
    group: str
    collective: str
    ranks: int
    mean_message: int
    mean_sent: int
    sent_by_group: int

class _VolumeExchange(Record):
    stages: tuple[int, ...]
    ep_rank: str
    load: int
    sent: int
    received: int

class _VolumeTier(Record):
    tier: str
    sent: int
    share: int

class _VolumeTierGroup(Record):
    tier: str
    group: str
    sent: int
    share: int

class Time(Record):
    schema: str
    time: int  # ?
    uncertainty: int  # ?
    tokens_per_second: int
    flops_per_second: int  # ?
    mfu: int  # ?
    hfu: int  # ?
    exposed: int  # ?
    device_hours: int  # ?
    ttft: int  # ?
    tpot: int  # ?
    user_tokens_per_second: int  # ?
    requests_per_hour: int  # ?
    running: int  # ?
    bound: str  # ?
    decode_step: int  # ?
    mixed_step: int  # ?
    mixed_share: int  # ?
    step: int  # ?
    parts: tuple[_TimePart, ...]
    lines: tuple[_TimeLine, ...]  # ?
    stages: tuple[_TimeStage, ...]  # ?
    changes: tuple[_TimeChange, ...]  # ?
    notes: tuple[str, ...]

class _TimePart(Record):
    part: str
    time: int
    share: int
    hidden: int
    largest: str

class _TimeLine(Record):
    line: str
    part: str
    time: int
    share: int

class _TimeChange(Record):
    change: str
    time: int
    saved: int
    peak: int

class _TimeStage(Record):
    stages: tuple[int, ...]
    forward_time: int
    backward_time: int
    steps_time: int
    update_time: int
    idle_time: int
    critical_time: int  # ?

class Plan(Record):
    schema: str
    job: str
    model: _PlanModel
    train: _PlanTrain  # ?
    requests: _PlanRequests  # ?
    serve: _PlanServe  # ?
    parallel: _PlanParallel
    cluster: _PlanCluster  # ?
    schedule: _PlanSchedule
    fits: bool  # ?
    cross_node: int  # ?
    bubble: int  # ?
    time: int  # ?
    time_upper: int  # ?
    mfu: int  # ?
    tokens_per_second: int  # ?
    exposed: int  # ?
    kv_bytes: int  # ?
    kv_blocks: int  # ?
    kv_tokens: int  # ?
    sequences: int  # ?
    flops_of_all_ranks: int
    blocks: tuple[_PlanBlock, ...]
    block_messages: tuple[_PlanBlockMessage, ...]
    stages: tuple[_PlanStage, ...]
    messages: tuple[_PlanMessage, ...]
    chunks: tuple[_PlanChunk, ...]

class _PlanModel(Record):
    name: str
    layers: int
    hidden: int
    vocab: int
    published: int
    activated: int

class _PlanTrain(Record):
    sequence: int
    micro_batch: int
    global_batch: int
    tokens: int
    precision: str
    compute_precision: str
    saved_precision: str
    activation_precision: str
    weight_precision: str
    gather_precision: str
    dispatch_precision: str
    combine_precision: str
    reduce_precision: str
    master_precision: str
    moment_precision: str
    recompute: str
    recipe: str  # ?
    routing: str  # ?
    expert_load: int  # ?

class _PlanRequests(Record):
    input: int
    output: int
    prefix: int
    concurrency: int
    hit_rate: int  # ?
    rate: int  # ?
    count: int  # ?
    seed: int  # ?

class _PlanServe(Record):
    name: str
    engine: str
    usage: str
    precision: str
    weight_precision: str
    quantized: str
    kv_precision: str
    state_precision: str
    memory_fraction: int
    block: int
    blocks: int  # ?
    hybrid_cache: bool
    prefix_caching: bool
    max_length: int
    max_sequences: int
    max_batch_tokens: int
    step: str
    context: int
    exchange: str
    deepep_max_tokens: int
    redundant_experts: int
    replicas: int

class _PlanParallel(Record):
    world: int
    mesh: tuple[_PlanParallelMesh, ...]
    vpp: int
    ga: int
    zero: int
    sequence_parallel: bool
    rank_order: str
    groups: tuple[_PlanParallelGroup, ...]

class _PlanParallelMesh(Record):
    axis: str
    size: int

class _PlanParallelGroup(Record):
    group: str
    axes: tuple[str, ...]
    size: int
    groups: int
    leave_node: int  # ?
    tiers: tuple[_PlanParallelGroupTier, ...]  # ?

class _PlanParallelGroupTier(Record):
    tier: str
    groups: int

class _PlanCluster(Record):
    name: str
    nodes: int
    devices_per_node: int
    device_memory: int  # ?
    reserved: int  # ?
    device_flops_per_second: int  # ?

class _PlanSchedule(Record):
    kind: str
    placement: str
    pp: int
    chunks_per_stage: int
    micro_batches: int
    group: int
    unit: str
    work: int
    idle: int

class _PlanBlock(Record):
    block: str
    layers: int
    parameters: int
    published: int
    activated: int
    weights: int
    gradients: int
    optimizer: int
    update: int
    kept: int
    flops: int
    recompute: str  # ?
    offload_activations: bool  # ?

class _PlanBlockMessage(Record):
    block: str
    group: str
    messages: int

class _PlanStage(Record):
    stages: tuple[int, ...]
    parameters: int
    weights: int
    gradients: int  # ?
    optimizer: int  # ?
    update: int  # ?
    activations: int  # ?
    flops: int
    dummy_wgrads: int  # ?
    static: int  # ?
    static_and_saved: int  # ?
    peak: int  # ?
    dynamic: int  # ?
    in_flight: int  # ?
    messages: int
    workspace: int  # ?

class _PlanMessage(Record):
    stages: tuple[int, ...]
    group: str
    messages: int

class _PlanChunk(Record):
    stages: tuple[int, ...]
    chunks: tuple[int, ...]
    layers: str
    sent: int
