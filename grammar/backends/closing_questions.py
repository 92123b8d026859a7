"""Mixins for a matcher's `closing` methods, which answer in one call or in parts: each derives one form from the other.

Does: let a back end implement one form of `closing` and `closes_within`. Does not: search for ends.
"""

from abc import ABC, abstractmethod

from ..base.parts import Parts, undivided, whole


class WholeAnswers(ABC):
    """A matcher that answers in parts."""

    __slots__ = ()

    @abstractmethod
    def closes_within_parts(self, tokens: int) -> Parts[bool]:
        """See `Matcher.closes_within_parts`."""

    @abstractmethod
    def closing_parts(self) -> Parts[tuple[int, ...] | None]:
        """See `Matcher.closing_parts`."""

    def closes_within(self, tokens: int) -> bool:
        """See `Matcher.closes_within`."""
        return whole(self.closes_within_parts(tokens))

    def closing(self) -> tuple[int, ...] | None:
        """See `Matcher.closing`."""
        return whole(self.closing_parts())

    def least_tokens(self) -> int | None:
        """The number of tokens of `closing`; see `Matcher.least_tokens`."""
        tokens = self.closing()
        return None if tokens is None else len(tokens)


class UndividedAnswers(ABC):
    """A matcher that answers at once."""

    @abstractmethod
    def closes_within(self, tokens: int) -> bool:
        """See `Matcher.closes_within`."""

    @abstractmethod
    def closing(self) -> tuple[int, ...] | None:
        """See `Matcher.closing`."""

    def closes_within_parts(self, tokens: int) -> Parts[bool]:
        """See `Matcher.closes_within_parts`."""
        return undivided(lambda: self.closes_within(tokens))

    def closing_parts(self) -> Parts[tuple[int, ...] | None]:
        """See `Matcher.closing_parts`."""
        return undivided(self.closing)

    def least_tokens(self) -> int | None:
        """The number of tokens of `closing`; see `Matcher.least_tokens`."""
        tokens = self.closing()
        return None if tokens is None else len(tokens)
