"""How many bytes text takes, and what punctuation adds to it.

Does: count the braces, commas, colons and line starts around values. Does not: search for short values (`rules.costs`).
"""

from dataclasses import dataclass

from ..read.writing_options import Options


@dataclass(frozen=True, slots=True, order=True)
class Cost:
    """Bytes: `base`, and `lines` line starts, each of which also costs the indentation of the enclosing value."""

    base: int
    lines: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.base + other.base, self.lines + other.lines)

    def inside(self, indent: int) -> "Cost":
        """The cost of the same text one level deeper."""
        return Cost(self.base + self.lines * indent, self.lines)

    def times(self, count: int) -> "Cost":
        """The cost of `count` copies of the text."""
        return Cost(self.base * count, self.lines * count)


class Punctuation:
    """The cost of the text between values, under one set of options."""

    def __init__(self, options: Options) -> None:
        self._comma = len(options.comma)
        self._colon = len(options.colon)
        self._indent = options.indent if options.pretty else None

    def close(self, empty: bool) -> Cost:
        """The closing byte; in the pretty form it has its own line unless the container is empty."""
        return Cost(1) if empty or self._indent is None else Cost(2, 1)

    def item(self, value: Cost) -> Cost:
        """A comma and an item."""
        if self._indent is None:
            return value + Cost(self._comma)
        return value.inside(self._indent) + Cost(2 + self._indent, 1)

    def member(self, name_bytes: int, value: Cost) -> Cost:
        """A comma, a name, a colon and a value."""
        return self.item(value) + Cost(name_bytes + self._colon)

    def without_comma(self, cost: Cost) -> Cost:
        """The rest of a container right after its opening byte: its first entry has no comma."""
        return Cost(cost.base - self._comma, cost.lines)
