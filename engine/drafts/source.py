"""The interface of a source of drafts.

Does: define a guess and the protocol. Does not: look at grammars or costs, or decide how many tokens are drafted.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Guess(NamedTuple):
    """Likely next tokens of a sequence.

    `matched` is the number of last tokens of the sequence that occur before the guess as well; `unanimous` tells that
    all places where they occur continue by the same token.
    """

    tokens: tuple[int, ...]
    matched: int
    unanimous: bool


class DraftSource(Protocol):
    """Guesses how sequences continue."""

    name: str

    def guess(self, seq_id: int, tokens: Sequence[int], most: int) -> Guess | None:
        """At most `most` tokens that are likely to follow `tokens`, all known tokens of a sequence; None for none."""
        ...

    def forget(self, seq_id: int) -> None:
        """Drop what is kept about a sequence that has ended. No effect for an unknown one."""
        ...
