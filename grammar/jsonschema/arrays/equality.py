"""Equality of JSON values, independent of spelling, even while one of them is still being written.

Does: give the key by which items are compared, and determine how a begun value can continue and end. Does not: parse
values (`read.values`), or know masks.
"""

import re
from collections.abc import Hashable, Iterable, Iterator
from functools import lru_cache
from typing import Final

from ...contract.errors import GrammarError
from ...machine.rule import Comparison
from ..read.values import canonical, read

_QUOTED: Final = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_PLAIN: Final = re.compile(rb"[-+.0-9A-Za-z]+")
_NESTED: Final = re.compile(rb'"(?:[^"\\]|\\.)*("?)|[][{}]', re.DOTALL)
# Texts with several spellings: escapes, numbers that are not whole, and minus zero.
_MANIFOLD: Final = re.compile(rb"\\|[0-9][.eE]|-0")
_NUMERIC: Final = b"-0123456789"
_SHORT: Final = 32  # bytes; the keys of longer texts are not cached
# Bound for numbers in outputs: their exponents have at most three digits; see `leaves.numbers`.
MOST_EXPONENT: Final = 4_000


class Equality(Comparison):
    """Equality of JSON values. `any_order`: whether the members of an object are written in any order."""

    def __init__(self, *, any_order: bool = False) -> None:
        self._any_order = any_order

    @property
    def any_order(self) -> bool:
        """See `Comparison`."""
        return self._any_order

    def key(self, text: bytes) -> Hashable:
        """A key that is equal for equal values. A value nested too deeply to be parsed equals only its own spelling."""
        return _short_key(text) if len(text) <= _SHORT else _key(text)

    def alike(self, begun: bytes, written: bytes) -> bool:
        """See `Comparison.alike`: values of different kinds never become equal, nor strings that begin differently."""
        if begun[:1] == b'"':
            return (
                written.startswith(begun) if b"\\" not in begun + written else written[:1] == b'"'
            )
        return begun == b"" or _kind(begun) == _kind(written)

    def rest(self, begun: bytes, written: bytes) -> bytes | None:
        """See `Comparison.rest`: known for strings without escapes."""
        plain = begun[:1] == b'"' and b"\\" not in begun + written
        return written[len(begun) :] if plain else None

    def ends(self, begun: bytes, ahead: Iterable[bytes]) -> Iterator[bytes | None]:
        """See `Comparison.ends`."""
        first = begun[:1]
        if first in (b"[", b"{"):
            depth, at = _nesting(begun)
            for piece in ahead:
                closing = piece.count(b"]") + piece.count(b"}") >= depth
                end = _closing(begun[at:] + piece, depth) if closing else -1
                yield None if end < 0 else begun + piece[: end - (len(begun) - at)]
        else:
            pattern = _QUOTED if first == b'"' else _PLAIN
            for piece in ahead:
                found = pattern.match(begun + piece)
                yield None if found is None else found.group()

    def weight(self, text: bytes) -> Hashable | None:
        """See `Comparison.weight`: with one spelling per scalar, equal texts differ only in order and white space."""
        if _MANIFOLD.search(text) is not None:
            return None
        bare = text.translate(None, b" \t\r\n")
        return len(bare), sum(bare)


EQUALITY: Final = Equality()
EQUALITY_IN_ANY_ORDER: Final = Equality(any_order=True)


def _key(text: bytes) -> Hashable:
    try:
        return canonical(read(text), MOST_EXPONENT)
    except GrammarError:
        return text


@lru_cache(maxsize=8192)
def _short_key(text: bytes) -> Hashable:
    """The same, cached: masks compare the same texts repeatedly."""
    return _key(text)


def _kind(text: bytes) -> bytes:
    """The first byte; the same one for all numbers."""
    return b"0" if text[0] in _NUMERIC else text[:1]


def _nesting(text: bytes) -> tuple[int, int]:
    """(open brackets of a begun array or object, position of an unfinished string or else of the end)."""
    depth = 0
    for found in _NESTED.finditer(text):
        if found.group()[:1] == b'"':
            if not found.group(1):
                return depth, found.start()
        else:
            depth += 1 if found.group() in b"[{" else -1
    return depth, len(text)


def _closing(text: bytes, depth: int) -> int:
    """The position in a text after the outermost of `depth` open brackets is closed; -1 if it is not."""
    for found in _NESTED.finditer(text):
        byte = found.group()
        if byte[:1] != b'"':
            depth += 1 if byte in b"[{" else -1
            if depth == 0:
                return found.end()
    return -1
