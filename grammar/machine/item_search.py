"""Searches the completions of an array's item for one that differs from all earlier items, in any spelling.

Does: tell whether only seen items complete a beginning (then it is *exhausted*), and find the spellings of a seen item
that are exhausted although its plain text can go on. Does not: keep what is found (`exhaustion`).

Spellings of one text may differ in what may follow: a constant has one spelling, while a pattern admits all of them;
and after a number within an item, only further zeros may be legal.
"""

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np

from ..automata import Dfa
from ..base.array_types import Bytes
from ..contract.work import TEXT, spend
from . import walk_state as n
from .escapes import (
    characters,
    escapes,
    first_character,
    numbers,
    plain,
    settled,
    strings,
    unfinished,
)
from .lazy_tables import ALPHABET, DEAD, LEAF, LEAVE, OUTCOME, ROW
from .text_reader import TextReader

_MOST_KNOWN: Final = 4096  # characters at the beginning of strings, by state
_AFTER_NUMBER: Final = b",]} \t\n\r"
_ANY: Final = bytes(range(256))


class ItemSearch:
    """The searches of one item. `exhausted`: its exhausted beginnings, plain text; they are added the longest first."""

    def __init__(
        self,
        probe: TextReader,
        seen: Iterable[bytes],
        exhausted: set[bytes],
        is_stuck: Callable[[TextReader, Bytes, int], bool],
    ) -> None:
        """`probe`: a reader at the beginning of the item. `seen`: the texts of the items seen.

        `is_stuck`: whether an item that begins after an offset is exhausted once a text was read ahead.
        """
        self._probe = probe
        self._texts = seen
        self.exhausted = exhausted
        self._is_stuck = is_stuck
        self._frame, self._begun = probe.depth - 1, len(probe.output)

    @cached_property
    def _seen(self) -> tuple[bytes, ...]:
        return tuple(map(plain, self._texts))

    def goes_on(self, beginning: bytes) -> bool:
        """Whether the item is over, or may go on to one that was not seen, after plain text."""
        suspects: list[bytes] = []

        def leads_on(following: bytes) -> bool:
            value = settled(plain(following))
            if value == following and unfinished(value) == len(value):
                return value not in self.exhausted
            suspects.append(following)
            return False

        return self.any_move(beginning, leads_on) or not all(map(self.is_exhausted, suspects))

    def is_exhausted(self, text: bytes, known: set[tuple[bytes, int]] | None = None) -> bool:
        """Whether only seen items complete a legal text in any spelling. `known`: values and states being searched."""
        known = set() if known is None else known
        state, value = state_after(self._probe, text), settled(plain(text))
        if unfinished(value) == len(value):
            if value in self.exhausted:
                return True
            if (
                not self._begins_seen(value)
                or value == text
                or state_after(self._probe, value) == state
            ):
                return False
        if (value, state) in known:
            return True
        known.add((value, state))
        suspects: list[bytes] = []

        def leads_on(following: bytes) -> bool:
            value = settled(plain(following))
            if unfinished(value) == len(value) and not self._begins_seen(value):
                return value not in self.exhausted
            suspects.append(following)
            return False

        return not self.any_move(text, leads_on) and all(
            self.is_exhausted(each, known) for each in suspects
        )

    def respelled(
        self, text: bytes, new: AbstractSet[bytes]
    ) -> tuple[set[tuple[bytes, bytes]], set[bytes]]:
        """The exhausted spellings of a seen text; `new`: plain beginnings that are exhausted since this text.

        (pairs of plain text, and an escape after it or its beginning; plain texts that are exhausted with an escape)
        """
        escaped: set[tuple[bytes, bytes]] = set()
        mixed: set[bytes] = set()
        for begin, end in strings(text):
            differs = begin < end and _is_spelled_apart(self._probe, text, begin)
            if not differs and (
                not new or new.isdisjoint(text[:size] for size in range(begin + 1, end + 1))
            ):
                continue
            offsets = [begin + offset for offset in characters(text[begin:end])]
            for at, then in pairwise(offsets):
                if text[:at] in self.exhausted:
                    break
                if differs or text[:then] in new:
                    escaped.update(self._exhausted_escapes(text[:at], text[at:then]))
            if differs:
                mixed.update(self._exhausted_mixed(text, offsets))
        return escaped, mixed

    def add_long_numbers(self, text: bytes) -> None:
        """Add the beginnings where a number of a seen text, within the item, has got a fraction of zeros or a sign."""
        for begin, end in numbers(text):
            if begin == 0:
                continue  # an item that is a number has one spelling
            point = b"0" if b"." in text[begin:end] else b"."
            longer = [text[:end] + point]
            longer += [text[:begin] + b"-"] if text[begin : begin + 1] == b"0" else []
            for each in longer:
                if (
                    not self.exhausted.intersection((each, each[:-1]))
                    and reached(self._probe, each) == len(each)
                    and not self._may_count(self._probe.note.item(n.STATE))
                    and self.is_exhausted(each)
                ):
                    self.exhausted.add(each)

    def _begins_seen(self, value: bytes) -> bool:
        return any(each.startswith(value) for each in self._seen)

    def any_move(self, text: bytes, leads_on: Callable[[bytes], bool]) -> bool:
        """Whether the item is over after a legal text or one byte more, or `leads_on` for one of the longer texts."""
        probe, memories = self._probe, len(self._probe.memories)
        array = np.frombuffer(text, np.uint8).copy()
        probe.reach(array)
        step = probe.commit(array, memories)
        try:
            return probe.depth <= self._frame or any(
                self._may_follow(byte) and (self._is_over or leads_on(text + byte))
                for byte in _following(probe)
            )
        finally:
            probe.undo(step)

    @property
    def _is_over(self) -> bool:
        """Whether the item ended in the last read."""
        return self._probe.note.item(n.LOWEST) < self._frame

    def _may_follow(self, byte: bytes) -> bool:
        spend(TEXT)
        probe, text = self._probe, np.frombuffer(byte, np.uint8).copy()
        memories = len(probe.memories)
        done, _ = probe.reach(text)
        legal = done == 1 and (self._is_over or not self._is_stuck(probe, text, self._begun))
        probe.memories.cut(memories)
        return legal

    def _exhausted_escapes(self, before: bytes, character: bytes) -> Iterator[tuple[bytes, bytes]]:
        """(`before`, an escape of the character, shortened as far as it stays exhausted) for each exhausted one."""
        for form in escapes(character):
            whole = before + form
            if reached(self._probe, whole) < len(whole):
                continue
            if not self.is_exhausted(whole):
                return
            size = len(form)
            while size > 1 and self.is_exhausted(whole[: len(before) + size - 1]):
                size -= 1
            yield before, form[:size]

    def _exhausted_mixed(self, text: bytes, offsets: list[int]) -> Iterator[bytes]:
        """The beginnings of a string that are exhausted if there is an escape in them, but not otherwise."""
        first, second, *_ = offsets
        spelled, is_exhausted = text[:first] + escapes(text[first:second])[0], False
        for size in offsets[1:]:
            whole = spelled + text[second:size]
            if text[:size] in self.exhausted or reached(self._probe, whole) < len(whole):
                return
            is_exhausted = is_exhausted or self.is_exhausted(whole)
            if is_exhausted:
                yield text[:size]

    def _may_count(self, state: int) -> bool:
        """Whether a digit other than 0 may follow in a number, after further zeros or at once."""
        machine = self._probe.machine
        number = machine.tables.states.item(state, LEAF)
        if number < 0:
            return True
        leaf = machine.leaves[number]
        todo, done = [state - leaf.base], set[int]()
        while todo:
            at = todo.pop()
            if any(leaf.dfa.step(at, byte) >= 0 for byte in b"123456789"):
                return True
            done.add(at)
            after = {leaf.dfa.step(at, byte) for byte in b"0.eE+-"}
            todo += [each for each in after - done if each >= 0]
        return False


def reached(probe: TextReader, text: bytes) -> int:
    """The number of bytes of a text that are legal, dead ends not considered."""
    spend(TEXT)
    versions = len(probe.memories)
    done, _ = probe.reach(np.frombuffer(text, np.uint8).copy())
    probe.memories.cut(versions)
    return done


def state_after(probe: TextReader, text: bytes) -> int:
    """The state after a text; -1 if it is not legal."""
    return probe.note.item(n.STATE) if reached(probe, text) == len(text) else -1


def has_one_spelling(probe: TextReader, text: bytes) -> bool:
    """Whether an item is a scalar in which no escape makes a difference."""
    if text[:1] == b'"':
        return text[1:2] == b'"' or not _is_spelled_apart(probe, text, 1)
    return text[:1] not in (b"[", b"{")


def has_endless_strings(probe: TextReader) -> bool:
    """Whether an item is a scalar, and no or infinitely many strings begin with an escape."""
    if any(reached(probe, bracket) for bracket in (b"[", b"{")):
        return False
    state = state_after(probe, b'"\\')
    number = -1 if state < 0 else probe.machine.tables.states.item(state, LEAF)
    if number < 0:
        return state < 0
    leaf = probe.machine.leaves[number]
    # Depth first; a state on the path that is reached again closes a cycle. Every state has an end.
    path, after, done = [state - leaf.base], [_targets(leaf.dfa, state - leaf.base)], set[int]()
    while path:
        if not after[-1]:
            done.add(path.pop())
            after.pop()
            continue
        target = after[-1].pop()
        if target in path:
            return True
        if target not in done:
            path.append(target)
            after.append(_targets(leaf.dfa, target))
    return False


def _targets(dfa: Dfa, state: int) -> set[int]:
    return {target for target in dfa.table[state].tolist() if target >= 0}


def _is_spelled_apart(probe: TextReader, text: bytes, begin: int) -> bool:
    """Whether an escape leads to another state than the character that begins a string at `begin` does."""
    before, character = text[:begin], first_character(text, begin)
    known = probe.machine.special.spelled_apart
    # All items begin in the state in which the reader is.
    place = -probe.state if begin == 1 else state_after(probe, before)
    found = known.get((place, character))
    if found is None:
        state = state_after(probe, before + escapes(character)[0])
        found = state not in (-1, state_after(probe, before + character))
        if len(known) < _MOST_KNOWN:
            known[place, character] = found
    return found


def _following(probe: TextReader) -> Iterator[bytes]:
    """The bytes that may be legal next, first the bytes that continue the innermost text."""
    machine, state = probe.machine, probe.state
    if machine.tables.states[state, ROW] < 0:
        machine.expand(state)
    tables = machine.tables
    classes = tables.alphabets[tables.states[state, ALPHABET]]
    moves = tables.cells[tables.states[state, ROW] + classes]
    on = moves > 0
    yield from (_ANY[byte : byte + 1] for byte in np.flatnonzero(on).tolist())
    if tables.states[state, OUTCOME] >= 0:  # a number, which ends with the next byte
        yield from (_AFTER_NUMBER[i : i + 1] for i in range(len(_AFTER_NUMBER)))
    others = ~on & (moves != DEAD) & (moves != LEAVE)
    yield from (_ANY[byte : byte + 1] for byte in np.flatnonzero(others).tolist())
