"""Spellings of JSON strings: each character may be written as itself or as an escape, and equal values are equal.

Does: write text with as few escapes as there can be, and list the escapes of a character. Does not: know grammars.
"""

import re
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
_UNFINISHED: Final = re.compile(rb"\\(?:u[0-9a-fA-F]{0,3})?\Z")

ESCAPED: Final = (
    *_SHORT.values(),
    *(b"\\u%04x" % code for code in range(0x20) if code not in _SHORT),
    b"\\ud800",
    b"\\udc00",
)
"""The characters that only escapes write: control characters, `"`, the backslash; one lone surrogate of each kind."""


def plain(text: bytes) -> bytes:
    """JSON text in which only what must be escaped is escaped, in one way. An unfinished escape at the end stays."""
    return _ESCAPE.sub(_unescaped, text) if b"\\" in text else text


def unfinished(text: bytes) -> int:
    """The offset at which an unfinished escape at the end of plain text begins; the length of the text for none."""
    at = 0
    while at < len(text):
        unit = _UNIT.match(text, at)
        if unit is None:
            found = _UNFINISHED.match(text, at)
            return len(text) if found is None else at
        at = unit.end()
    return at


def last_character(text: bytes) -> int | None:
    """The offset of the last character of plain text, if it stands within a string and is whole."""
    at, begun, inside = 0, 0, False
    while at < len(text):
        unit = _UNIT.match(text, at)
        if unit is None:
            return None
        begun, at = at, unit.end()
        if unit[0] == b'"':
            inside = not inside
            if at == len(text):
                return None
    return begun if inside else None


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
