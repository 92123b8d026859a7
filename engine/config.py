"""The engine's settings: one frozen section for each owner, built once.

Does: read keywords, then the environment, then defaults, and refuse unknown names. This is the only module of the
engine that reads the environment. Does not: hold facts found at the start, such as the number of blocks that fit the
device.
"""

import math
import os
import types
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from .adapter_settings import AdapterSettings
from .draft_config import DraftConfig
from .errors import ConfigError
from .parallel.parallel_config import ParallelConfig
from .peer_settings import PeerSettings
from .types import KVRole

PREFIX = "INTAGLIO_ENGINE_"

Dtype = Literal["auto", "float32", "bfloat16", "float16"]
Device = Literal["auto", "cpu", "cuda"]
Weights = Literal["checkpoint", "random"]
Overlap = Literal["auto", "on", "off"]
Attention = Literal["auto", "triton", "flashinfer"]
Quantization = Literal["none", "int8"]

YES_NO = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


def wait_passively() -> None:
    """Make torch's threads sleep while they wait for each other, unless the environment says otherwise.

    By default they spin, which makes a step ten times as long on cores shared with other processes (measured: 70 s
    instead of 7 s for one extraction on two busy cores). Works only before torch is loaded, which reads it once.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def visible_gpus() -> tuple[str, ...]:
    """The names of the GPUs that this process may use, as `CUDA_VISIBLE_DEVICES` names them; found without CUDA."""
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    if given is not None:
        return tuple(name.strip() for name in given.split(",") if name.strip() not in ("", "-1"))
    numbers = [path.name.removeprefix("nvidia") for path in Path("/dev").glob("nvidia[0-9]*")]
    return tuple(sorted(numbers, key=int))


def processor_cores() -> int:
    """The number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0))


def environment_with(changes: Mapping[str, str]) -> dict[str, str]:
    """The environment of this process with some variables changed, for a process that it starts."""
    return {**os.environ, **changes}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """The model, its device and its precision.

    `model` is a checkpoint's folder. `device` "auto" is a GPU where there is one. `max_context` is in tokens, prompt
    and output together; None is the model's own limit. `dtype` "auto" is bfloat16; on a CPU float32, unless the
    checkpoint is quantised.
    `threads` is the number of torch's threads on a CPU; None leaves it to torch. `weights` "random" draws the weights,
    for measurements: the folder then needs none. `attention` "auto" is torch on a CPU and our kernels ("triton") on a
    GPU; "flashinfer" computes the attention of prompts by FlashInfer, which needs the extra of this name.
    `quantization` "int8" quantises the layers' matrices while they are loaded, on a GPU in bfloat16 only: a quarter of
    the memory of float32. With `deterministic` a request's tokens and log-probabilities have the same bits in every
    batch, with any chunks of its prompt, cached or not, preempted or not, with drafts or without, on one machine.
    """

    model: str
    device: Device = "auto"
    dtype: Dtype = "auto"
    weights: Weights = "checkpoint"
    max_context: int | None = None
    threads: int | None = None
    attention: Attention = "auto"
    quantization: Quantization = "none"
    deterministic: bool = False

    def __post_init__(self) -> None:
        if self.max_context is not None:
            _at_least(self, "max_context", 2)
        if self.threads is not None:
            _at_least(self, "threads", 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheConfig:
    """The memory for keys and values: by the first given of `num_blocks`, `cache_bytes` and `memory_fraction`.

    `block_size` is in tokens. `memory_fraction` is a share of a GPU's memory, the model's weights included. On a CPU
    the cache has 384 MiB, more (up to 4 GiB) where eight sequences of `max_context` tokens need it, and at most this
    share of the free memory. `prefix_caching` keeps the keys and values of prefixes that several requests share.
    `kv_dtype` "fp8" keeps them in one byte each (E4M3, no scales, clamped to 448): twice as many tokens on a GPU, with
    rounded values.

    Blocks that leave the cache of prefixes go to `kv_host_bytes` of memory, and from there to files of at most
    `kv_disk_bytes` in the folder `kv_disk`, "off" for none, which a restarted engine finds again. They come back where
    that is faster than to compute them. With a disk and without `kv_host_bytes` these are 64 MiB, on a GPU 1 GiB; there
    they are pinned when the engine starts.

    With the `kv_role` "prefill" an engine keeps the blocks of prompts for others, in `kv_host_bytes` (without them
    256 MiB), or on a GPU in memory of the device; with "decode" it takes the blocks of its prompts from these.
    `serve --prefill-engines` sets both, and so do `kv_listen` and `kv_peers`.

    `image_bytes` is the most memory, on the device, of encoded images that may be asked for again.

    With `kv_windows` "free", layers with a sliding window free the blocks that they will not read again, unless blocks
    leave the cache for another place or the model is divided into stages; with "keep" they keep them.
    """

    block_size: int = 16
    kv_dtype: Literal["auto", "fp8"] = "auto"
    num_blocks: int | None = None
    cache_bytes: int | None = None
    memory_fraction: float = 0.9
    prefix_caching: bool = True
    kv_host_bytes: int = 0
    kv_disk: str = "off"
    kv_disk_bytes: int = 4 << 30
    kv_role: KVRole = "none"
    image_bytes: int = 256 << 20
    kv_windows: Literal["free", "keep"] = "free"

    def __post_init__(self) -> None:
        _at_least(self, "block_size", 1)
        _at_least(self, "kv_host_bytes", 0)
        _at_least(self, "kv_disk_bytes", 1 << 20)
        _at_least(self, "image_bytes", 0)
        if not self.kv_disk:
            raise ConfigError("kv_disk is empty", where="kv_disk", hint="give a folder, or off")
        if self.has_tiers and not self.prefix_caching:
            raise ConfigError(
                "blocks are kept for a prefix cache only",
                where="prefix_caching",
                hint=f"leave prefix_caching on, or leave out {self.first_tier}",
            )
        if self.num_blocks is not None:
            _at_least(self, "num_blocks", 2)
        if self.cache_bytes is not None:
            _at_least(self, "cache_bytes", 1)
        if not 0 < self.memory_fraction <= 1:
            raise ConfigError(
                f"memory_fraction must be above 0 and at most 1, not {self.memory_fraction}",
                where="memory_fraction",
            )

    @property
    def has_tiers(self) -> bool:
        """Whether blocks leave the cache for another place, or come from one."""
        return bool(self.kv_host_bytes) or self.kv_disk != "off" or self.kv_role != "none"

    @property
    def first_tier(self) -> str:
        """The first setting that asks for that, for errors."""
        if self.kv_host_bytes:
            return "kv_host_bytes"
        return "kv_disk" if self.kv_disk != "off" else "kv_role"


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerConfig:
    """The size of steps and queues, and the order of service.

    `max_batched_tokens` is the most tokens computed in a step, `max_running` the most sequences with blocks,
    `max_waiting` the most without. A waiting request is served as if it had to start within `patience_s` seconds, a
    bulk one within `bulk_patience_s`, or by its deadline if that is earlier; until then interactive requests go
    before bulk ones. Waiting `ageing_s` seconds outweighs one step of priority; 0 ignores priorities. A sequence
    that was preempted `max_preemptions` times is next admitted with room for its longest output, and never
    preempted again. With `overlap` the device computes a step while the host processes the previous one; "auto" is
    on where the device is not the host.
    """

    max_batched_tokens: int = 2048
    max_running: int = 256
    max_waiting: int = 1024
    ageing_s: float = 10.0
    patience_s: float = 30.0
    bulk_patience_s: float = 600.0
    max_preemptions: int = 3
    overlap: Overlap = "auto"

    def __post_init__(self) -> None:
        for name in ("max_batched_tokens", "max_running", "max_waiting"):
            _at_least(self, name, 1)
        for name in ("ageing_s", "patience_s", "bulk_patience_s", "max_preemptions"):
            _at_least(self, name, 0)
        for name in ("ageing_s", "patience_s", "bulk_patience_s"):
            if not math.isfinite(getattr(self, name)):
                raise ConfigError(f"{name} must be finite", where=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class GrammarConfig:
    """The examination, compilation and caching of constraints. Sizes are in bytes.

    `grammar_bytes` is the most memory of compiled grammars with their masks, and of the masks and automata that they
    share; the least recently used ones are dropped first; grammars in use by running requests may exceed it.

    Constraints are examined before the engine gets them: compiled, with trial outputs, `grammar_workers` at a time.
    With `grammar_isolation` "server" a server examines in separate processes, each examination for at most
    `grammar_deadline_s`, `grammar_cpu_s` of processor time, and `grammar_memory` above that of a fresh process; `LLM`
    examines in its own process, without these limits. With "always" `LLM` starts processes as well. With "never" there
    are no trials, and every source of constraints is trusted. Verdicts, with the sources of the constraints, are kept
    in the file `grammar_store`, up to `grammar_store_bytes`; "auto" is `intaglio/grammars.sqlite` in the user's cache
    folder, "off" keeps nothing. The `grammar_warm` most used constraints of it are compiled at the start, in the
    background. With `grammar_device` "auto" a model on a GPU makes masks there, for grammars that can be exported as
    tables; with "off" all masks are made on the host.
    """

    grammar_bytes: int = 512 << 20
    grammar_isolation: Literal["server", "always", "never"] = "server"
    grammar_workers: int = 2
    grammar_deadline_s: float = 7.0
    grammar_cpu_s: float = 6.0
    grammar_memory: int = 1 << 30
    grammar_store: str = "auto"
    grammar_store_bytes: int = 256 << 20
    grammar_warm: int = 64
    grammar_device: Literal["auto", "off"] = "auto"

    def __post_init__(self) -> None:
        for name in ("grammar_bytes", "grammar_workers", "grammar_store_bytes"):
            _at_least(self, name, 1)
        _at_least(self, "grammar_memory", 64 << 20)
        _at_least(self, "grammar_warm", 0)
        for name in ("grammar_deadline_s", "grammar_cpu_s"):
            if not 0.05 <= getattr(self, name) <= 3600:
                raise ConfigError(f"{name} must be from 0.05 to 3600 seconds", where=name)

    @property
    def store_path(self) -> Path | None:
        """The file that keeps verdicts; None for none."""
        if self.grammar_store == "off":
            return None
        if self.grammar_store != "auto":
            return Path(self.grammar_store)
        folder = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        return Path(folder).expanduser() / "intaglio" / "grammars.sqlite"


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineConfig:
    """All sections. A part of the engine receives its own section, never all of them."""

    model: ModelConfig
    cache: CacheConfig
    scheduler: SchedulerConfig
    grammar: GrammarConfig = field(default_factory=GrammarConfig)
    drafting: DraftConfig = field(default_factory=DraftConfig)
    parallel: ParallelConfig = field(default_factory=ParallelConfig)
    adapters: AdapterSettings = field(default_factory=AdapterSettings)
    peers: PeerSettings = field(default_factory=PeerSettings)

    def __post_init__(self) -> None:
        deterministic, ranks = self.model.deterministic, self.parallel.ranks
        self.adapters.refuse_with(deterministic=deterministic, ranks=ranks)
        self.parallel.refuse_with(deterministic=deterministic)

    @property
    def has_block_groups(self) -> bool:
        """Whether layers with and without a sliding window have block tables of their own."""
        cache = self.cache
        return cache.kv_windows == "free" and not cache.has_tiers and self.parallel.pp == 1

    @classmethod
    def load(
        cls,
        settings: Mapping[str, object] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> "EngineConfig":
        """The settings: each from `settings`, else from the variable `INTAGLIO_ENGINE_<FIELD>`, else its default.

        Field names are unique over all sections. `environ` None is the environment of the process.

        Raises:
            ConfigError: a name is unknown, a value has the wrong type or is out of range, or `model` is missing.
        """
        given = dict(settings or {})
        variables = os.environ if environ is None else environ
        texts = {
            name.removeprefix(PREFIX).lower(): text
            for name, text in variables.items()
            if name.startswith(PREFIX)
        }
        known = {name for section in SECTIONS for name in section.__dataclass_fields__}
        for name in given.keys() - known:
            raise ConfigError(f"there is no setting {name!r}", where=name, hint=_names(known))
        for name in texts.keys() - known:
            variable = PREFIX + name.upper()
            raise ConfigError(f"there is no setting {variable}", where=variable, hint=_names(known))
        if "model" not in given and "model" not in texts:
            raise ConfigError(
                "no model is given", where="model", hint=f"pass model=… or set {PREFIX}MODEL"
            )
        peers = _section(PeerSettings, given, texts)
        cache = _section(CacheConfig, given, texts)
        if peers.kv_role != "none":
            cache = replace(cache, kv_role=peers.kv_role)
        return cls(
            model=_section(ModelConfig, given, texts),
            cache=cache,
            scheduler=_section(SchedulerConfig, given, texts),
            grammar=_section(GrammarConfig, given, texts),
            drafting=_section(DraftConfig, given, texts),
            parallel=_section(ParallelConfig, given, texts),
            adapters=_section(AdapterSettings, given, texts),
            peers=peers,
        )


SECTIONS = (
    ModelConfig,
    CacheConfig,
    SchedulerConfig,
    GrammarConfig,
    DraftConfig,
    ParallelConfig,
    AdapterSettings,
    PeerSettings,
)


Section = TypeVar(
    "Section",
    ModelConfig,
    CacheConfig,
    SchedulerConfig,
    GrammarConfig,
    DraftConfig,
    ParallelConfig,
    AdapterSettings,
    PeerSettings,
)


def _section(
    section: type[Section], given: Mapping[str, object], texts: Mapping[str, str]
) -> Section:
    """One section of the settings, with each value of the type that its field declares."""
    hints = get_type_hints(section)
    values: dict[str, object] = {}
    for name in (member.name for member in fields(section)):
        if name in given:
            values[name] = _typed(name, given[name], hints[name])
        elif name in texts:
            values[name] = _parsed(PREFIX + name.upper(), texts[name], hints[name])
    return section(**values)  # type: ignore[arg-type]  # checked above


def _choices(hint: object) -> tuple[object, ...]:
    """The alternatives of a declared type: the members of a union, or the type alone."""
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _typed(name: str, value: object, hint: object) -> object:
    for choice in _choices(hint):
        if get_origin(choice) is Literal:
            if value in get_args(choice):
                return value
        elif choice is float and type(value) is int:
            return float(value)
        elif type(value) is choice:
            return value
    raise ConfigError(f"{name} cannot be {value!r}", where=name, hint=f"expected {hint}")


def _parsed(variable: str, text: str, hint: object) -> object:
    for choice in _choices(hint):
        if get_origin(choice) is Literal and text in get_args(choice):
            return text
        if choice is str:
            return text
        if choice is bool and text.lower() in YES_NO:
            return YES_NO[text.lower()]
        if choice in (int, float):
            try:
                return int(text) if choice is int else float(text)
            except ValueError:
                continue
    raise ConfigError(f"{variable} cannot be {text!r}", where=variable, hint=f"expected {hint}")


def _at_least(section: object, name: str, least: int) -> None:
    value = getattr(section, name)
    if not value >= least:
        raise ConfigError(f"{name} must be at least {least}, not {value}", where=name)


def _names(known: set[str]) -> str:
    return "the settings are " + ", ".join(sorted(known))
