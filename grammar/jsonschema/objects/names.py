"""The names of an object's members, and the places between members.

Does: name what is known of a name, and where a member may stand. Does not: decide what is asked of it (`objects`).
"""

from dataclasses import dataclass

from ..logic.atoms import KeyCover
from ..logic.formula import Formula
from ..logic.residual import Fold

Seen = int | frozenset[str]
OTHER = -1  # the position after all named members: only other names may follow


@dataclass(frozen=True, slots=True)
class BetweenMembers:
    """A place between members: `seen` tells which named members may still come.

    In the declared order it is the position from which on they may, else the frozenset of names used.
    """

    fold: Fold
    seen: Seen


@dataclass(frozen=True, slots=True)
class Name:
    """A member's name: one that the schema names, or a class of other names with what is true of them."""

    text: str | None
    patterns: frozenset[str]  # the patterns that match it
    valid: frozenset[Formula]  # the formulas of `propertyNames` that hold of it


def covers(cover: KeyCover, name: Name) -> bool:
    """Whether a member of this name counts as evaluated under a cover."""
    return (
        cover.everything or name.text in cover.names or not name.patterns.isdisjoint(cover.patterns)
    )
