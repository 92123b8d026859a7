"""The protocols of compiled grammars and matchers, between a back end and an engine that generates tokens.

Does: define what every back end implements. Does not: implement anything.
"""

from collections.abc import Sequence
from typing import Protocol

from ..base.parts import Parts
from .bitmask import MaskRow


class Matcher(Protocol):
    """Follows one output through its grammar. Mutable; one per sequence, owned by its creator.

    End-of-sequence tokens belong to the language: they are legal exactly where the output may end, and `finished` is
    true once one has been accepted. Where an output can only end, the end token is therefore *forced*.
    """

    @property
    def finished(self) -> bool:
        """Whether an end token has been accepted; no token may follow."""
        ...

    def fill(self, row: MaskRow) -> None:
        """Overwrite `row` with the mask of the tokens that are legal next (all zero only once finished)."""
        ...

    def accept(self, token: int) -> None:
        """Advance by one token.

        Raises:
            Violation: the token is not legal here; the matcher has not moved.
        """
        ...

    def skip(self, tokens: Sequence[int]) -> None:
        """Advance by many tokens, none of them an end token. Tokens up to here can no longer be rolled back.

        Raises:
            Violation: one of the tokens is not legal.
        """
        ...

    def forced(self) -> tuple[int, ...]:
        """The tokens that must come next because no others are legal, without moving; empty if there is a choice.

        Only tokens that the tokenizer itself would write are returned, so forced tokens never differ from the model's
        own spelling of the same text.
        """
        ...

    def rollback(self, count: int) -> None:
        """Take back the last `count` accepted tokens.

        Raises:
            ValueError: fewer tokens have been accepted (since the last `skip`, if the back end discards older ones).
        """
        ...

    def fork(self) -> "Matcher":
        """An independent copy at the same position."""
        ...

    def least_tokens(self) -> int | None:
        """An upper bound on the fewest tokens, end token included, that complete the output from here.

        Equals `len(closing())`. None if the back end does not know a completion.
        """
        ...

    def closes_within(self, tokens: int) -> bool:
        """Whether the output can be completed within a number of tokens, end token included.

        True if that is unknown, unless the back end closes outputs in time by other means
        (`backends.earley`).

        Equivalent to a comparison with `least_tokens`, but much cheaper while the budget is ample: the engine calls it
        after every token.
        """
        ...

    def closes_within_parts(self, tokens: int) -> Parts[bool]:
        """`closes_within` in parts, as a search may take long. The matcher must not be moved until it is done."""
        ...

    def closing(self) -> tuple[int, ...] | None:
        """A short completion of the output from here in legal tokens, end token included, without moving.

        `least_tokens` falls by one with each of these tokens. None if the back end does not know a completion.
        """
        ...

    def closing_parts(self) -> Parts[tuple[int, ...] | None]:
        """`closing` in parts, as a search may take long. The matcher must not be moved until it is done."""
        ...


class CompiledGrammar(Protocol):
    """A constraint compiled for one vocabulary. Immutable and shared between sequences and threads."""

    @property
    def size_bytes(self) -> int:
        """Memory held, by estimate; for caches."""
        ...

    @property
    def least_tokens(self) -> int | None:
        """An upper bound on the fewest tokens, end token included, of a complete output; None if unknown."""
        ...

    def matcher(self) -> Matcher:
        """A new matcher at the start of the output."""
        ...
