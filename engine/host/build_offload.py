"""Builds the tiers below the KV cache of an engine from its settings, and its exchange of blocks with other engines.

Does: identify the model and the layout of its blocks, open the tiers, listen. Does not: copy.
"""

import json
import time
from collections.abc import Callable
from contextlib import ExitStack
from hashlib import blake2b
from pathlib import Path
from typing import Final

from intaglio.grammar.api import parse_json

from ..build_runner import Built
from ..config import EngineConfig
from ..errors import ConfigError
from ..memory.block_contents import BlockContents
from ..memory.disk_tier import MOST_QUEUED, open_tier
from ..memory.exported_blocks import BlockServer, ExportedBlocks
from ..memory.host_tier import HostTier
from ..memory.offload import Offload
from ..memory.peer_tier import PeerTier
from ..memory.swap import TransferRule
from ..metrics import Stopwatch
from ..pipeline import Pipeline
from ..plan import Changes, Plan
from ..run.host.host_blocks import HostBlocks
from ..run.kv import KVCache

STAGING: Final = 64 << 20  # bytes of the host tier where only a disk is given
GPU_STAGING: Final = 1 << 30  # the same for a GPU, with larger models and blocks
EXPORTED: Final = 256 << 20  # bytes kept for other engines, where `kv_host_bytes` does not say

BLOCKS_SOCKET: Final = "blocks"  # in the folder of the sockets of an engine

_SAMPLES: Final = 16  # pieces of a weights file that are hashed to identify it
_PIECE: Final = 1 << 16


def build_offload(
    config: EngineConfig, built: Built, sockets: Path | None, closing: ExitStack
) -> Offload | None:
    """The tiers that the settings ask for; None for none. `closing` ends them, and the server of blocks before them.

    Raises:
        ConfigError: they do not fit the device, the folder cannot be used, or there is none for sockets.
    """
    cache = config.cache
    if not cache.has_tiers:
        return None
    on_gpu = built.device.type != "cpu"
    if on_gpu and cache.kv_role != "none":
        raise ConfigError(
            "engines on a CPU only exchange blocks",
            where="kv_role",
            hint="leave out prefill_engines, or set device to cpu",
        )
    kv, disk = built.runner.cache, None
    version = layout_version(config, built)
    if cache.kv_disk != "off":
        disk = open_tier(Path(cache.kv_disk).expanduser(), version, cache.kv_disk_bytes)
    exported = peers = None
    if cache.kv_role == "prefill":
        exported = ExportedBlocks(cache.kv_host_bytes or EXPORTED)
    elif cache.kv_role == "decode":
        peers = PeerTier(bytes.fromhex(version), kv.block_bytes)
    host = HostTier(cache.kv_host_bytes or (GPU_STAGING if on_gpu else STAGING))
    copies = _copies(kv, host.most_bytes, on_gpu=on_gpu)
    offload = Offload(copies, kv.block_size, host, disk, TransferRule(), exported, peers)
    closing.callback(offload.close)
    if exported is not None:
        if sockets is None:
            raise ConfigError("blocks are sent by the engines of a service only", where="kv_role")
        server = BlockServer(sockets / BLOCKS_SOCKET, bytes.fromhex(version), exported)
        closing.callback(server.close)
    return offload


def _copies(kv: KVCache, most_bytes: int, *, on_gpu: bool) -> BlockContents:
    """The copies between the cache and contents of `most_bytes` in the host tier, and some more on their way."""
    if not on_gpu:
        return HostBlocks(kv)
    # Not loaded where there is no GPU.
    from ..run.cuda.device_blocks import GATHERED_BYTES, DeviceBlocks

    on_their_way = MOST_QUEUED + 2 * max(GATHERED_BYTES, kv.block_bytes)
    return DeviceBlocks(kv, -(-(most_bytes + on_their_way) // kv.block_bytes))


def blocks_address(config: EngineConfig, sockets: Path | None) -> str:
    """Where other engines get the blocks of prompts that this one computes for them; "" if it computes none."""
    return (
        "" if sockets is None or config.cache.kv_role != "prefill" else str(sockets / BLOCKS_SOCKET)
    )


def layout_version(config: EngineConfig, built: Built) -> str:
    """A hash of everything that determines the content of a block: weights, their use, and the layout of blocks."""
    model, kv = config.model, built.runner.cache
    facts = {
        "weights": _identity(Path(model.model)) if model.weights == "checkpoint" else "random",
        "quantization": model.quantization,
        "deterministic": config.model.deterministic,
        "layout": [list(kv.layers[0].shape[2:]), len(kv.layers), str(kv.layers[0].dtype)],
    }
    text = json.dumps(facts, sort_keys=True)
    return blake2b(text.encode(), digest_size=16).hexdigest()


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

    A call of `run` takes as long as the plan of which it reads the tokens: that of the call before, where the pipeline
    starts plans `ahead`. A plan without tokens to read, as one of a part of a prompt, may be computed later: it counts
    together with the next one that has some.
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
        self._prompts += sum([len(work.tokens) for work in read.works if len(work.tokens) > 1])
        if any(work.logits for work in read.works):
            if 2 * self._prompts > self._tokens:  # other steps take as long for a few tokens
                self._rule.computed(self._tokens, self._seconds)
            self._tokens, self._prompts, self._seconds = 0, 0, 0.0
