"""The suffixes that a verbatim string may follow, and the places within such a string.

Does: define both as values, and spell characters and documents. Does not: follow strings (`verbatim_strings`).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ...base.array_types import Bytes, Ints
from ...leaves.document_text import DocumentText
from .string_escapes import spell

_written: Final[WeakKeyDictionary[DocumentText, tuple[Bytes, Ints]]] = WeakKeyDictionary()


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


def written_document(document: DocumentText) -> tuple[Bytes, Ints]:
    """(the characters of `document.codes` as they are written within quotes, where each begins and the last ends).

    Kept as long as the document: a string that an output reaches late must not write it anew within a step.
    """
    found = _written.get(document)
    if found is None:
        found = _written[document] = _write(document)
    return found


def _write(document: DocumentText) -> tuple[Bytes, Ints]:
    distinct, number = np.unique(document.codes, return_inverse=True)
    spellings = [spelled(code) if code >= 0 else b"" for code in distinct.tolist()]
    text = bytearray().join([spellings[i] for i in number.tolist()])
    sizes = np.array([len(spelling) for spelling in spellings], np.int32)
    begins = np.zeros(len(number) + 1, np.int32)
    np.cumsum(sizes[number], out=begins[1:])
    return np.frombuffer(text, np.uint8), begins
