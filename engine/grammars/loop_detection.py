"""Detection of endless repetition inside one value of an output, by the period of its tokens.

Does: watch the tokens of one output under a JSON Schema, and choose the tokens that end the looping value: a string, an
object with a looping name, an array of equal items, or endlessly nested containers. Does not: change the output
(`budgeted_matcher.BudgetedMatcher`), or handle numbers: the grammar bounds their digits (`Constraint.short_numbers`).

Repetition that the prompt contains is copied and no loop: a string that occurs in it, items that occur as often in it.
Cost: some hash look-ups per token; the text is examined only where the tokens repeat.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from .nesting import Nesting
from .repetition import Repetition, repetition

_STRIDE: Final = 4  # tokens between two examinations
_WINDOW: Final = 64  # tokens of an examination; twice as many of every second one, four times of every fourth, ...
_TIMES: Final = 4  # the fewest periods of a repetition
_FEWEST: Final = 24  # tokens of a looping string
_FEWEST_LATER: Final = 10  # the same in an output that has looped before
_FEWEST_OF_ITEMS: Final = 48  # tokens of looping items
_FEWEST_ITEMS: Final = 8  # looping items
_MOST_CLOSING: Final = 24  # tokens; a value that cannot be ended within them is not ended
_MOST_CHARACTERS: Final = 4096  # compared with the prompt, of a repeated string
_COMMA: Final = ord(",")
_ARRAY: Final = ord("[")
_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*"(\s*:)?')
_NUMBER: Final = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


class _Loop(NamedTuple):
    """The value to end: the open string, or all containers above `height`.

    `items`: the items of an array. `name`: a property name, to be ended with its object.
    """

    height: int
    in_string: bool = False
    items: bool = False
    name: bool = False


class LoopWatch:
    """The loop detection of one output. `texts`: the bytes of each token, None for tokens without."""

    def __init__(self, texts: Sequence[bytes | None], prompt: Sequence[int]) -> None:
        self._texts = texts
        self._prompt = prompt
        self._tokens: list[int] = []
        self._begun = 0  # tokens before this index belong to loops that were ended
        self._fewest = _FEWEST
        self._examinations = 0
        self._due = _FEWEST
        self._found: Repetition | None = None
        self._deferred = 0  # steps by which the end of an array was deferred to a better place

    def push(self, tokens: Iterable[int]) -> bool:
        """Record accepted tokens; whether they may be a loop, so that `closing` is to be called."""
        self._tokens += tokens
        if len(self._tokens) < self._due:
            return False
        self._due = len(self._tokens) + _STRIDE
        self._examinations += 1
        window = _WINDOW * (self._examinations & -self._examinations)
        if self._deferred and self._found is not None:
            window = max(window, self._found.length)
        tail = self._tokens[max(self._begun, len(self._tokens) - window) :]
        self._found = None
        if _may_repeat(tail, self._fewest):
            self._found = repetition(tail, least=self._fewest, times=_TIMES)
        return self._found is not None

    def closing(self, completion: Sequence[int]) -> tuple[int, ...]:
        """The first tokens of `completion`, a short one of the output, that end the looping value.

        A token that extends beyond the value is split into tokens of single bytes. Empty where nothing loops, or where
        the value cannot be ended yet.
        """
        found = self._found
        if found is None:
            return ()
        text, length = self._text(self._tokens), len(self._text(self._tokens[-found.length :]))
        nesting = Nesting()
        for byte in text[:-length]:
            nesting.feed(byte)
        loop = self._loop(found, text, length, nesting)
        closing = () if loop is None else self._until(loop, nesting.copy(), completion)
        if loop is not None and loop.name and not closing:  # its object needs other properties
            closing = self._until(_Loop(nesting.height, in_string=True), nesting, completion)
        if loop is None or not closing:
            # The longer a legitimate repetition is, the later it is examined again.
            self._due = len(self._tokens) + max(_STRIDE, found.length // 4)
            self._deferred = 0
        elif loop.items and len(closing) > 1 and self._deferred < found.period:
            self._due = len(self._tokens) + 1  # ending it now would add an item to the array
            self._deferred += 1
            closing = ()
        return closing

    def closed(self, tokens: Iterable[int]) -> None:
        """Record that a value was ended by `tokens`, forced tokens after it included."""
        self._tokens += tokens
        self._begun = len(self._tokens)
        # The beginning of the next value is not taken for a repetition.
        self._due = self._begun + _FEWEST_LATER + _STRIDE
        self._fewest = _FEWEST_LATER
        self._found, self._deferred = None, 0

    def _loop(self, found: Repetition, text: bytes, length: int, nesting: Nesting) -> _Loop | None:
        """The loop, if there is one. Advances `nesting` to the end of `text`, by the `length` bytes that repeat."""
        before, lowest, commas = nesting.height, nesting.height, 0
        for byte in text[-length:]:
            nesting.feed(byte)
            if nesting.height < lowest:
                lowest, commas = nesting.height, 0
            commas += byte == _COMMA and nesting.string is None and nesting.height == lowest
        if nesting.string is not None and self._is_looping(found, text[nesting.string + 1 :]):
            # Names that the schema does not declare would loop again, one after the other.
            if nesting.is_name(text):
                return _Loop(nesting.height - 1, name=True)
            return _Loop(nesting.height, in_string=True)
        if found.length < _FEWEST_OF_ITEMS:
            return None
        if commas + 1 >= _FEWEST_ITEMS and lowest and nesting.open[lowest - 1] == _ARRAY:
            known = self._is_in_prompt(text, len(text) - length, commas + 1)
            return None if known else _Loop(lowest - 1, items=True)
        deeper = nesting.height - before
        return _Loop(before) if lowest == before and deeper + 1 >= found.times else None

    def _is_looping(self, found: Repetition, inside: bytes) -> bool:
        """Whether the repetition is in the open string, with the contents `inside`, and is not copied."""
        room, tokens = len(inside), 0
        while tokens < found.length and room >= 0:
            tokens += 1
            room -= len(self._texts[self._tokens[-tokens]] or b"")
        tokens -= room < 0
        if tokens < max(self._fewest, _TIMES * found.period):
            return False
        value = _unescaped(inside)[-_MOST_CHARACTERS:]
        repeated = repetition(value, least=_TIMES, times=_TIMES)
        return repeated is None or value[-repeated.length :] not in self._prompt_text

    def _is_in_prompt(self, text: bytes, since: int, items: int) -> bool:
        """Whether the prompt contains a value of the items as often as the items repeat it.

        Items without any value from the prompt may be as many as the prompt has lines.
        """
        strings = [match for match in _STRING.finditer(text) if match.start() >= since]
        values = Counter(_unescaped(m.group()[1:-1]) for m in strings if m.group(1) is None)
        values.pop("", None)
        plain = _STRING.sub(b'""', text[since:])
        values.update(number.decode() for number in _NUMBER.findall(plain))
        counts = {value: self._prompt_text.count(value) for value in values}
        if any(counts[value] >= times for value, times in values.items()):
            return True
        lines = sum(1 for line in self._prompt_text.splitlines() if line.strip())
        return not any(counts.values()) and items <= lines

    def _until(self, loop: _Loop, nesting: Nesting, completion: Sequence[int]) -> tuple[int, ...]:
        """The first tokens of `completion` that end `loop`; empty if they are too many, or another item must follow."""
        taken: list[int] = []
        most = _MOST_CLOSING if loop.items or loop.in_string else _MOST_CLOSING + len(nesting.open)
        for token in completion[:most]:
            text = self._texts[token]
            if text is None:
                return ()
            for at, byte in enumerate(text, 1):
                nesting.feed(byte)
                if nesting.string is not None:
                    continue
                if loop.in_string or nesting.height <= loop.height:
                    return (*taken, *self._begin(token, at))
                is_next_item = byte == _COMMA and nesting.height == loop.height + 1
                if (loop.items or loop.name) and is_next_item:
                    return ()
            taken.append(token)
        return ()

    def _begin(self, token: int, count: int) -> tuple[int, ...]:
        """Tokens of single bytes for the first `count` bytes of a token; the token itself where one is missing."""
        text = self._texts[token] or b""
        if count == len(text):
            return (token,)
        parts = [self._singles.get(text[at : at + 1]) for at in range(count)]
        return (token,) if None in parts else tuple(part for part in parts if part is not None)

    @cached_property
    def _singles(self) -> dict[bytes, int]:
        return {text: token for token, text in enumerate(self._texts) if text and len(text) == 1}

    @cached_property
    def _prompt_text(self) -> str:
        return self._text(self._prompt).decode("utf-8", "replace")

    def _text(self, tokens: Sequence[int]) -> bytes:
        return b"".join([self._texts[token] or b"" for token in tokens])


def _may_repeat(tail: Sequence[int], least: int) -> bool:
    """Whether a suffix of `tail`, of at least `least` tokens, has so few distinct tokens that it may repeat itself.

    A filter before the search, which takes longer. It tests several suffixes, not the whole tail only: names and
    punctuation before the value have many distinct tokens, and a loop would have to be four times as long as these.
    """
    size = least
    while size < len(tail):
        if len(set(tail[-size:])) * _TIMES <= size:
            return True
        size *= 2
    return len(set(tail)) * _TIMES <= len(tail)


def _unescaped(inside: bytes) -> str:
    """The value of a string, from the bytes after its opening quote; the string may be incomplete."""
    for missing in range(7):  # bytes of an incomplete escape
        try:
            text: str = json.loads(b'"' + inside[: len(inside) - missing] + b'"')
        except ValueError:
            continue
        return text
    return inside.decode("utf-8", "replace")
