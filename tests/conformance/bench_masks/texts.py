"""The JSON texts of a shape, read byte by byte: which bytes may come next, after each beginning of a text.

Does: read as a set of configurations, each a stack of frames; number the sets and remember where each byte leads. Does
not: translate schemas (`shapes`), know tokens (`oracle`).

The texts of the *lower* tree are plain: no white space, members in the order of the schema with others behind them,
numbers without exponents and without minus zero, escapes only where JSON needs them, no U+007F. Of the *upper* tree any
spelling counts: white space, any order, any escape (a string with one is no longer compared with anything), any
exponent after digits that are within the bounds. Names that repeat undeclared ones are not held against anybody.
"""

import json
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tests.conformance.bench_masks.shapes import (
    Array,
    Choice,
    Literal,
    Number,
    Object,
    Opaque,
    Shape,
    String,
)

Frame = tuple[Any, ...]
Config = tuple[Frame, ...]
DEAD: Final = -1
UNKNOWN: Final = -2
_SPACE: Final = b" \t\n\r"
_SHORT: Final = b'"\\bfnrt'
_OPAQUE: Final[Frame] = ("opaque",)
_LOOSE: Final = String()
_ANY: Final = 1  # instead of a name: spelled with an escape, so it may be any
_OTHER: Final = 2  # instead of a name: an undeclared one
_MOST_POWERS: Final = 40


class Texts:
    """The sets of configurations that beginnings of texts lead to. Set 0 is before the first byte."""

    def __init__(
        self, root: Shape, every: Shape, repeated: Iterable[str] = (), *, upper: bool
    ) -> None:
        """`every`: the shape of any value. `repeated`: names about which nothing is said where they are not declared.

        Those are the undeclared names of the instances: the lower tree would have to know which have come already.
        """
        self._upper, self._every = upper, every
        self._repeated = frozenset() if upper else frozenset(repeated)
        self._possible: dict[int, Shape] = {}
        self._spelled: dict[int, tuple[bytes, ...]] = {}
        self._sets: list[frozenset[Config]] = []
        self._numbers: dict[frozenset[Config], int] = {}
        self._sure: list[int] = []
        self._steps: dict[tuple[Config, int], tuple[Config, ...]] = {}
        self.moves: npt.NDArray[np.int32] = np.full((64, 256), UNKNOWN, np.int32)
        self._number(frozenset([(("value", root),)]))

    def _number(self, configs: frozenset[Config]) -> int:
        if not configs:
            return DEAD
        number = self._numbers.setdefault(configs, len(self._sets))
        if number == len(self._sets):
            self._sets.append(configs)
            if number == len(self.moves):
                self.moves = np.concatenate((self.moves, np.full_like(self.moves, UNKNOWN)))
        return number

    def step(self, number: int, byte: int) -> int:
        """The set after one byte, or `DEAD`."""
        found = int(self.moves[number, byte])
        if found == UNKNOWN:
            found = self._number(
                frozenset(new for old in self._sets[number] for new in self._step(old, byte))
            )
            self.moves[number, byte] = found
        return found

    def sure(self, number: int) -> int:
        """The set without the configurations inside a value about which nothing is said."""
        kept = frozenset(config for config in self._sets[number] if _OPAQUE not in config)
        return self._number(kept)

    @property
    def states(self) -> int:
        """The number of sets so far."""
        return len(self._sets)

    def all_sure(self) -> npt.NDArray[np.int64]:
        """int64 [sets + 1]: `sure` of every set, and `DEAD` for `DEAD` (the last)."""
        while len(self._sure) < len(self._sets):
            self._sure.append(self.sure(len(self._sure)))
        return np.array([*self._sure, DEAD], np.int64)

    def ends(self, number: int) -> bool:
        """Whether a text may end here."""
        return any(
            not config
            or (
                len(config) == 1
                and config[0][0] == "number"
                and _whole(config[0], upper=self._upper)
            )
            or config == (("exponent", "1"),)
            for config in self._sets[number]
        )

    def _step(self, config: Config, byte: int) -> tuple[Config, ...]:
        key = config, byte
        found = self._steps.get(key)
        if found is None:
            found = self._steps[key] = tuple(dict.fromkeys(map(_tidy, self._read(config, byte))))
        return found

    def _read(self, config: Config, byte: int) -> Iterator[Config]:
        if not config:
            if self._upper and byte in _SPACE:
                yield config
            return
        below, top = config[:-1], config[-1]
        if self._upper and byte in _SPACE and top[0] in ("value", "object", "array"):
            yield config
            return
        match top[0]:
            case "value":
                for frames in self._starts(top[1]):
                    yield from self._read(below + frames, byte)
            case "words":
                yield from self._words(below, top, byte)
            case "string":
                yield from self._string(below, top, byte)
            case "number":
                yield from self._digits(below, top, byte)
            case "exponent":
                last = top[1]
                if byte in b"+-" and last == "e":
                    yield (*below, ("exponent", "+"))
                elif chr(byte) in "0123456789":
                    yield (*below, ("exponent", "1"))
                elif last == "1":
                    yield from self._read(_tidy(below), byte)
            case "array":
                yield from self._array(below, top, byte)
            case "object":
                yield from self._object(below, top, byte)

    def _starts(self, shape: Shape) -> Iterator[tuple[Frame, ...]]:
        """The frames with which a value of a shape is read; the first byte of the value is not read yet."""
        words: list[bytes] = []
        for part in _parts(shape, set()):
            match part:
                case Literal(value):
                    words.append(written(value))
                case Number():
                    yield (("number", part, ""),)
                case String():
                    if self.possible(part):
                        yield (("string", part, None),)
                case Array():
                    yield (("array", part, "begin", 0),)
                case Object():
                    yield (("object", part, "begin", frozenset() if self._upper else 0, None),)
                case Opaque():
                    yield (_OPAQUE, ("value", self._every))
        if words:
            yield (("words", tuple(sorted(set(words))), b""),)

    def possible(self, shape: Shape, within: frozenset[int] = frozenset()) -> bool:
        """Whether a shape has a value; where that is hard to tell, yes for the upper tree and no for the lower one."""
        if id(shape) in self._possible:
            return True
        if id(shape) in within:
            return self._upper
        inner, found = within | {id(shape)}, True
        match shape:
            case Choice(parts):
                found = any(self.possible(part, inner) for part in parts)
            case Number():
                found = _meets(Fraction(-(10**_MOST_POWERS)), Fraction(10**_MOST_POWERS), shape)
            case String(least, most):
                found = most is None or least <= most
            case Array(_, _, least, most):
                places = range(min(least, len(shape.first) + 1))
                items = [shape.at(place) for place in places]
                found = (most is None or least <= most) and all(
                    item is not None and self.possible(item, inner) for item in items
                )
            case Object(named, required, _):
                found = all(self.possible(named[name], inner) for name in required)
        if found:
            self._possible[id(shape)] = shape
        return found

    def _words(self, below: Config, top: Frame, byte: int) -> Iterator[Config]:
        """One of several written values, or the rest of a name: `top` is (_, texts, read so far)."""
        _, texts, done = top
        done += bytes([byte])
        left = tuple(text for text in texts if text.startswith(done))
        if left == (done,) or done in left:
            yield self._named(below, done)
        if left and left != (done,):
            yield (*below, ("words", left, done))
        elif not left and self._upper and byte == 0x5C and done[:1] in (b'"',):
            yield (*below, ("string", _LOOSE, (0, "\\", None)))  # spelled otherwise

    def _named(self, below: Config, text: bytes) -> Config:
        """After a whole word; inside an object that waits for a name, it is the name."""
        below = _tidy(below)
        if below and below[-1][0] == "object" and below[-1][2] == "name":
            _, shape, _, done, _ = below[-1]
            return (*below[:-1], ("object", shape, "colon", done, json.loads(text)))
        return below

    def _string(self, below: Config, top: Frame, byte: int) -> Iterator[Config]:
        """A string; `top` is (_, shape, (characters, tail, name so far or None)), None before its quote.

        The tail is the unfinished character: "" or the bytes of an escape, or the bounds of the bytes to come. The name
        is kept while it begins a name that may not come here.
        """
        _, shape, at = top
        if at is None:
            if byte == 0x22:
                yield (*below, ("string", shape, (0, "", None)))
            return
        count, tail, name = at
        least, most = shape.least, shape.most
        for more, rest in _character(tail, byte, upper=self._upper):
            count_now = count + more
            if most is not None and count_now > most:
                return
            if most is None:
                count_now = min(count_now, least)
            if self._upper and tail == "" and byte == 0x5C:
                yield (*below, ("string", _LOOSE, (0, rest, None)))
                return
            kept = name + bytes([byte]) if name is not None else None
            if kept is not None and not any(t.startswith(kept) for t in self._barred(below)):
                kept = b'"'  # begins none of them
            yield (*below, ("string", shape, (count_now, rest, kept)))
        if tail == "" and byte == 0x22 and count >= least:
            yield from self._closed(below, name)

    def _closed(self, below: Config, name: bytes | None) -> Iterator[Config]:
        """After the closing quote of a string, which may be an undeclared name."""
        if not below or below[-1][0] != "object" or below[-1][2] != "name":
            yield below
        elif name is None or name not in self._barred(below):
            _, shape, _, done, _ = below[-1]
            yield (*below[:-1], ("object", shape, "colon", done, _ANY if name is None else _OTHER))

    def _barred(self, below: Config) -> tuple[bytes, ...]:
        """The names, as they are written, that an undeclared name may not be."""
        shape = below[-1][1]
        found = self._spelled.get(id(shape))
        if found is None:
            names = {*shape.named, *self._repeated}
            found = self._spelled[id(shape)] = tuple(written(name)[1:-1] for name in names)
        return found

    def _digits(self, below: Config, top: Frame, byte: int) -> Iterator[Config]:
        _, shape, text = top
        more = text + chr(byte)
        if chr(byte) in "-.0123456789" and _viable(more, shape, upper=self._upper):
            yield (*below, ("number", shape, _short(more, shape)))
        elif text and _whole(top, upper=self._upper):
            yield from self._read(_tidy(below), byte)
        if self._upper and byte in b"eE" and text[-1:].isdigit():
            yield (*below, ("exponent", "e"))

    def _array(self, below: Config, top: Frame, byte: int) -> Iterator[Config]:
        _, shape, phase, count = top
        if phase == "begin":
            if byte == 0x5B:
                yield (*below, ("array", shape, "open", 0))
            return
        item = shape.at(count)
        able = item is not None and self.possible(item)
        if phase in ("open", "next") and able:
            bound = max(len(shape.first), shape.least, shape.most or 0)
            after = ("array", shape, "after", min(count + 1, bound + 1))
            yield from self._read((*below, after, ("value", item)), byte)
        if byte == 0x5D and phase != "next" and count >= shape.least:
            yield below
        if byte == 0x2C and phase == "after" and able:
            yield (*below, ("array", shape, "next", count))

    def _object(self, below: Config, top: Frame, byte: int) -> Iterator[Config]:
        _, shape, phase, done, name = top
        if phase == "begin":
            if byte == 0x7B:
                yield (*below, ("object", shape, "open", done, None))
        elif phase == "colon":
            if byte == 0x3A:
                value = self._every if name is _ANY else shape.named.get(name, shape.rest)
                after = self._after(shape, done, name)
                yield (*below, ("object", shape, "after", after, None), ("value", value))
        elif byte == 0x7D and phase in ("open", "after") and self._complete(shape, done):
            yield below
        elif byte == 0x22 and phase in ("open", "next"):
            yield from self._names(below, shape, done)
        elif byte == 0x2C and phase == "after" and self._goes_on(shape, done):
            yield (*below, ("object", shape, "next", done, None))

    def _goes_on(self, shape: Object, done: Any) -> bool:
        """Whether one more member may come."""
        return bool(self._declared(shape, done)) or self._others(shape, done)

    def _names(self, below: Config, shape: Object, done: Any) -> Iterator[Config]:
        """After the quote that opens a name."""
        waiting = (*below, ("object", shape, "name", done, None))
        names = self._declared(shape, done)
        if names:
            yield (*waiting, ("words", tuple(sorted(map(written, names))), b'"'))
        if self._others(shape, done):
            yield (*waiting, ("string", _LOOSE, (0, "", b"")))
            known = self._repeated - shape.named.keys()
            if known:
                yield (*waiting, _OPAQUE, ("words", tuple(sorted(map(written, known))), b'"'))

    def _complete(self, shape: Object, done: Any) -> bool:
        if self._upper:
            return bool(shape.required <= done)
        return not any(name in shape.required for name in list(shape.named)[done:])

    def _declared(self, shape: Object, done: Any) -> list[str]:
        """The declared names that may come next."""
        if self._upper:
            return [n for n, value in shape.named.items() if n not in done and self.possible(value)]
        found = []
        for name in list(shape.named)[done:]:
            if self.possible(shape.named[name]):
                found.append(name)
            if name in shape.required:
                break
        return found

    def _others(self, shape: Object, done: Any) -> bool:
        """Whether another name may come next."""
        if shape.rest is None or not self.possible(shape.rest):
            return False
        return self._upper or self._complete(shape, done)

    def _after(self, shape: Object, done: Any, name: Any) -> Any:
        if self._upper:
            return done | {name} if name in shape.named else done
        return list(shape.named).index(name) + 1 if name in shape.named else len(shape.named)


def written(value: Any) -> bytes:
    """The plain text of a value."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _tidy(config: Config) -> Config:
    """Without the marks of opaque values that are over."""
    while config and config[-1] == _OPAQUE:
        config = config[:-1]
    return config


def _parts(shape: Shape, within: set[int]) -> Iterable[Shape]:
    if not isinstance(shape, Choice):
        yield shape
    elif id(shape) not in within:
        within.add(id(shape))
        for part in shape.parts:
            yield from _parts(part, within)


def _character(tail: Any, byte: int, *, upper: bool) -> Iterator[tuple[int, Any]]:
    """(characters begun, the new tail) for one more byte of a string, if it may come."""
    if tail == "":
        if byte == 0x5C:
            yield 1, "\\"
        elif 0x20 <= byte < (0x80 if upper else 0x7F) and byte != 0x22:
            yield 1, ""
        elif 0xC2 <= byte < 0xF5:  # UTF-8: (bytes to come, bounds of the next one)
            low = {0xE0: 0xA0, 0xF0: 0x90}.get(byte, 0x80)
            high = {0xED: 0x9F, 0xF4: 0x8F}.get(byte, 0xBF)
            yield 1, (1 + (byte >= 0xE0) + (byte >= 0xF0), low, high)
    elif tail == "\\":
        if byte in _SHORT or (upper and byte == 0x2F):
            yield 0, ""
        elif upper and byte == 0x75:
            yield 0, "u"
    elif isinstance(tail, str):
        if chr(byte) in "0123456789abcdefABCDEF":
            yield 0, "" if len(tail) == 4 else tail + "u"
    elif tail[1] <= byte <= tail[2]:
        yield 0, "" if tail[0] == 1 else (tail[0] - 1, 0x80, 0xBF)


def _whole(frame: Frame, *, upper: bool) -> bool:
    """Whether a number may end here."""
    _, shape, text = frame
    if not text[-1:].isdigit() or (not upper and "-" in text and not text.strip("~-0.")):
        return False
    if text.startswith("~"):  # shortened: without bounds
        return True
    value = Fraction(text)
    below = shape.low is not None and (value < shape.low or (value == shape.low and shape.open[0]))
    above = shape.high is not None and (
        value > shape.high or (value == shape.high and shape.open[1])
    )
    return not below and not above and (not shape.integer or value.denominator == 1)


def _short(text: str, shape: Number) -> str:
    """The text of a number, shortened where no bound depends on its digits."""
    if shape.low is not None or shape.high is not None:
        return text
    text = text.lstrip("~")
    whole, point, rest = text.partition(".")
    if whole not in ("-", "0", "-0"):
        whole = whole[:-1].rstrip("0123456789") + "1" if whole.strip("-") else whole
    return "~" + whole + point + rest[-1:]


def _viable(text: str, shape: Number, *, upper: bool) -> bool:
    """Whether a text is the beginning of a number of this shape, without an exponent."""
    text = text.lstrip("~")
    digits = text.removeprefix("-")
    whole, point, rest = digits.partition(".")
    if (
        "-" in digits
        or "." in rest
        or (point and not whole)
        or (len(whole) > 1 and whole[0] == "0")
    ):
        return False
    if point and shape.integer and (not upper or rest.strip("0")):
        return False
    if not upper and shape.integer and text.startswith("-0"):
        return False
    if shape.low is None and shape.high is None:
        return True
    sign = -1 if text.startswith("-") else 1
    if not whole:
        low, high = Fraction(0), Fraction(10**_MOST_POWERS)
        if not upper and sign < 0:
            return _meets(-high, Fraction(-1, 10**_MOST_POWERS), shape)
        return _meets(low, high, shape) if sign > 0 else _meets(-high, low, shape)
    number = Fraction(whole + "." + (rest or "0"))
    powers = range(_MOST_POWERS if number and not point else 1)
    for power in powers:
        low = number * 10**power
        high = low if point and shape.integer else low + Fraction(10**power, 10 ** len(rest))
        high -= 0 if low == high else 1 if shape.integer else Fraction(1, 10**_MOST_POWERS)
        if _meets(low, high, shape) if sign > 0 else _meets(-high, -low, shape):
            return True
    return False


def _meets(low: Fraction, high: Fraction, shape: Number) -> bool:
    """Whether a number of the shape lies between two others, both included."""
    least, most = low, high
    if shape.low is not None:
        least = max(least, shape.low)
    if shape.high is not None:
        most = min(most, shape.high)
    if shape.integer:
        first, last = -((-least) // 1), most // 1
        if shape.low is not None and shape.open[0] and first == shape.low:
            first += 1
        if shape.high is not None and shape.open[1] and last == shape.high:
            last -= 1
        return first <= last
    if least != most:
        return least < most
    excluded = (shape.open[0] and least == shape.low) or (shape.open[1] and most == shape.high)
    return not excluded
