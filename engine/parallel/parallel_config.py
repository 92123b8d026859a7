"""The settings of a model that several processes compute together.

Does: define them and check their ranges. Does not: compare them with a model (`ranks.start_ranks`).
"""

from dataclasses import dataclass

from ..errors import ConfigError

MOST_RANKS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelConfig:
    """Tensor parallelism: `tp` processes, each on its own GPU or on a share of the processor cores, hold a part of
    every matrix and compute every step together.

    A model that would not be faster in `tp` parts is refused unless `tp_any_size`. A process that waits longer than
    `tp_timeout_s` for the others in one exchange counts as lost, and the engine ends.
    """

    tp: int = 1
    tp_any_size: bool = False
    tp_timeout_s: float = 120.0

    def __post_init__(self) -> None:
        if not 1 <= self.tp <= MOST_RANKS:
            raise ConfigError(f"tp must be from 1 to {MOST_RANKS}, not {self.tp}", where="tp")
        if not 1 <= self.tp_timeout_s <= 3600:
            raise ConfigError(
                f"tp_timeout_s must be from 1 to 3600 seconds, not {self.tp_timeout_s}",
                where="tp_timeout_s",
            )
