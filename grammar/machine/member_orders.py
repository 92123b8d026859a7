"""Array items that can only become repeats of earlier ones, where members may come in any order.

Does: tell whether a begun item may become a seen one in some order of its members, and whether it can become nothing
else. Does not: know which texts are legal: the machine tells (`item_search`).

Where the order of members is fixed, only beginnings of a seen item's own text can be exhausted, and they are listed
(`exhaustion`). In any order there are too many of them, so each begun item is examined as it stands. The order of its
whole members makes no difference: of all orders of n members, only 2^n sets are searched.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from .escapes import plain, settled, unfinished

_PIECE: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[][{}:,]|[^][{}",: \t\r\n]+', re.DOTALL)
_ARRAY, _OBJECT = b"[", b"{"
_AROUND: Final = b",:]} \t\r\n"
_IN_NUMBER: Final = b"0.eE+-"
_IN_ESCAPE: Final = b'0123456789abcdefABCDEFnrtu"/\\'
_DEEPEST: Final = 100  # values that are nested deeper are compared as they are written
_SPACE: Final = re.compile(rb"[ \t\r\n]*")

Value: TypeAlias = "bytes | tuple[Value, ...] | frozenset[tuple[bytes, Value]]"
"""A whole value: the text of a scalar, the items of an array, the members of an object with their names in quotes."""


class _NotJson(Exception):
    """The text is no beginning of a value, or is nested deeply."""


class _Level(NamedTuple):
    """An open array or object: what is whole in it, the name of the open member, whether more must come."""

    whole: Value
    name: bytes | None
    more: bool


class _Begun(NamedTuple):
    """A begun text: its open arrays and objects, outermost first, and the text of a scalar or name at its end.

    `value`: the value of a whole array or object, else None.
    """

    levels: tuple[_Level, ...]
    tail: bytes
    value: "Value | None"


@lru_cache(maxsize=2048)
def value_of(text: bytes) -> Value:
    """The value of a whole plain text; the text itself if it is nested deeply."""
    try:
        begun = _read(text)
    except _NotJson:
        return text
    return begun.tail if begun.value is None else begun.value


def has_orders(value: Value) -> bool:
    """Whether a value can be written with its members in several orders."""
    if isinstance(value, frozenset):
        return len(value) > 1 or any(has_orders(each) for _, each in value)
    return isinstance(value, tuple) and any(map(has_orders, value))


def near(text: bytes, values: Iterable[Value]) -> Iterator[Value]:
    """The values that a begun text may become."""
    known = settled(plain(text))
    if unfinished(known) < len(known):
        return iter(values)  # what its escape means is not known yet
    try:
        begun = _read(known)
    except _NotJson:
        return iter(())
    return (each for each in values if _begins(begun, 0, each))


def may_become(text: bytes, values: Iterable[Value]) -> bool:
    """Whether a begun text may become one of the values."""
    return any(True for _ in near(text, values))


def next_bytes(text: bytes, values: Iterable[Value]) -> frozenset[int]:
    """The bytes after which a begun text may still become one of the values, and some others."""
    known = settled(plain(text))
    if unfinished(known) < len(known):
        return frozenset(_IN_ESCAPE)
    begun = _read(known)
    found = set(_AROUND)
    if begun.tail:
        found.update(b"\\" if begun.tail[:1] == b'"' else _IN_NUMBER)
    for value in values:
        found.update(_next(begun, 0, value))
    return frozenset(found)


def way_out(
    text: bytes,
    values: Sequence[Value],
    any_move: Callable[[bytes, Callable[[bytes], bool]], bool],
    state_after: Callable[[bytes], int],
) -> bytes | None:
    """A beginning of none of the values, or of a whole new text, that a legal begun text has; None if it has none.

    See `item_search` for the functions.
    """
    todo, known = [text], set[tuple[Hashable, int]]()
    while todo:
        suspects: list[bytes] = []
        begun = out = todo.pop()

        def leads_on(following: bytes, found: list[bytes] = suspects) -> bool:
            nonlocal out
            if not may_become(following, values):
                out = following
                return True
            found.append(following)
            return False

        if any_move(begun, leads_on):
            return out
        for suspect in suspects:
            # Spellings of one text may differ in what follows.
            place = _place(settled(plain(suspect))), state_after(suspect)
            if place not in known:
                known.add(place)
                todo.append(suspect)
    return None


def _place(text: bytes) -> Hashable:
    """What is equal for begun texts with the same whole members in any order."""
    try:
        return _read(text)
    except _NotJson:
        return text


def _begins(begun: _Begun, depth: int, value: Value) -> bool:
    """Whether the part of a begun text from a level on may become a value."""
    if depth == len(begun.levels):
        if begun.value is not None:
            return begun.value == value
        return value.startswith(begun.tail) if isinstance(value, bytes) else not begun.tail
    whole, name, more = begun.levels[depth]
    is_last = depth == len(begun.levels) - 1
    if isinstance(value, tuple) and isinstance(whole, tuple):
        if value[: len(whole)] != whole:
            return False
        if is_last and not begun.tail and not more:
            return True
        return len(whole) < len(value) and _begins(begun, depth + 1, value[len(whole)])
    if not isinstance(value, frozenset) or not isinstance(whole, frozenset) or not whole <= value:
        return False
    left = value - whole
    if name is not None:
        return any(key == name and _begins(begun, depth + 1, each) for key, each in left)
    if begun.tail or more:
        return any(key.startswith(begun.tail) for key, _ in left)
    return is_last


def _next(begun: _Begun, depth: int, value: Value) -> Iterator[int]:
    """The bytes that go on towards a value, without those around scalars, from a level on."""
    if depth == len(begun.levels):
        if isinstance(value, bytes):
            if value.startswith(begun.tail):
                yield from value[len(begun.tail) :][:1]
        elif not begun.tail:
            yield (_OBJECT if isinstance(value, frozenset) else _ARRAY)[0]
        return
    whole, name, _ = begun.levels[depth]
    if isinstance(value, tuple) and isinstance(whole, tuple):
        if len(whole) < len(value):
            yield from _next(begun, depth + 1, value[len(whole)])
    elif isinstance(value, frozenset) and isinstance(whole, frozenset):
        for key, each in value - whole:
            if key == name:
                yield from _next(begun, depth + 1, each)
            elif name is None and key.startswith(begun.tail):
                yield from key[len(begun.tail) :][:1]


class _Open:
    """An open array or object while its text is read."""

    def __init__(self, opener: bytes) -> None:
        self.is_object = opener == b"{"
        self.items: list[Value] = []
        self.members: dict[bytes, Value] = {}
        self.name: bytes | None = None
        self.more = False

    def add(self, value: Value) -> None:
        """Add a whole name, member or item."""
        self.more = False
        if not self.is_object:
            self.items.append(value)
        elif self.name is not None:
            self.members[self.name], self.name = value, None
        elif isinstance(value, bytes):
            self.name = value
        else:
            raise _NotJson

    @property
    def value(self) -> Value:
        """What is whole in it."""
        return frozenset(self.members.items()) if self.is_object else tuple(self.items)


def _read(text: bytes) -> _Begun:
    """Read plain text, whole or begun. Raises `_NotJson`, not for each text that is none."""
    opened: list[_Open] = []
    at = 0
    while True:
        at = _skipped(text, at)
        found = _PIECE.match(text, at)
        piece = text[at:] if found is None else found.group()
        at = len(text) if found is None else found.end()
        if piece in (b"{", b"["):
            if len(opened) == _DEEPEST:
                raise _NotJson
            opened.append(_Open(piece))
        elif piece not in (b"}", b"]", b",", b":"):
            ends = found is not None and (at < len(text) or piece[:1] == b'"')
            if not ends or not opened:
                levels = tuple(_Level(each.value, each.name, each.more) for each in opened)
                return _Begun(levels, piece, None)
            opened[-1].add(piece)
        elif not opened:
            raise _NotJson
        elif piece in (b"}", b"]"):
            value = opened.pop().value
            if not opened:
                return _Begun((), b"", value)
            opened[-1].add(value)
        elif piece == b",":
            opened[-1].more = True


def _skipped(text: bytes, at: int) -> int:
    space = _SPACE.match(text, at)
    return at if space is None else space.end()
