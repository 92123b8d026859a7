"""The rule, from measured rates, by which keys and values are fetched or recomputed, and kept or dropped.

Does: measure the seconds a token takes to fetch from each tier and to compute, and compare them. Does not: copy, or
count how many of the evicted blocks are needed again (`reuse`).
"""

from collections import Counter
from dataclasses import dataclass
from typing import Final, Literal

Tier = Literal["host", "disk"]
TIERS: Final[tuple[Tier, ...]] = ("host", "disk")

LEAST_TOKENS: Final = 32  # of a step, for its time to count towards the cost of a prompt token
_LEAST_SHARE: Final = 0.25  # of the tokens of the largest recent step, likewise
_FADING: Final = 0.995  # of what counts as large, at each step: prompts may have become shorter
PROBE: Final = 64  # refusals of a tier after which it is tried again, to measure it
# Of each `RETRY` times `PROBE` contents that are not worth keeping, `PROBE` are kept nevertheless.
RETRY: Final = 16
_SHARE: Final = 0.25  # the weight of a new measurement
_OUTLIER: Final = 4.0  # times the mean: a slower transfer was interrupted


@dataclass(slots=True)
class _Rate:
    """Seconds per token, as a moving mean; 0 before the first measurement."""

    seconds: float = 0.0

    def measure(self, seconds: float) -> None:
        if not self.seconds:
            self.seconds = seconds
        seconds = min(seconds, _OUTLIER * self.seconds)
        self.seconds += _SHARE * (seconds - self.seconds)

    @property
    def per_second(self) -> float:
        return 1 / self.seconds if self.seconds else 0.0


class TransferRule:
    """The measured rates of an engine, and the decisions made by them. `decided` counts tokens."""

    def __init__(self) -> None:
        self._computing = _Rate()
        self._largest = 0.0  # tokens of a step
        self._fetching = {tier: _Rate() for tier in TIERS}
        self._refusals: Counter[Tier] = Counter()
        self._useless = 0
        self.decided: Counter[str] = Counter()

    @property
    def rates(self) -> dict[str, float]:
        """Tokens per second of computing and of fetching from each tier; 0 where nothing was measured."""
        rates: dict[str, float] = {"compute": self._computing.per_second}
        for tier, rate in self._fetching.items():
            rates[tier] = rate.per_second
        return rates

    def computed(self, tokens: int, seconds: float) -> None:
        """Measure a step of this many tokens.

        Only large steps count. One that computes the rest of a prompt, most of which is in the cache, takes most of its
        time for the weights and the long context; the prompts that the rule is for would be computed in large steps.
        """
        if tokens < LEAST_TOKENS or seconds <= 0:
            return
        self._largest = max(tokens, _FADING * self._largest)
        if tokens >= _LEAST_SHARE * self._largest:
            self._computing.measure(seconds / tokens)

    def fetched(self, tier: Tier, tokens: int, seconds: float) -> None:
        """Measure a transfer of the keys and values of this many tokens."""
        if tokens and seconds > 0:
            self._fetching[tier].measure(seconds / tokens)

    def pays(self, tier: Tier, tokens: int) -> bool:
        """Whether to fetch this many tokens from `tier`; a tier that was not measured recently is tried."""
        computing, fetching = self._computing.seconds, self._fetching[tier].seconds
        fetch = not computing or not fetching or fetching < computing
        if not fetch:
            self._refusals[tier] += 1
            if self._refusals[tier] >= PROBE:
                self._refusals[tier], fetch = 0, True
        self.decided[f"fetch_{tier}" if fetch else f"recompute_{tier}"] += tokens
        return fetch

    def keeps(self, reused: float) -> bool:
        """Whether to keep contents of which this share is needed again.

        Copying a content to the host takes as long as fetching it, and steps share the device's memory with both. A
        host that is too slow to fetch from still gets some contents, so that it is measured again.
        """
        computing, fetching = self._computing.seconds, self._fetching["host"].seconds
        if computing and computing <= fetching:
            self._useless += 1
            return self._useless % (RETRY * PROBE) >= (RETRY - 1) * PROBE
        return not computing or reused * (computing - fetching) > fetching
