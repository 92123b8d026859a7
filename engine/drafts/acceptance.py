"""Acceptance rates: the measured chances that a drafted token is accepted.

Does: estimate the chance of a draft by its source and level, for all sequences together, and correct it by the past of
its sequence. Does not: draft.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

_PRIOR: Final = 16.0  # drafts; the weight of the first rates
_MEMORY: Final = 256.0  # drafts after which a count is halved
_OWN: Final = 3.0  # drafts of a sequence; the weight of the common rates
_LIKELIEST: Final = 0.98


class Evidence(NamedTuple):
    """What is known about one drafted token before it is verified: its source, and its level there."""

    source: str
    level: int


@dataclass(slots=True)
class _Rate:
    """Accepted drafts among all drafts; both counts decay."""

    first: float
    accepted: float = 0.0
    seen: float = 0.0

    @property
    def value(self) -> float:
        return (self.accepted + _PRIOR * self.first) / (self.seen + _PRIOR)

    def add(self, accepted: bool) -> None:
        self.accepted += accepted
        self.seen += 1
        self.fade()

    def fade(self) -> None:
        """Halve the counts where they are large, so that the rate follows the texts."""
        if self.seen > _MEMORY:
            self.accepted /= 2
            self.seen /= 2


@dataclass(slots=True)
class _Past:
    """The accepted drafts of one sequence, and the number that was expected."""

    accepted: float = 0.0
    expected: float = 0.0


class AcceptanceRates:
    """Acceptance rates by evidence and by sequence. `chances`: the first estimates of each source, by level."""

    def __init__(self, chances: Mapping[str, Sequence[float]]) -> None:
        self._rates = {
            Evidence(source, level): _Rate(first)
            for source, by_level in chances.items()
            for level, first in enumerate(by_level)
        }
        self._past: dict[int, dict[str, _Past]] = {}

    def chance(self, seq_id: int, evidence: Evidence) -> float:
        """The chance that a draft of the sequence is accepted if all drafts before it are."""
        past = self._past.get(seq_id, {}).get(evidence.source)
        factor = 1.0 if past is None else (past.accepted + _OWN) / (past.expected + _OWN)
        return min(_LIKELIEST, factor * self._rates[evidence].value)

    def record(self, seq_id: int, evidence: Iterable[Evidence], accepted: int) -> None:
        """Record that the first `accepted` drafts were accepted. The next one was rejected; the rest is unknown."""
        by_source = self._past.setdefault(seq_id, {})
        for at, seen in enumerate(evidence):
            if at > accepted:
                break
            past = by_source.setdefault(seen.source, _Past())
            rate = self._rates[seen]
            past.expected += rate.value
            past.accepted += at < accepted
            rate.add(at < accepted)

    def forget(self, seq_id: int) -> None:
        """Drop the past of a sequence that has ended."""
        self._past.pop(seq_id, None)
