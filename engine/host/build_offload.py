"""Builds the tiers below the KV cache of an engine from its settings.

Does: identify the model and the layout of its blocks, open the tiers. Does not: copy, or build the exchange of blocks
with other engines (`build_exchange`).
"""

import json
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from hashlib import blake2b
from pathlib import Path
from typing import Final

from intaglio.grammar.api import parse_json

from ..build_runner import Built
from ..config import CacheConfig, EngineConfig
from ..memory.block_contents import BlockContents
from ..memory.disk_tier import MOST_QUEUED, open_tier
from ..memory.host_tier import HostTier
from ..memory.offload import Offload
from ..memory.swap import TransferRule
from ..metrics import Stopwatch
from ..pipeline import Pipeline
from ..plan import Changes, Plan
from ..run.host.host_blocks import HostBlocks
from ..run.kv import KVCache
from .build_exchange import BLOCKS_SOCKET, build_exchange
from .build_tcp_exchange import build_tcp_exchange, carried_bytes

STAGING: Final = 64 << 20  # bytes of the host tier where only a disk is given
GPU_STAGING: Final = 1 << 30  # the same for a GPU, with larger models and blocks

_SAMPLES: Final = 16  # pieces of a weights file that are hashed to identify it
_PIECE: Final = 1 << 16


def build_offload(
    config: EngineConfig, built: Built, sockets: Path | None, closing: ExitStack
) -> Offload | None:
    """The tiers that the settings ask for; None for none. `closing` ends them, and the server of blocks before them.

    Raises:
        ConfigError: the folder cannot be used, or blocks cannot be exchanged.
    """
    cache = config.cache
    if not cache.has_tiers:
        return None
    kv, disk = built.runner.cache, None
    facts = layout_facts(config, built)
    version = layout_version(facts)
    if cache.kv_disk != "off":
        disk = open_tier(Path(cache.kv_disk).expanduser(), version, cache.kv_disk_bytes)
    host = HostTier(_host_bytes(cache, built.device.type))
    carried = carried_bytes(config)
    copies = _copies(kv, host.most_bytes + carried, on_gpu=built.device.type != "cpu")
    if config.peers.kv_role == "none":
        exchange, serving = build_exchange(cache, kv, copies, bytes.fromhex(version), sockets)
    else:
        exchange, serving = build_tcp_exchange(config, kv, copies, facts), ExitStack()
    rule = TransferRule()
    if host.most_bytes:
        _time_transfers(copies, kv, rule)
    offload = Offload(copies, kv.block_size, host, disk, rule, *exchange)
    closing.callback(offload.close)
    closing.callback(serving.close)
    return offload


def _host_bytes(cache: CacheConfig, device: str) -> int:
    """The bytes of the host tier.

    An engine on a GPU that only exchanges blocks has none: offloading would take up the link for nothing.
    """
    if device == "cpu":
        return cache.kv_host_bytes or STAGING
    return cache.kv_host_bytes or (GPU_STAGING if cache.kv_disk != "off" else 0)


def _copies(kv: KVCache, most_bytes: int, *, on_gpu: bool) -> BlockContents:
    """The copies between the cache and contents of `most_bytes` in the host tier, and some more in transit."""
    if not on_gpu:
        return HostBlocks(kv)
    # Not loaded where there is no GPU.
    from ..run.cuda.device_blocks import GATHERED_BYTES, DeviceBlocks

    in_transit = MOST_QUEUED + 2 * max(GATHERED_BYTES, kv.block_bytes)
    return DeviceBlocks(kv, -(-(most_bytes + in_transit) // kv.block_bytes))


def _time_transfers(copies: BlockContents, kv: KVCache, rule: TransferRule) -> None:
    """Measure a transfer of blocks that nothing uses yet: the rule is needed before the first content comes back."""
    blocks = range(min(copies.most_read, kv.num_blocks))
    for _ in range(2):  # the first one loads kernels
        contents = copies.read(blocks)
        transfer = copies.write(blocks[: len(contents)], contents)
        while not transfer.advance():
            pass
    rule.fetched("host", transfer.blocks * kv.block_size, transfer.seconds)


def blocks_address(config: EngineConfig, sockets: Path | None) -> str:
    """Where other engines get the blocks of prompts that this one computes for them; "" if it computes none."""
    if sockets is None or config.cache.kv_role != "prefill" or config.peers.kv_listen:
        return ""
    return str(sockets / BLOCKS_SOCKET)


def layout_facts(config: EngineConfig, built: Built) -> dict[str, str]:
    """Everything that determines the content of a block, by name: weights, their use, and the layout of blocks."""
    model, kv = config.model, built.runner.cache
    block_size, heads, width = kv.layers[0].shape[2:]
    return {
        "weights": _identity(Path(model.model)) if model.weights == "checkpoint" else "random",
        "quantization": model.quantization,
        "deterministic": str(config.model.deterministic),
        "block_size": str(block_size),
        "layers": str(len(kv.layers)),
        "kv planes": str(kv.tensor.shape[1]),
        "kv heads": str(heads),
        "head width": str(width),
        "dtype": str(kv.layers[0].dtype).removeprefix("torch."),
        "tp": str(config.parallel.tp),
    }


def layout_version(facts: Mapping[str, str]) -> str:
    """A hash of the facts of an engine."""
    return blake2b(json.dumps(facts, sort_keys=True).encode(), digest_size=16).hexdigest()


def _identity(folder: Path) -> str:
    """A hash of the configuration and of pieces of all weights: reading all of a large model takes too long."""
    digest = blake2b(digest_size=16)
    digest.update(json.dumps(parse_json((folder / "config.json").read_text("utf-8"))).encode())
    for path in sorted(folder.glob("*.safetensors")):
        size = path.stat().st_size
        digest.update(f"{path.name} {size};".encode())
        with path.open("rb") as file:
            for number in range(_SAMPLES):
                file.seek(number * max(0, size - _PIECE) // (_SAMPLES - 1))
                digest.update(file.read(_PIECE))
    return digest.hexdigest()


class TimedSteps:
    """A pipeline that reports the duration of its steps with prompts to a `TransferRule`.

    A call of `run` takes as long as the plan of which it reads the tokens: that of the previous call, where the
    pipeline starts plans `ahead`. A plan without tokens to read, such as a part of a prompt, may be computed later: it
    counts together with the next plan that has some.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        rule: TransferRule,
        clock: Callable[[], float] = time.perf_counter,
        *,
        ahead: bool = False,
    ) -> None:
        self._pipeline = pipeline
        self._rule = rule
        self._clock = clock
        self._ahead = ahead
        self._before = Plan(0)
        self._tokens = self._prompts = 0
        self._seconds = 0.0

    @property
    def has_work(self) -> bool:
        """See `Pipeline`."""
        return self._pipeline.has_work

    def run(self, plan: Plan, lap: Stopwatch) -> Changes:
        """See `Pipeline`."""
        began = self._clock()
        changes = self._pipeline.run(plan, lap)
        self._seconds += self._clock() - began
        self._count(self._before if self._ahead else plan)
        self._before = plan
        return changes

    def _count(self, read: Plan) -> None:
        """Count a plan; report it and those before it if its tokens were waited for."""
        self._tokens += read.token_count
        plain = [len(work.undrafted.tokens) for work in read.works]
        self._prompts += sum([count for count in plain if count > 1])
        if any(work.logits for work in read.works):
            if 2 * self._prompts > self._tokens:  # other steps take as long for a few tokens
                self._rule.computed(self._tokens, self._seconds)
            self._tokens, self._prompts, self._seconds = 0, 0, 0.0
