"""The interface of a source of drafts.

Does: define a guess and the protocol. Does not: look at grammars or costs, or decide how many tokens are drafted.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from intaglio.grammar.api import MaskRow

from ..sequence import Sequence as EngineSequence
from ..types import Finish


class Guess(NamedTuple):
    """Likely next tokens of a sequence.

    `levels` has one entry for each token: the strength of its evidence, as an index into the source's `chances`.
    """

    tokens: tuple[int, ...]
    levels: tuple[int, ...]


class DraftSource(Protocol):
    """Guesses how sequences continue. It reads sequences and never changes one."""

    name: str

    @property
    def chances(self) -> Sequence[float]:
        """By level, the first estimate of the chance that a draft is accepted if all drafts before it are."""
        ...

    def guess(self, seq: EngineSequence, most: int, /) -> Guess | None:
        """At most `most` tokens that are likely to follow the known tokens of `seq`; None for none."""
        ...

    def verified(self, seq_id: int, drafted: int, accepted: int, /) -> None:
        """Report the outcome of the last guess: of its first `drafted` tokens, the first `accepted` were accepted."""
        ...

    def forget(self, seq: EngineSequence, finish: Finish, /) -> None:
        """Drop the records of a sequence that has ended by `finish`. It may be unknown here."""
        ...


class Lookahead(Protocol):
    """A grammar ahead of the output of a sequence; see `grammars.draft_walk.Cursor`."""

    def fill(self, row: MaskRow) -> bool:
        """Overwrite `row` with the legal tokens; False if they are unknown."""
        ...

    def advance(self, token: int) -> tuple[int, ...] | None:
        """Accept a token; the tokens forced after it, accepted as well. None if the output cannot continue."""
        ...
