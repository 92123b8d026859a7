"""Overlapping windows of a long document, cut along its structure.

Does: find the pieces of a text (lines; parts of lines that are too long; images, which are pages), count their tokens
once, and group them into windows that end and begin at the strongest borders in reach: pages, headings, blank lines,
lines. Does not: read the windows, or know the context length.

The windows cover the text without a gap, each shares at most `overlap` tokens with the next, no character is in three
of them, and each image is in one. The work is linear in the length of the text.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

SMALLEST_WINDOW: Final = 32
"""Tokens of the smallest window: below this a window may hold less than one record."""

_PIECE_CHARACTERS: Final = 256  # a longer line is cut into pieces
_PIECES_IN_WINDOW: Final = 8  # a piece has at most this part of a window
_MAX_HEADING: Final = 80  # characters

_LINE: Final = re.compile(r"[^\n\f]*(?:\n|\f|$)")
_HEADING: Final = re.compile(r"#{1,6}\s|\d+(?:\.\d+)*\.?\s+[^\W\d_]|[^a-z]*[^\W\d_a-z]{3}[^a-z]*$")
_SENTENCE_END: Final = re.compile(r"[.!?;]\s+|[\u3002\uff01\uff1f]")

# The strength of the border before a piece.
_INSIDE_LINE: Final = 0
_SENTENCE: Final = 1
_INDENTED_LINE: Final = 2
_LINE_START: Final = 3
_AFTER_BLANK: Final = 4
_HEADING_LINE: Final = 5
_PAGE: Final = 6


@dataclass(frozen=True, slots=True)
class Window:
    """A range of a text, in code points: `start` is its first, `end` the one after its last. `tokens` are counted
    piece by piece, so that the whole may have a few less. Of the images of the document it has those from number
    `first_image` to the one before `last_image`.
    """

    start: int
    end: int
    tokens: int
    first_image: int = 0
    last_image: int = 0

    @property
    def has_images(self) -> bool:
        """Whether an image is in the window."""
        return self.first_image < self.last_image


@dataclass(frozen=True, slots=True)
class ImagePlace:
    """Image `number` of the document, before the character `at` of the text. It takes the room of `tokens`."""

    number: int
    at: int
    tokens: int


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of the text, with the strength of the border before it; or the image of this number."""

    start: int
    end: int
    border: int
    image: int | None = None


def split(
    text: str,
    count: Callable[[str], int],
    room: int,
    overlap: int,
    start: int = 0,
    images: Sequence[ImagePlace] = (),
) -> tuple[Window, ...]:
    """The windows of `text`, of at most `room` tokens each; neighbours share at most `overlap` tokens.

    `count` counts the tokens of a piece. `start` is added to all places, for a text that is part of another. `images`
    stand in the text, in order; one that takes more than the room is a window of its own.

    Raises:
        ValueError: `room` is smaller than `SMALLEST_WINDOW`, or `overlap` greater than a quarter of it.
    """
    if room < SMALLEST_WINDOW or not 0 <= overlap <= room // 4:
        raise ValueError(f"room {room} or overlap {overlap} is out of bounds")
    pieces, counts = _counted(text, count, room // _PIECES_IN_WINDOW, images)
    if not pieces:
        return ()
    totals = [0, *accumulate(counts)]
    found, first = list[Window](), 0
    while True:
        last = _cut(pieces, totals, first, room)
        found.append(
            Window(
                start + pieces[first].start,
                start + pieces[last - 1].end,
                totals[last] - totals[first],
                *_images_of(pieces[first:last]),
            )
        )
        if last == len(pieces):
            return tuple(found)
        first = _next_start(pieces, totals, first, last, overlap)


def _cut(pieces: Sequence[_Piece], totals: Sequence[int], first: int, room: int) -> int:
    """The piece before which the window from `first` on ends: after half of the room at least, at the strongest border,
    and of equal ones at the last.
    """
    furthest = bisect_left(totals, totals[first] + room + 1) - 1
    furthest = max(furthest, first + 1)
    if furthest >= len(pieces):
        return len(pieces)
    nearest = min(furthest, bisect_left(totals, totals[first] + room // 2, first + 1))
    return max(range(nearest, furthest + 1), key=lambda at: (pieces[at].border, at))


def _next_start(
    pieces: Sequence[_Piece], totals: Sequence[int], first: int, cut: int, overlap: int
) -> int:
    """The first piece of the window after a cut: at most `overlap` tokens before it, at the strongest border, and of
    equal ones at the first. The cut itself if no whole piece fits, or an image is before it: what is read twice is
    recognised by its place in the text, which an image does not have.
    """
    earliest = max(first + 1, bisect_left(totals, totals[cut] - overlap))
    shared = range(earliest, cut)
    earliest = next((at + 1 for at in reversed(shared) if pieces[at].image is not None), earliest)
    return max(range(earliest, cut), key=lambda at: (pieces[at].border, -at), default=cut)


def _images_of(pieces: Sequence[_Piece]) -> tuple[int, int]:
    """The first image among the pieces, and the one after the last."""
    numbers = [piece.image for piece in pieces if piece.image is not None]
    return (numbers[0], numbers[-1] + 1) if numbers else (0, 0)


def _counted(
    text: str, count: Callable[[str], int], largest: int, images: Sequence[ImagePlace]
) -> tuple[list[_Piece], list[int]]:
    """The pieces of a text and their token counts; none has more than `largest` tokens unless it is one character or
    an image.
    """
    pieces, counts = list[_Piece](), list[int]()
    starts = [0, *(image.at for image in images)]
    for image, start, end in zip((None, *images), starts, (*starts[1:], len(text)), strict=True):
        if image is not None:
            pieces.append(_Piece(image.at, image.at, _PAGE, image.number))
            counts.append(image.tokens)
        for piece in _pieces(text, start, end):
            _count_piece(text, piece, count, largest, pieces, counts)
    return pieces, counts


def _count_piece(
    text: str,
    piece: _Piece,
    count: Callable[[str], int],
    largest: int,
    pieces: list[_Piece],
    counts: list[int],
) -> None:
    tokens = count(text[piece.start : piece.end])
    if tokens <= largest or piece.end - piece.start == 1:
        pieces.append(piece)
        counts.append(tokens)
        return
    middle = _softest(text, piece.start, piece.end, (piece.start + piece.end) // 2)
    halves = (piece.start, middle, piece.border), (middle, piece.end, _inner_border(text, middle))
    for half in halves:
        _count_piece(text, _Piece(*half), count, largest, pieces, counts)


def _pieces(text: str, begin: int, stop: int) -> Iterator[_Piece]:
    """The lines of `text[begin:stop]`, with their line breaks; lines that are too long in parts."""
    border = _PAGE
    for line in _LINE.finditer(text, begin, stop):
        start, end = line.span()
        if start == end:
            return
        content = line.group().rstrip()
        if content and border == _AFTER_BLANK and _is_heading(content):
            border = _HEADING_LINE
        if content and border == _LINE_START:
            border = _line_border(content)
        edges = [start, *_edges(text, start, end), end]
        for number, (left, right) in enumerate(pairwise(edges)):
            yield _Piece(left, right, _inner_border(text, left) if number else border)
        if text[end - 1] == "\f":
            border = _PAGE
        elif not content:
            border = max(border, _AFTER_BLANK)
        else:
            border = _LINE_START


def _inner_border(text: str, at: int) -> int:
    """The strength of a border inside a line."""
    before = _SENTENCE_END.match(text, at - 2) or _SENTENCE_END.match(text, at - 1)
    return _SENTENCE if before is not None and before.end() >= at else _INSIDE_LINE


def _line_border(content: str) -> int:
    if content[0].isspace():
        return _INDENTED_LINE
    return _HEADING_LINE if content.startswith("#") and _is_heading(content) else _LINE_START


def _is_heading(content: str) -> bool:
    return len(content) <= _MAX_HEADING and _HEADING.match(content) is not None


def _edges(text: str, start: int, end: int) -> Iterator[int]:
    """The places at which a line that is too long is cut."""
    while end - start > _PIECE_CHARACTERS:
        start = _softest(text, start, start + _PIECE_CHARACTERS, start + _PIECE_CHARACTERS)
        yield start


def _softest(text: str, start: int, end: int, target: int) -> int:
    """The best place to cut in the second half before `target`: after a sentence, else at a space, else at `target`."""
    middle = (start + target) // 2
    sentences = [found.end() for found in _SENTENCE_END.finditer(text, middle, target)]
    if sentences:
        return sentences[-1]
    space = max(text.rfind(" ", middle, target), text.rfind("\t", middle, target))
    return space + 1 if space >= 0 else min(max(target, start + 1), end)
