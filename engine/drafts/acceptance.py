"""The measured chances that a drafted token stands.

Does: estimate the chance of a draft by its source and level, for all sequences together, and correct it by the past of
its sequence. Does not: draft.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

_PRIOR: Final = 16.0  # drafts that the first rates weigh as much as
_MEMORY: Final = 256.0  # drafts after which a count is halved
_OWN: Final = 3.0  # drafts of a sequence that the common rates weigh as much as
_LIKELIEST: Final = 0.98


class Evidence(NamedTuple):
    """What is known about one drafted token before it is verified: its source, and its level there."""

    source: str
    level: int


@dataclass(slots=True)
class _Rate:
    """Drafts that stood among all drafts, both decaying."""

    first: float
    stood: float = 0.0
    seen: float = 0.0

    @property
    def value(self) -> float:
        return (self.stood + _PRIOR * self.first) / (self.seen + _PRIOR)

    def add(self, stood: bool) -> None:
        self.stood += stood
        self.seen += 1
        self.fade()

    def fade(self) -> None:
        """Halve the counts where they are large, so that the rate follows the texts."""
        if self.seen > _MEMORY:
            self.stood /= 2
            self.seen /= 2


@dataclass(slots=True)
class _Past:
    """The drafts of one sequence that stood, and how many were expected to."""

    stood: float = 0.0
    expected: float = 0.0


class AcceptanceRates:
    """Chances by evidence and by sequence. `chances`: those of each source by level, before any draft was verified."""

    def __init__(self, chances: Mapping[str, Sequence[float]]) -> None:
        self._rates = {
            Evidence(source, level): _Rate(first)
            for source, by_level in chances.items()
            for level, first in enumerate(by_level)
        }
        self._past: dict[int, dict[str, _Past]] = {}

    def chance(self, seq_id: int, evidence: Evidence) -> float:
        """The chance that a draft of the sequence stands if all drafts before it do."""
        past = self._past.get(seq_id, {}).get(evidence.source)
        factor = 1.0 if past is None else (past.stood + _OWN) / (past.expected + _OWN)
        return min(_LIKELIEST, factor * self._rates[evidence].value)

    def record(self, seq_id: int, evidence: Iterable[Evidence], stood: int) -> None:
        """Record that the first `stood` drafts stood. The next one did not; those after it tell nothing."""
        by_source = self._past.setdefault(seq_id, {})
        for at, seen in enumerate(evidence):
            if at > stood:
                break
            past = by_source.setdefault(seen.source, _Past())
            rate = self._rates[seen]
            past.expected += rate.value
            past.stood += at < stood
            rate.add(at < stood)

    def forget(self, seq_id: int) -> None:
        """Drop the past of a sequence that has ended."""
        self._past.pop(seq_id, None)
