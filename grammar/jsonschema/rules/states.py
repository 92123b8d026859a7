"""The keys of the states of a rule: the places in a JSON value where alternatives arise.

Does: define them. Does not: expand them (`value_rule`).
"""

from dataclasses import dataclass

from ..arrays.array_language import BetweenItems
from ..logic.residual import Obligation
from ..logic.value_plan import ValuePlan
from ..objects.names import BetweenMembers, Seen
from ..objects.plain_members import BetweenPlainMembers
from ..read.values import Value

State = BetweenMembers | BetweenPlainMembers | BetweenItems
"""A state inside a container: between members, between members of a plain object, between items."""


@dataclass(frozen=True, slots=True)
class Start:
    """Before the value."""


@dataclass(frozen=True, slots=True)
class Opened:
    """Right after the opening byte: a member, an item or the end follows."""

    state: State


@dataclass(frozen=True, slots=True)
class Entry:
    """Before a member or item that must come."""

    state: State


@dataclass(frozen=True, slots=True)
class After:
    """After a member or item: a comma or the end follows."""

    state: State


@dataclass(frozen=True, slots=True)
class Colon:
    """After a name."""

    value: "BeforeValue"


@dataclass(frozen=True, slots=True)
class BeforeValue:
    """Before the value of a member or an item.

    `member`: the obligation that the member derives from, the label of its name, and `seen` after it (see
    `BetweenMembers`); in a plain object, the state after the member; None for an item. `used`: the values of the
    earlier items, where items must differ and have few values. `cannot_repeat`: there are no earlier items.
    """

    plan: ValuePlan
    member: tuple[Obligation, int, Seen] | BetweenPlainMembers | None = None
    used: frozenset[Value] | None = None
    cannot_repeat: bool = False


@dataclass(frozen=True, slots=True)
class Close:
    """Only the closing byte may come."""

    state: State


START = Start()
