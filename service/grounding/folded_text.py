"""Case folding and Unicode normalisation of a text, with a map back to the original offsets.

Does: fold case, white space, compatible forms of characters (NFKC), quotation marks and dashes, in linear time. Does
not: search.
"""

import re
import unicodedata
from array import array
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

# Marks that join with the character before them into one, so that both are folded together.
_MARKS: Final = (
    r"\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u093c\u0941\u09be\u09d7\u0b3e\u0b56"
    r"\u0b57\u0bbe\u0bd7\u0c56\u0cc2\u0cd5\u0cd6\u0d3e\u0d57\u0dca\u0dcf\u0ddf\u102e\u1160-\u11ff\u1ab0-\u1aff"
    r"\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f"
)
# Words of ASCII with single spaces between them, white space, or one character with its marks.
_PIECE: Final = re.compile(rf"[!-~]+(?: [!-~]+)*(?![{_MARKS}])|\s+|\S[{_MARKS}]*")
_ASCII_PIECE: Final = re.compile(r"[!-~]+(?: [!-~]+)*|\s+|\S")
_SAME: Final = str.maketrans(
    {
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\u301d\u301e\uff02", '"'),
        **dict.fromkeys("`\u00b4\u2018\u2019\u201a\u201b\u2039\u203a\u2032\u02bc\uff07", "'"),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-"),
        # Invisible characters: soft hyphen, zero-width characters, marks of direction and order.
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff", None),
    }
)


@dataclass(frozen=True, slots=True)
class FoldedText:
    """A folded text. Character `i` of it comes from the characters `starts[i]:ends[i]` of the original."""

    text: str
    starts: "array[int]"
    ends: "array[int]"

    def original(self, start: int, end: int) -> tuple[int, int] | None:
        """The original range of `start:end`, in code points; None if it would cut through a character.

        `end` is greater than `start`.
        """
        starts, ends = self.starts, self.ends
        if start and starts[start - 1] == starts[start]:
            return None
        if end < len(starts) and starts[end] == starts[end - 1]:
            return None
        return starts[start], ends[end - 1]


def fold(text: str) -> FoldedText:
    """Fold a text: texts with equal results differ only in the ways that the module lists."""
    parts, starts, ends = list[str](), array("i"), array("i")
    for found in (_ASCII_PIECE if text.isascii() else _PIECE).finditer(text):
        begin, end = found.span()
        piece = found.group()
        if "!" <= piece[0] <= "~" and piece.isascii():
            parts.append(piece.lower().replace("`", "'"))
            starts.extend(range(begin, end))
            ends.extend(range(begin + 1, end + 1))
            continue
        folded = " " if piece.isspace() else _fold_character(piece)
        parts.append(folded)
        starts.extend([begin] * len(folded))
        ends.extend([end] * len(folded))
    return FoldedText("".join(parts), starts, ends)


@lru_cache(maxsize=8192)
def _fold_character(character: str) -> str:
    """One character, with its marks, in its folded form."""
    visible = character.translate(_SAME)
    lower = unicodedata.normalize("NFKC", visible).casefold()
    return unicodedata.normalize("NFKC", lower).translate(_SAME)
