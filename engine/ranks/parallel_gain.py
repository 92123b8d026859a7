"""Tests whether a model is faster on several ranks than on one, by the least time of a decode step.

Does: compare the time to read all weights with the time to read a part and to exchange partial sums; refuse what would
be slower. Does not: measure. A step of one sequence is the fairest case for several ranks: it has the smallest
exchanges, and reads the same weights as any other.
"""

from dataclasses import dataclass
from typing import Final

from ..errors import ConfigError

EXCHANGES_A_LAYER: Final = 2
"""Partial sums of attention and of the MLP."""

OTHER_EXCHANGES: Final = 3
"""Embeddings, and two for sampling."""


@dataclass(frozen=True, slots=True)
class Link:
    """Ranks on one kind of device: bytes a second of the memory of each, seconds of a small exchange, and bytes a
    second of a large one.
    """

    name: str
    bandwidth: float
    exchange_s: float
    exchange_rate: float

    def exchange(self, size: float) -> float:
        """Seconds of a sum of `size` bytes over the ranks."""
        return self.exchange_s + size / self.exchange_rate


GPUS: Final = Link("GPUs", 4.0e12, 3.1e-6, 3.2e11)
"""Between two H200 of one host, `kernels.exchange` took 3.1, 5.2, 17.3 and 209 us to sum 8 KB, 512 KB, 4 MB and 64 MB
and to add the sum to the residual. NCCL's sums, which serve GPUs that share no memory, took 7.6 to 292 us with that."""

CPUS: Final = Link("processes on CPUs", 20e9, 100e-6, 2e9)
"""Processes on one memory bus; gloo over the loopback interface takes some 100 us for a small exchange."""


@dataclass(frozen=True, slots=True)
class StepTimes:
    """The least seconds of a decode step of one sequence, on one rank and on several."""

    one: float
    several: float


def step_times(weight_bytes: float, layers: int, tp: int, link: Link) -> StepTimes:
    """The least times of a model that reads `weight_bytes` in a step."""
    one = weight_bytes / link.bandwidth
    exchanges = EXCHANGES_A_LAYER * layers + OTHER_EXCHANGES
    return StepTimes(one, one / tp + exchanges * link.exchange_s)


def refuse_slower(weight_bytes: float, layers: int, tp: int, link: Link) -> None:
    """Raise `ConfigError`, with the figures, if `tp` ranks would be slower than one."""
    times = step_times(weight_bytes, layers, tp, link)
    if times.several < times.one:
        return
    exchanges = EXCHANGES_A_LAYER * layers + OTHER_EXCHANGES
    raise ConfigError(
        f"the model is too small for tp {tp}: a step of one sequence takes at least {1e3 * times.one:.3g} ms on one "
        f"rank ({weight_bytes / 1e9:.3g} GB of weights at {link.bandwidth / 1e9:,.0f} GB/s), and "
        f"{1e3 * times.several:.3g} ms on {tp} {link.name} ({exchanges} exchanges of {1e6 * link.exchange_s:.3g} us)",
        where="tp",
        hint="set tp to 1 and start several engines instead, or set tp_any_size to true to divide it anyway",
    )
