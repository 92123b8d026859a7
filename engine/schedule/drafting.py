"""The scheduler's interface to drafts: tokens to compute after the known ones of a sequence, before they are sampled.

Does: state the protocol, and count drafts. Does not: make drafts (`engine/drafts`) or verify them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from ..sequence import Sequence as EngineSequence


class DraftCounts(Struct, frozen=True):
    """Drafts since the start of the engine.

    `drafted` and `accepted` are by source; `drafted_at` and `accepted_at` by position, from the first draft of a
    sequence in a step on.
    """

    drafted: Mapping[str, int] = {}
    accepted: Mapping[str, int] = {}
    drafted_at: tuple[int, ...] = ()
    accepted_at: tuple[int, ...] = ()


NOT_DRAFTED = DraftCounts()


class Drafter(Protocol):
    """Proposes the drafts of a step."""

    @property
    def counts(self) -> DraftCounts:
        """A snapshot of the counts."""
        ...

    def propose(
        self, sequences: Sequence[EngineSequence], room_left: Callable[[], int], /
    ) -> Mapping[int, tuple[int, ...]]:
        """Drafts by sequence, at most `room_left()` in total, for a step that computes all pending tokens of them."""
        ...

    def awaits_tokens(self, sequences: Sequence[EngineSequence], /) -> bool:
        """Whether the next step should be planned after the tokens in flight of these sequences are read.

        True where drafts are likely to gain more than the device loses while it waits for that plan.
        """
        ...


class NoDrafter:
    """Proposes no drafts."""

    counts = NOT_DRAFTED

    def propose(
        self, _sequences: Sequence[EngineSequence], _room_left: Callable[[], int], /
    ) -> Mapping[int, tuple[int, ...]]:
        """See `Drafter`."""
        return {}

    def awaits_tokens(self, _sequences: Sequence[EngineSequence], /) -> bool:
        """See `Drafter`."""
        return False
