"""Counted work: what compiling and following a constraint takes, in units that are the same on every machine.

Does: count units where tables are filled, rows are made and searches step; charge them to the meter of the present
thread; raise once a meter has reached its limit. Does not: measure time, or choose limits (`intake.trial`).

A unit is about a microsecond on the machine where the charges were calibrated. A result from a cache that outlives a
grammar is charged what it took to make, once per meter: what other constraints left there changes no count.
"""

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final

from .errors import ConstraintTooLarge, Refusal

SMALLER: Final = "make it smaller or simpler: fewer alternatives, lower bounds, shorter patterns"

# Units of one piece of work.
PART: Final = 8  # of a schema: a member or an element
CELL_PART: Final = 32  # cells of an automaton's table that make one unit
AUTOMATON: Final = 80
EXPANSION: Final = 20  # of a state of the machine
MOVE: Final = 1  # of an expanded state
TABLE_PART: Final = 32  # bytes of tables that an expanded state adds for one unit
ROW: Final = 60  # a mask that the grammar had not made
LEAF_ROW: Final = 300  # a leaf's mask that this constraint had not asked for
STEP: Final = 10  # of a search for an end
BYTE: Final = 5  # read by a search
TEXT: Final = 15  # a text compared with earlier ones
JUDGED_BYTE: Final = 10  # of a text that a judge reads


@dataclass(slots=True)
class Meter:
    """The units so far; `paid`: the results that are charged once."""

    most: int
    total: int = 0
    paid: set[int] = field(default_factory=set)

    def add(self, units: int) -> None:
        """Count units.

        Raises:
            ConstraintTooLarge: these are more than `most` in total.
        """
        self.total += units
        if self.total > self.most:
            reason = f"compiling it takes more than {self.most} units of work"
            raise ConstraintTooLarge(f"{reason}; {SMALLER}", (Refusal("", "", reason, SMALLER),))


@dataclass(frozen=True, slots=True, eq=False)
class Price:
    """The units that a cached result took: its own, and those of the cached results that it was made from."""

    key: int
    own: int
    parts: tuple["Price", ...]


@dataclass(slots=True)
class Making:
    """A result of a cache while it is made; its `price` is known at the end."""

    key: int
    own: int = 0
    parts: dict[int, Price] = field(default_factory=dict)

    @property
    def price(self) -> Price:
        """What it took so far."""
        return Price(self.key, self.own, tuple(self.parts.values()))


_METER: Final[ContextVar[Meter | None]] = ContextVar("meter", default=None)
_MAKING: Final[ContextVar[Making | None]] = ContextVar("making", default=None)


def spend(units: int) -> None:
    """Charge work that was done, or is about to be.

    Raises:
        ConstraintTooLarge: the meter of this thread, if there is one, has reached its limit.
    """
    making, meter = _MAKING.get(), _METER.get()
    if making is not None:
        making.own += units
    if meter is not None:
        meter.add(units)


def spend_once(key: Hashable, units: int) -> None:
    """`spend`, unless the present meter was charged for this key before. Without a meter, nothing is counted."""
    meter, place = _METER.get(), hash(key)
    if meter is not None and place not in meter.paid:
        meter.paid.add(place)
        meter.add(units)


@contextmanager
def metered(most: int) -> Iterator[Meter]:
    """A meter for the work of this thread; the present one, if there is one already."""
    meter = _METER.get()
    if meter is not None:
        yield meter
        return
    meter = Meter(most)
    before = _METER.set(meter)
    try:
        yield meter
    finally:
        _METER.reset(before)


@contextmanager
def making(key: Hashable) -> Iterator[Making]:
    """The making of a result that a cache will keep under `key`; charged to the meter unless it was charged before."""
    made, outer, meter = Making(hash(key)), _MAKING.get(), _METER.get()
    is_paid = meter is not None and made.key in meter.paid
    if meter is not None:
        meter.paid.add(made.key)
    before, charged = _MAKING.set(made), _METER.set(None if is_paid else meter)
    try:
        yield made
    finally:
        _METER.reset(charged)
        _MAKING.reset(before)
    if outer is not None:
        outer.parts[made.key] = made.price


def take(price: Price) -> None:
    """Charge a result that a cache has kept, with the parts that were not charged before.

    Raises:
        ConstraintTooLarge: see `spend`.
    """
    outer, meter = _MAKING.get(), _METER.get()
    if outer is not None:
        outer.parts[price.key] = price
    if meter is not None:
        _pay(meter, price)


def _pay(meter: Meter, price: Price) -> None:
    if price.key not in meter.paid:
        meter.paid.add(price.key)
        meter.add(price.own)
        for part in price.parts:
            _pay(meter, part)
