"""The body of `GET /v1/engine/state`: the present state of a server's engines.

Does: define the shape. Does not: collect it.
"""

from typing import Literal

from pydantic import Field

from .base import Wire


class EngineFacts(Wire):
    """A loaded engine: its model, device and memory."""

    model: str
    device: str
    dtype: str
    parameters: int = Field(description="Number of weights.")
    vocabulary: int = Field(description="Number of tokens.")
    context_length: int = Field(description="Most tokens of a prompt and its output together.")
    blocks: int = Field(description="KV blocks.")
    block_size: int = Field(description="Tokens in a KV block.")
    kv_role: Literal["none", "prefill", "decode"] = Field(
        default="none",
        description="`prefill`: it computes prompts for other engines; `decode`: it continues from their blocks.",
    )
    pid: int
    start_seconds: dict[str, float] = Field(
        default_factory=dict, description="Seconds that each part of the start took."
    )


class EngineLives(Wire):
    """Deaths and restarts of an engine's process since the server began."""

    deaths: int
    restarts: int
    last_reason: str = Field(default="", description="Cause of the last death.")
    last_lost: int = Field(default=0, description="Requests in flight at the last death.")


class EngineQueue(Wire):
    """Requests in an engine, by their state."""

    running: int = Field(description="Requests with KV blocks.")
    waiting: int = Field(description="Requests that wait to be scheduled.")
    parked: int = Field(
        description="Requests that wait for their grammar, or for keys and values from another engine."
    )
    preemptions: int = Field(description="Preemptions since the engine began.")
    most_running: int = Field(description="Most sequences in any step.")


class EngineMemory(Wire):
    """KV blocks of an engine. Free blocks may hold prefixes for reuse."""

    blocks: int
    free: int
    used_share: float = Field(description="Share of the blocks that running requests hold.")


class EngineTokens(Wire):
    """Tokens of requests that ended, since the engine began."""

    prompt: int
    cached: int = Field(description="Prompt tokens found in the prefix cache.")
    output: int
    forced: int = Field(description="Output tokens that the grammar forced, without sampling.")
    computed: int = Field(description="Tokens computed, recomputed ones included.")
    prefix_hit_share: float | None = Field(description="`cached` over `prompt`.")
    forced_share: float | None = Field(description="`forced` over `output`.")


class GrammarCacheState(Wire):
    """The cache of compiled constraints of an engine."""

    entries: int
    bytes: int
    hits: int
    misses: int
    hit_share: float | None
    failures: int
    timeouts: int
    evictions: int
    warming: bool = Field(description="Whether the compiled loops are still being loaded.")


class ExpertLayer(Wire):
    """The load of the experts of one layer, in the order of the experts."""

    layer: int
    tokens: tuple[int, ...] = Field(description="Tokens by expert since the engine began.")
    recent: tuple[int, ...] = Field(description="Those of the last few hundred steps.")
    imbalance: float | None = Field(
        description="The largest of `recent` over their mean; null if all are 0."
    )


class EngineReport(Wire):
    """One engine now. The parts after `lives` are null until it reported for the first time."""

    state: str = Field(description="`loading`, `ready`, `down`, `unusable`, `closed` or another.")
    lives: EngineLives
    facts: EngineFacts | None = None
    queue: EngineQueue | None = None
    memory: EngineMemory | None = None
    tokens: EngineTokens | None = None
    grammars: GrammarCacheState | None = None
    steps: int | None = Field(default=None, description="Steps that computed something.")
    finished: dict[str, int] | None = Field(
        default=None, description="Requests that ended, by reason."
    )
    step_seconds: dict[str, float] | None = Field(
        default=None, description="Total time of steps, by part of the step."
    )
    experts: tuple[ExpertLayer, ...] | None = Field(
        default=None,
        description="The layers of a mixture of experts; null for other models, on a GPU, and with `--tp`.",
    )


class EngineStateReport(Wire):
    """Body of `GET /v1/engine/state`."""

    object: Literal["engine.state"] = "engine.state"
    engines: tuple[EngineReport, ...]
    requests_in_hand: int = Field(
        description="Requests in flight in the API process that answered."
    )
    requests_limit: int = Field(description="Most requests in flight in one API process.")
    quarantined: int = Field(description="Requests refused because engines died of them.")
