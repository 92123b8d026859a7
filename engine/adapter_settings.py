"""The settings of low-rank adapters.

Does: check the ranges, and refuse combinations that adapters do not work with. Does not: read adapters.
"""

from dataclasses import dataclass

from .errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterSettings:
    """The memory for low-rank adapters (LoRA) of the model.

    Requests with up to `max_adapters` different adapters run in one step; 0 accepts no adapters. An adapter's rank is
    at most `adapter_rank`, which sets the memory of each of these places. Adapters that were used stay in host memory,
    up to `adapter_host_bytes`, the least recently used ones leave first; those of open requests may exceed it.
    """

    max_adapters: int = 0
    adapter_rank: int = 16
    adapter_host_bytes: int = 4 << 30

    def __post_init__(self) -> None:
        for name, least, most in (
            ("max_adapters", 0, 1024),
            ("adapter_rank", 1, 1024),
            ("adapter_host_bytes", 0, 1 << 50),
        ):
            value = getattr(self, name)
            if not least <= value <= most:
                raise ConfigError(f"{name} must be from {least} to {most}, not {value}", where=name)

    def refuse_with(self, *, deterministic: bool, ranks: int) -> None:
        """Raise `ConfigError` if there are adapters together with a setting that they do not work with."""
        if not self.max_adapters:
            return
        if deterministic:
            raise ConfigError(
                "a deterministic engine has no adapters: their products sum in the order of a step's groups",
                where="max_adapters",
                hint="leave deterministic at false, or merge the adapter into the model",
            )
        if ranks > 1:
            raise ConfigError(
                "adapters run on one device: their matrices are not divided among ranks",
                where="max_adapters",
                hint="set tp and pp to 1, or merge the adapter into the model",
            )
