"""Outputs that repeat themselves for ever inside one value, found by the period of their tokens.

Does: watch the tokens of one output under a JSON Schema, and say which tokens end the value that loops: a string, an
array of equal items, or containers nested without end. Does not: change the output (`closing.Following`), or stop
numbers: their digits are bounded by the grammar (`Constraint.short_numbers`).

Repetition that the prompt holds is copied and not looping: a string that stands in it, items that it has as often.
Work: some hash look-ups a token; the text is looked at only where the tokens repeat.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from .nesting import Nesting
from .repetition import Repetition, repetition

_STRIDE: Final = 4  # tokens between two looks
_WINDOW: Final = 64  # tokens that every look takes in; every second one twice as many, every fourth four times, ...
_TIMES: Final = 4
_FEWEST: Final = 24  # tokens of a string that loops
_LOWEST: Final = 10  # the same in an output that has looped before
_FEWEST_OF_ITEMS: Final = 48  # tokens of items that loop
_FEWEST_ITEMS: Final = 8
_MOST_CLOSING: Final = 24  # tokens; a value that cannot be ended within them goes on
_MOST_CHARACTERS: Final = 4096  # of a string whose repetition is compared with the prompt
_COMMA: Final = ord(",")
_ARRAY: Final = ord("[")
_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*"(\s*:)?')
_NUMBER: Final = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


class _Loop(NamedTuple):
    """What is to be ended: the open string, or all containers above `height`; `items`: those of an array."""

    height: int
    in_string: bool = False
    items: bool = False


class LoopWatch:
    """Watches one output. `texts`: the bytes of each token, None where it has none. `prompt`: what it answers."""

    def __init__(self, texts: Sequence[bytes | None], prompt: Sequence[int]) -> None:
        self._texts = texts
        self._prompt = prompt
        self._tokens: list[int] = []
        self._begun = 0  # tokens before are those of loops that were ended
        self._fewest = _FEWEST
        self._looks = 0
        self._due = _FEWEST
        self._found: Repetition | None = None
        self._waits = 0  # for a better place to end an array

    def push(self, tokens: Iterable[int]) -> bool:
        """Take note of tokens that were accepted; whether they may be a loop, so that `closing` is to be asked."""
        self._tokens += tokens
        if len(self._tokens) < self._due:
            return False
        self._due = len(self._tokens) + _STRIDE
        self._looks += 1
        window = _WINDOW * (self._looks & -self._looks)
        if self._waits and self._found is not None:
            window = max(window, self._found.length)
        tail = self._tokens[max(self._begun, len(self._tokens) - window) :]
        self._found = None
        if _may_repeat(tail, self._fewest):
            self._found = repetition(tail, least=self._fewest, times=_TIMES)
        return self._found is not None

    def closing(self, way: Sequence[int]) -> tuple[int, ...]:
        """The first tokens of `way`, a short way to the end of the output, that end the value that loops.

        A token that would go on beyond the value is taken apart into those of single bytes. No tokens where nothing
        loops, or where the value cannot be ended yet.
        """
        found = self._found
        if found is None:
            return ()
        text, length = self._text(self._tokens), len(self._text(self._tokens[-found.length :]))
        here = Nesting()
        for byte in text[:-length]:
            here.feed(byte)
        loop = self._loop(found, text, length, here)
        closing = () if loop is None else self._until(loop, here, way)
        if loop is None or not closing:
            # The longer it has gone on for a good reason, the later it is looked at again.
            self._due = len(self._tokens) + max(_STRIDE, found.length // 4)
            self._waits = 0
        elif loop.items and len(closing) > 1 and self._waits < found.period:
            self._due = len(self._tokens) + 1  # ended here, the array would get an item more
            self._waits += 1
            closing = ()
        return closing

    def closed(self, tokens: Iterable[int]) -> None:
        """A value was ended; `tokens` did it, and followed of necessity."""
        self._tokens += tokens
        self._begun = len(self._tokens)
        self._due = self._begun + _LOWEST + _STRIDE  # what begins the next value does not repeat
        self._fewest = _LOWEST
        self._found, self._waits = None, 0

    def _loop(self, found: Repetition, text: bytes, length: int, here: Nesting) -> _Loop | None:
        """What loops, if anything does. `here` goes on to the end of `text`, along the `length` bytes that repeat."""
        before, lowest, commas = here.height, here.height, 0
        for byte in text[-length:]:
            here.feed(byte)
            if here.height < lowest:
                lowest, commas = here.height, 0
            commas += byte == _COMMA and here.string is None and here.height == lowest
        if here.string is not None and self._is_looping(found, text[here.string + 1 :]):
            return _Loop(here.height, in_string=True)
        if found.length < _FEWEST_OF_ITEMS:
            return None
        if commas + 1 >= _FEWEST_ITEMS and lowest and here.open[lowest - 1] == _ARRAY:
            known = self._is_in_prompt(text, len(text) - length, commas + 1)
            return None if known else _Loop(lowest - 1, items=True)
        deeper = here.height - before
        return _Loop(before) if lowest == before and deeper + 1 >= found.times else None

    def _is_looping(self, found: Repetition, inside: bytes) -> bool:
        """Whether the repetition lies in the open string, of which `inside` is there, and is not copied."""
        room, tokens = len(inside), 0
        while tokens < found.length and room >= 0:
            tokens += 1
            room -= len(self._texts[self._tokens[-tokens]] or b"")
        tokens -= room < 0
        if tokens < max(self._fewest, _TIMES * found.period):
            return False
        said = _unescaped(inside)[-_MOST_CHARACTERS:]
        repeated = repetition(said, least=_TIMES, times=_TIMES)
        return repeated is None or said[-repeated.length :] not in self._asked

    def _is_in_prompt(self, text: bytes, since: int, items: int) -> bool:
        """Whether the prompt holds a value of the items as often as they repeat it.

        Of items without any value that stands in the prompt, there may be as many as it has lines.
        """
        strings = [match for match in _STRING.finditer(text) if match.start() >= since]
        values = Counter(_unescaped(m.group()[1:-1]) for m in strings if m.group(1) is None)
        values.pop("", None)
        plain = _STRING.sub(b'""', text[since:])
        values.update(number.decode() for number in _NUMBER.findall(plain))
        counts = {value: self._asked.count(value) for value in values}
        if any(counts[value] >= times for value, times in values.items()):
            return True
        lines = sum(1 for line in self._asked.splitlines() if line.strip())
        return not any(counts.values()) and items <= lines

    def _until(self, loop: _Loop, here: Nesting, way: Sequence[int]) -> tuple[int, ...]:
        """The first tokens of `way` that end `loop`; none if they are too many, or another item has to come."""
        taken: list[int] = []
        most = _MOST_CLOSING if loop.items or loop.in_string else _MOST_CLOSING + len(here.open)
        for token in way[:most]:
            text = self._texts[token]
            if text is None:
                return ()
            for at, byte in enumerate(text, 1):
                here.feed(byte)
                if here.string is not None:
                    continue
                if loop.in_string or here.height <= loop.height:
                    return (*taken, *self._begin(token, at))
                if loop.items and byte == _COMMA and here.height == loop.height + 1:
                    return ()
            taken.append(token)
        return ()

    def _begin(self, token: int, count: int) -> tuple[int, ...]:
        """Tokens of the first `count` bytes of a token; the token itself where there are none."""
        text = self._texts[token] or b""
        if count == len(text):
            return (token,)
        parts = [self._singles.get(text[at : at + 1]) for at in range(count)]
        return (token,) if None in parts else tuple(part for part in parts if part is not None)

    @cached_property
    def _singles(self) -> dict[bytes, int]:
        return {text: token for token, text in enumerate(self._texts) if text and len(text) == 1}

    @cached_property
    def _asked(self) -> str:
        return self._text(self._prompt).decode("utf-8", "replace")

    def _text(self, tokens: Sequence[int]) -> bytes:
        return b"".join([self._texts[token] or b"" for token in tokens])


def _may_repeat(tail: Sequence[int], least: int) -> bool:
    """Whether some end of `tail`, of `least` tokens or more, has so few different ones that it may repeat itself.

    Asked before the search, which takes longer. Not of the whole tail alone: names and marks before the value have
    many different tokens, and a loop would have to be four times as long as these.
    """
    size = least
    while size < len(tail):
        if len(set(tail[-size:])) * _TIMES <= size:
            return True
        size *= 2
    return len(set(tail)) * _TIMES <= len(tail)


def _unescaped(inside: bytes) -> str:
    """What stands between the quotes of a string that may not have ended."""
    for missing in range(7):  # of an escape that is cut
        try:
            text: str = json.loads(b'"' + inside[: len(inside) - missing] + b'"')
        except ValueError:
            continue
        return text
    return inside.decode("utf-8", "replace")
