"""What is known of one position of an output: how it ends, and the tokens forced there.

Does: hold the answers that were asked for, and carry over what still holds after a token. Does not: find them
(`native`), or change: a matcher replaces them, so that its copies may share what is known of a long output.
"""

from typing import Final, NamedTuple

from .generation import EndText

Run = tuple[tuple[int, ...], int]
"""Tokens from an index on. Later positions share the tokens."""


class KnownAnswers(NamedTuple):
    """Answers at one position; None: not asked for yet. A position that was never asked has no such object.

    `closing`: the result of `Matcher.closing`, no tokens at all if no end was found. `end`: an end that need not be
    short. `forced`: the result of `Matcher.forced`, unless it was empty.
    """

    closing: Run | None = None
    end: EndText | None = None
    forced: Run | None = None

    def to_come(self) -> tuple[int, ...]:
        """The forced tokens that are known; none: not asked for yet, or all accepted."""
        return () if self.forced is None else self.forced[0][self.forced[1] :]

    def forcing(self, tokens: tuple[int, ...]) -> "KnownAnswers":
        """The same with tokens found to be forced; faster than `_replace`."""
        return KnownAnswers(self.closing, self.end, (tokens, 0))

    def after(self, token: int) -> "KnownAnswers | None":
        """What is known after a token: the rests of the runs that go on with it."""
        closing, forced = _rest(self.closing, token), _rest(self.forced, token)
        return None if closing is None and forced is None else KnownAnswers(closing, None, forced)


NOTHING_KNOWN: Final = KnownAnswers()


def _rest(run: Run | None, token: int) -> Run | None:
    """A run after `token`; None if it does not go on with it."""
    if run is None or run[1] == len(run[0]) or run[0][run[1]] != token:
        return None
    return run[0], run[1] + 1
