"""Writes a typical document of a schema: every declared member, a few items, plain words.

Does: follow the rules of the schema and choose among their alternatives, so the document is valid by construction.
Does not: read annotations, or estimate how likely a model is to write the document.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Final

from ...automata import Dfa
from ...automata.specimen import specimen
from ...machine.rule import Call, End, Expansion, Goto, Rule, Target
from ..arrays.array_language import BetweenItems
from ..logic.atoms import ValueKind
from ..objects.name_rule import Keys
from ..objects.plain_members import PlainKeys
from ..scalars.counted_strings import CountedChars
from ..scalars.suffix_ranges import InDocument
from ..writing.whitespace import Gap
from .states import After, Entry, Opened, Start, State
from .value_rule import ValueRule

_ITEMS: Final = 2  # of an array that may end earlier
_DEEP: Final = 4  # nesting depth from which values are kept small
_DEEPEST: Final = 60
_TRIES: Final = 12  # texts tried per scalar
_MOST: Final = 20_000  # bytes
_LETTERS: Final = 8  # of a string that is read in windows
_WORDS: Final = (
    b'"Example"', b'"example"', b'"an example"', b'"name@example.com"', b'"2026-03-14"', b'"09:26:53Z"', b'"EUR"',
    b'"DE"', b'"2026-03-14T09:26:53Z"', b'"09:26"', b'"P3D"', b'"https://example.com/"', b'"example.com"',
    b"42", b"12.5", b"7", b"1", b"2", b"3", b"0.5", b"true", b"false",
)  # fmt: skip


class _Stuck(Exception):
    """The choices made so far have no continuation."""


def example(root: Rule) -> bytes | None:
    """A document of the rule; None if none is found with little effort."""
    for items in range(_ITEMS, -1, -1):
        writer = _Writer(items)
        try:
            writer.value(root, 0)
        except _Stuck:
            continue
        return bytes(writer.text)
    return None


class _Writer:
    """Writes one document, with `items` items in each array that does not require more."""

    def __init__(self, items: int) -> None:
        self.text = bytearray()
        self._items = items
        self._salt = 0  # varies the scalars between attempts

    def value(self, rule: Rule, depth: int) -> int:
        """Write a text of `rule` and return its outcome. `depth`: the number of enclosing containers."""
        if depth > _DEEPEST or len(self.text) > _MOST:
            raise _Stuck
        place = _Place(rule, depth, rule.start, set())
        while True:
            target = self._move(place, place.rule.expand(place.key))
            if isinstance(target, End):
                return target.outcome
            place.key = target.key

    def _move(self, place: "_Place", expansion: Expansion) -> Target:
        """One step: a byte, or the whole text of a call."""
        key, call = place.key, expansion.call
        if isinstance(key, Gap):
            return Goto(key.inner)
        arcs = {taken[0]: target for taken, target in expansion.arcs if place.alive(target)}
        choices: list[int | None] = [*arcs, *([] if call is None else [None])]
        for choice in sorted(choices, key=lambda byte: self._rank(place, byte)):
            if choice is not None:
                self.text.append(choice)
                return arcs[choice]
            assert call is not None
            target = self._call(place, call)
            if target is not None:
                place.items += isinstance(key, Opened | Entry)
                return target
        raise _Stuck

    def _rank(self, place: "_Place", byte: int | None) -> int:
        """The preference of a byte (None: the call); the lowest rank is tried first."""
        key, rule = place.key, place.rule
        if isinstance(key, Opened | After) and isinstance(rule, ValueRule):
            closes = byte in b"}]" if isinstance(key, Opened) and byte else byte not in (None, 0x2C)
            return int(closes is self._wants(place, rule, key.state))
        if isinstance(key, CountedChars):
            long = len(self.text) - self.text.rfind(b'"') > _LETTERS
            return int((byte is None) is long)
        if isinstance(key, InDocument):
            return int((byte == ord('"')) is not (key.length >= _LETTERS))
        if isinstance(key, Start) and isinstance(rule, ValueRule):
            container = byte is not None and byte in b"{["
            kind = ValueKind.OBJECT if byte == ord("{") else ValueKind.ARRAY
            is_preferred = container and place.depth < _DEEP and rule.demands(kind)
            return 0 if is_preferred else 3 if container else 2 if byte is None else 1
        return 0

    def _wants(self, place: "_Place", rule: ValueRule, state: State) -> bool:
        """Whether to write another member or item where the container may end."""
        if place.depth >= _DEEP:
            return False
        if isinstance(state, BetweenItems):
            return place.items < self._items
        names = rule.names_in(state)
        if names is None:
            return False
        declared = len(names.properties.names)
        if declared:
            return any(label < declared for label in set(names.labels) - place.labels)
        return isinstance(place.key, Opened)

    def _call(self, place: "_Place", call: Call) -> Target | None:
        """Write the text of a call; None, with nothing written, if no attempt has a continuation."""
        start, salt = len(self.text), self._salt
        for attempt in range(_TRIES):
            if isinstance(call.callee, Dfa):
                found = _texts(call, place, salt + attempt)
            else:
                self._salt = salt + attempt
                outcome = self.value(call.callee, place.depth + 1)
                found = iter([(outcome, bytes(self.text[start:]))])
                del self.text[start:]
            self._salt = salt
            for outcome, text in found:
                target = place.resumed(call, outcome, text)
                if target is not None and place.alive(target):
                    if isinstance(call.back, Keys | PlainKeys):
                        place.labels.add(outcome + call.back.leaf.first)
                    self.text += text
                    return target
        return None


@dataclass
class _Place:
    """A rule in progress: its state, the texts it remembers, the items begun, the names written."""

    rule: Rule
    depth: int
    key: Hashable
    seen: set[Hashable]
    items: int = 0
    labels: set[int] = field(default_factory=set)

    def alive(self, target: Target) -> bool:
        """Whether the target has an end."""
        return isinstance(target, End) or self.rule.least(target.key) is not None

    def resumed(self, call: Call, outcome: int, text: bytes) -> Target | None:
        """The target after a call; None if there is none."""
        if call.judge is not None:
            outcome = call.judge(outcome, text)
            if outcome < 0:
                return None
        if call.same is None:
            return self.rule.resume(call.back, outcome, False)  # noqa: FBT003
        name = call.same(text)
        target = self.rule.resume(call.back, outcome, name in self.seen)
        self.seen.add(name)
        return target


def _texts(call: Call, place: _Place, seed: int) -> Iterator[tuple[int, bytes]]:
    """Texts of a leaf with their outcomes, the most typical first."""
    leaf = call.callee
    assert isinstance(leaf, Dfa)
    if isinstance(call.back, Keys | PlainKeys):
        leaf = leaf.restrict([_name(call.back, place) - call.back.leaf.first])
    elif isinstance(call.back, Start):
        judged = ((leaf.judge(word), word) for word in _WORDS[seed:])
        yield from ((outcome, word) for outcome, word in judged if outcome >= 0)
        least = bytes(leaf.shortest() or b"")
        if seed == 0 and least[:1] in b"-0123456789":  # random digits make a poor example
            yield leaf.judge(least), least
    made = specimen(leaf, seed)
    if made is not None:
        yield leaf.judge(made), bytes(made)


def _name(keys: Keys | PlainKeys, place: _Place) -> int:
    """The label of the next name: the first new declared one; at depth, a required one if possible."""
    properties = keys.properties

    def late(label: int) -> tuple[bool, bool, int]:
        spared = (
            place.depth >= _DEEP and properties.all_names[label].text not in properties.demanded
        )
        return label in place.labels, spared, label

    return min(keys.labels, key=late)
