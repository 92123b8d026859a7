"""The interface between a grammar and whatever generates tokens.

Does: say what a compiled grammar and a matcher are, for every back end. Does not: hold an implementation.
"""

from collections.abc import Sequence
from typing import Protocol

from .bitmask import MaskRow


class Matcher(Protocol):
    """Follows one output through its grammar. Mutable, one per sequence, owned by whoever made it.

    End-of-sequence tokens are part of the language here: they are legal exactly where the output may end, and
    `finished` is true once one has been accepted. A grammar that can only end therefore *forces* its end token.
    """

    @property
    def finished(self) -> bool:
        """Whether an end token has been accepted; nothing may follow."""
        ...

    def fill(self, row: MaskRow) -> None:
        """Overwrite `row` with the tokens that are legal next (all zero only once finished)."""
        ...

    def accept(self, token: int) -> None:
        """Advance by one token.

        Raises:
            Violation: the token is not legal here; the matcher has not moved.
        """
        ...

    def skip(self, tokens: Sequence[int]) -> None:
        """Advance by many tokens, none of them an end. Neither they nor those before them can be taken back.

        Raises:
            Violation: one of them is not legal.
        """
        ...

    def forced(self) -> tuple[int, ...]:
        """Tokens that must come next because nothing else is legal, without moving; empty when there is a choice.

        Only tokens the tokenizer itself would write are returned, so a forced run never differs from how the model
        would have spelled the same text.
        """
        ...

    def rollback(self, count: int) -> None:
        """Take back the last `count` accepted tokens.

        Raises:
            ValueError: not so many have been accepted (since `skip`, where a back end keeps none of those before it).
        """
        ...

    def fork(self) -> "Matcher":
        """An independent copy at the same position."""
        ...

    def least_tokens(self) -> int | None:
        """An upper bound on the fewest tokens, end token included, that complete the output from here.

        None where the back end cannot tell. It equals `len(closing())`.
        """
        ...

    def closes_within(self, tokens: int) -> bool:
        """Whether the output can be completed within so many tokens, end token included.

        Where that is unknown: true, unless the back end closes outputs in time all the same (`backends.earley`).

        The same as comparing `least_tokens`, and much cheaper where there is room enough: asked after every token.
        """
        ...

    def closing(self) -> tuple[int, ...] | None:
        """Legal tokens, end token included, that complete the output from here by a short way, without moving.

        Following them makes `least_tokens` fall by one a token. None where the back end cannot tell.
        """
        ...


class CompiledGrammar(Protocol):
    """A constraint compiled for one vocabulary. Immutable and shared between sequences and threads."""

    @property
    def size_bytes(self) -> int:
        """Approximate memory held, for caches."""
        ...

    @property
    def least_tokens(self) -> int | None:
        """An upper bound on the fewest tokens, end token included, of any complete output; None if unknown."""
        ...

    def matcher(self) -> Matcher:
        """A new matcher at the start of the output."""
        ...
