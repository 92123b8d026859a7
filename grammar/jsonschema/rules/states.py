"""The places in a JSON value where something is decided, as keys of states.

Does: name them. Does not: say what may come there (`rules`).
"""

from dataclasses import dataclass

from ..arrays.arrays import BetweenItems
from ..logic.residual import Fold
from ..logic.value_plan import Plan
from ..objects.names import BetweenMembers, Seen
from ..objects.plain_objects import Written
from ..read.values import Value

State = BetweenMembers | Written | BetweenItems
"""A place in a container: between members, between those of a plain object, between items."""


@dataclass(frozen=True, slots=True)
class Start:
    """Before the value."""


@dataclass(frozen=True, slots=True)
class Opened:
    """Right after the opening byte: a member, an item or the end."""

    state: State


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a member or item has to come."""

    state: State


@dataclass(frozen=True, slots=True)
class After:
    """After a member or item: a comma or the end."""

    state: State


@dataclass(frozen=True, slots=True)
class Colon:
    """After a name."""

    given: "Given"


@dataclass(frozen=True, slots=True)
class Given:
    """Before the value of a member or an item.

    `member`: the fold that the member derives from, its name's label, and what was seen with it (see `BetweenMembers`);
    in a plain object, the place behind it; None for an item. `used`: where items must differ and few values come into
    question, the values of the items before.
    """

    plan: Plan
    member: tuple[Fold, int, Seen] | Written | None = None
    used: frozenset[Value] | None = None


@dataclass(frozen=True, slots=True)
class Close:
    """Only the closing byte may come."""

    state: State


START = Start()
