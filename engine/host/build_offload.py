"""Builds the tiers below the KV cache of an engine from its settings.

Does: identify the model and the layout of its blocks, and open the tiers. Does not: copy.
"""

import json
import time
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Final

from intaglio.grammar.api import parse_json

from ..build_runner import Built
from ..config import EngineConfig
from ..errors import ConfigError
from ..memory.disk_tier import open_tier
from ..memory.host_tier import HostTier
from ..memory.offload import Offload
from ..memory.swap import TransferRule
from ..metrics import Stopwatch
from ..pipeline import Pipeline
from ..plan import Changes, Plan

STAGING: Final = 64 << 20  # bytes of the host tier where only a disk is given

_SAMPLES: Final = 16  # pieces of a weights file that are hashed to identify it
_PIECE: Final = 1 << 16


def build_offload(config: EngineConfig, built: Built) -> Offload | None:
    """The tiers that the settings ask for; None for none.

    Raises:
        ConfigError: they do not fit the device, or the folder cannot be used.
    """
    cache = config.cache
    if not cache.kv_host_bytes and cache.kv_disk == "off":
        return None
    if built.device.type != "cpu":
        raise ConfigError(
            "blocks are kept on the host and on disk by engines on a CPU only",
            where="kv_host_bytes" if cache.kv_host_bytes else "kv_disk",
            hint="leave out kv_host_bytes and kv_disk, or set device to cpu",
        )
    kv = built.runner.cache
    disk = None
    if cache.kv_disk != "off":
        disk = open_tier(
            Path(cache.kv_disk).expanduser(), layout_version(config, built), cache.kv_disk_bytes
        )
    host = HostTier(cache.kv_host_bytes or STAGING)
    return Offload(kv, kv.block_size, host, disk, TransferRule())


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
    """A pipeline that reports the duration of its steps to a `TransferRule`."""

    def __init__(
        self,
        pipeline: Pipeline,
        rule: TransferRule,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._pipeline = pipeline
        self._rule = rule
        self._clock = clock

    @property
    def has_work(self) -> bool:
        """See `Pipeline`."""
        return self._pipeline.has_work

    def run(self, plan: Plan, lap: Stopwatch) -> Changes:
        """See `Pipeline`."""
        began = self._clock()
        changes = self._pipeline.run(plan, lap)
        self._rule.computed(plan.token_count, self._clock() - began)
        return changes
