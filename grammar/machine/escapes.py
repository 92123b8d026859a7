"""Spellings of JSON: a character may be written as itself or as an escape, a number with zeros that change nothing.

Does: write text with as few escapes and zeros as there can be, and list the escapes of a character. Does not: know
grammars, or bring the members of an object in order.
"""

import re
from collections.abc import Iterator
from itertools import product
from typing import Final

_SHORT: Final = {
    ord('"'): b'\\"', ord("\\"): b"\\\\", 8: b"\\b", 12: b"\\f", 10: b"\\n", 13: b"\\r", 9: b"\\t",
}  # fmt: skip
_HIGH, _LOW, _ASTRAL = 0xD800, 0xDC00, 0x10000
_ESCAPE: Final = re.compile(
    rb"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|([^u]))",
    re.DOTALL,
)
_UNIT: Final = re.compile(
    rb"\\u[0-9a-f]{4}|\\[^u]|[\x00-\x5b\x5d-\x7f]|[\xc2-\xdf].|[\xe0-\xef]..|[\xf0-\xf4]...",
    re.DOTALL,
)
_UNFINISHED: Final = re.compile(
    rb"\\(?:u[0-9a-fA-F]{0,3}|u[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u[0-9a-fA-F]{0,3})?)?)?\Z"
)
_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_LONG_NUMBER: Final = re.compile(rb"[0-9][.eE]|-0")  # may be one
_NUMBER_OR_STRING: Final = re.compile(
    rb"""(-?[0-9]+)(\.[0-9]*)?([eE][-+]?[0-9]*)?(\Z)?|"(?:[^"\\]|\\.)*+"?|-\Z""", re.DOTALL
)


def plain(text: bytes) -> bytes:
    """JSON text in which only what must be escaped is escaped, in one way, and no number has needless zeros.

    An unfinished escape at the end stays, and so does a number, which more digits may follow.
    """
    written = _ESCAPE.sub(_unescaped, text) if b"\\" in text else text
    return _shortened(written, b"") if _LONG_NUMBER.search(written) else written


def settled(text: bytes) -> bytes:
    """Plain text, with a number at its end written as if only zeros were to follow."""
    return _shortened(text, text[-1:]) if text[-1:] in b"0123456789.eE+-" else text


def _shortened(text: bytes, last: bytes) -> bytes:
    """The text without needless zeros; in a number at its end only if `last` is not empty."""

    def short(found: re.Match[bytes]) -> bytes:
        whole, fraction, exponent, ends = found.groups()
        if whole is None:
            return b"" if last and found[0] == b"-" else found[0]
        if (ends is not None and not last) or (exponent or b"").strip(b"eE+-0"):
            return found[0]
        digits = (fraction or b"").rstrip(b"0").rstrip(b".")
        return b"0" if whole == b"-0" and not digits else whole + digits

    return _NUMBER_OR_STRING.sub(short, text)


def unfinished(text: bytes) -> int:
    """The offset at which an unfinished escape at the end of plain text begins; the length of the text for none.

    The first half of a pair of surrogates is unfinished, too.
    """
    if b"\\" not in text:
        return len(text)
    at = 0
    while at < len(text) and _UNFINISHED.match(text, at) is None:
        unit = _UNIT.match(text, at)
        if unit is None:
            return len(text)
        at = unit.end()
    return at


def strings(text: bytes) -> Iterator[tuple[int, int]]:
    """(offset of the first character, offset of the closing quote) of each string in the text of a JSON value."""
    at = text.find(b'"')
    while at >= 0:
        found = _STRING.match(text, at)
        assert found is not None
        yield at + 1, found.end() - 1
        at = text.find(b'"', found.end())


def first_character(text: bytes, at: int) -> bytes:
    """The character of plain text at an offset within a string."""
    unit = _UNIT.match(text, at)
    assert unit is not None
    return unit[0]


def characters(text: bytes) -> Iterator[int]:
    """The offsets of the characters of a plain string without its quotes, and that of its end."""
    at = 0
    yield at
    while at < len(text) and (unit := _UNIT.match(text, at)) is not None:
        at = unit.end()
        yield at


def numbers(text: bytes) -> Iterator[tuple[int, int]]:
    """(offset, offset of its end) of each number in JSON text."""
    for found in _NUMBER_OR_STRING.finditer(text):
        if found[1] is not None:
            yield found.span()


def is_respelled(text: bytes, size: int) -> bool:
    """Whether a needless escape stands before the first `size` bytes of what is plain, in the string they end in."""
    at, plain_size, inside, respelled = 0, 0, False, False
    while plain_size < size:
        unit = _ESCAPE.match(text, at) or _UNIT.match(text, at)
        if unit is None:
            break
        written = plain(unit[0]) if unit[0][:1] == b"\\" else unit[0]
        if written == b'"':
            inside, respelled = not inside, False
        respelled = respelled or (inside and written != unit[0])
        at, plain_size = unit.end(), plain_size + len(written)
    return respelled


def escapes(character: bytes) -> tuple[bytes, ...]:
    """All ways to write a character of plain text as an escape, but for the one that `plain` writes."""
    code = _code(character)
    if code >= _ASTRAL:
        pair = _HIGH + (code - _ASTRAL >> 10), _LOW + (code - _ASTRAL & 0x3FF)
        return (b"\\u%04x\\u%04x" % pair, b"\\u%04X\\u%04X" % pair)
    cases = ({digit, digit.upper()} for digit in f"{code:04x}")
    forms = [b"\\u" + "".join(digits).encode() for digits in product(*map(sorted, cases))]
    return tuple(
        form for form in (*forms, *([b"\\/"] if code == ord("/") else [])) if form != character
    )


def _code(character: bytes) -> int:
    if not character.startswith(b"\\"):
        return ord(character.decode())
    if len(character) > 2:
        return int(character[2:], 16)
    return next(code for code, short in _SHORT.items() if short == character)


def _unescaped(found: re.Match[bytes]) -> bytes:
    high, low, code, short = found.groups()
    if short is not None:
        return b"/" if short == b"/" else found[0]
    if high is not None:
        value = _ASTRAL + (int(high, 16) - _HIGH << 10) + int(low, 16) - _LOW
        return chr(value).encode()
    value = int(code, 16)
    if value in _SHORT:
        return _SHORT[value]
    if value < ord(" ") or _HIGH <= value < _HIGH + 0x800:
        return b"\\u%04x" % value
    return chr(value).encode()
