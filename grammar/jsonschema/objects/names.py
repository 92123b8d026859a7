"""The names of an object's members, and the states between members.

Does: describe a name by what the schema distinguishes, and a state by the members still possible. Does not: decide what
a value must satisfy (`object_language`).
"""

from dataclasses import dataclass

from ..logic.atoms import MemberCover
from ..logic.formula import Formula
from ..logic.residual import Obligation

Seen = int | frozenset[str]
OTHER = -1  # the position after all named members: only names outside the schema may follow


@dataclass(frozen=True, slots=True)
class BetweenMembers:
    """A state between members; `seen` determines which named members may still follow.

    In the declared order, `seen` is the first position that is still possible; in any order, the set of names used.
    """

    obligation: Obligation
    seen: Seen


@dataclass(frozen=True, slots=True)
class Name:
    """A member name of the schema, or (`text` None) a class of other names that the schema treats alike."""

    text: str | None
    patterns: frozenset[str]  # the patterns that match it
    valid: frozenset[Formula]  # the formulas of `propertyNames` that it satisfies


def covers(cover: MemberCover, name: Name) -> bool:
    """Whether a cover evaluates members of this name."""
    return (
        cover.everything or name.text in cover.names or not name.patterns.isdisjoint(cover.patterns)
    )
