"""Which values are equal however they are written, and which may still become so while one of them is being written.

Does: the key by which items are compared, and how written values go on and end. Does not: read values (`values`), or
know masks.
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
# Escapes, and numbers that are not whole, or perhaps zero.
_MANIFOLD: Final = re.compile(rb"\\|[0-9][.eE]|-0")
_NUMERIC: Final = b"-0123456789"
_SHORT: Final = 32  # bytes of texts whose keys are kept
# Of numbers in outputs, whose exponents have three digits at most; see `leaves.numbers`.
MOST_EXPONENT: Final = 4_000


class Equality(Comparison):
    """Of JSON values."""

    def key(self, text: bytes) -> Hashable:
        """Equal for equal values; what is nested too deeply to be read is only equal to itself as written."""
        return _short_key(text) if len(text) <= _SHORT else _key(text)

    def alike(self, begun: bytes, said: bytes) -> bool:
        """See `Comparison.alike`: values of different kinds are not, nor strings that began otherwise."""
        if begun[:1] == b'"':
            return said.startswith(begun) if b"\\" not in begun + said else said[:1] == b'"'
        return begun == b"" or _kind(begun) == _kind(said)

    def rest(self, begun: bytes, said: bytes) -> bytes | None:
        """See `Comparison.rest`: strings that have no escapes."""
        plain = begun[:1] == b'"' and b"\\" not in begun + said
        return said[len(begun) :] if plain else None

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
        """See `Comparison.weight`: where all is written in its one way, equal texts differ in order and white space."""
        if _MANIFOLD.search(text) is not None:
            return None
        bare = text.translate(None, b" \t\r\n")
        return len(bare), sum(bare)


EQUALITY: Final = Equality()


def _key(text: bytes) -> Hashable:
    try:
        return canonical(read(text), MOST_EXPONENT)
    except GrammarError:
        return text


@lru_cache(maxsize=8192)
def _short_key(text: bytes) -> Hashable:
    """The same, kept: masks ask for the texts that may come next again and again."""
    return _key(text)


def _kind(text: bytes) -> bytes:
    """The first byte, the same for all numbers."""
    return b"0" if text[0] in _NUMERIC else text[:1]


def _nesting(text: bytes) -> tuple[int, int]:
    """Of what has begun of an array or object: (how many are open, where a string begins that is open, or its end)."""
    depth = 0
    for found in _NESTED.finditer(text):
        if found.group()[:1] == b'"':
            if not found.group(1):
                return depth, found.start()
        else:
            depth += 1 if found.group() in b"[{" else -1
    return depth, len(text)


def _closing(text: bytes, depth: int) -> int:
    """Where the outermost of `depth` open arrays and objects has ended in a text; -1: it has not."""
    for found in _NESTED.finditer(text):
        byte = found.group()
        if byte[:1] != b'"':
            depth += 1 if byte in b"[{" else -1
            if depth == 0:
                return found.end()
    return -1
