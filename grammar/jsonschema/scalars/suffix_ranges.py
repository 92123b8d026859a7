"""The suffixes that a verbatim string may follow, and the places within such a string.

Does: define both as values, and spell characters. Does not: follow strings (`verbatim_strings`).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from ...base.array_types import Ints
from .string_escapes import spell


class InDocument(NamedTuple):
    """A place in a verbatim string.

    The suffixes of the document from rank `low` to `high` - 1 begin with the `length` characters written so far.
    `begun`: the bytes written of the next character, in UTF-8 or as an escape.
    """

    low: int
    high: int
    length: int
    begun: bytes = b""


@dataclass(frozen=True, slots=True)
class SuffixRange:
    """The suffixes of a document that a verbatim string may follow, and its bounds on length.

    `order` int32 [m]: places in `codes`, sorted by the text from there on.
    """

    codes: Ints
    order: Ints
    least: int
    most: int | None


@lru_cache(maxsize=4096)
def spelled(code: int) -> bytes:
    """The one spelling of a character within quotes."""
    return spell(chr(code))[1:-1]
