"""Outputs that are followed along the tables of their grammars, all those of a step in one compiled call.

Does: own where they stand, their tokens and what is left of their budgets; say of whom there is something to say, and
spell what must come next. Does not: make tables (`export`), complete an output whose budget runs out, or say why a
token is refused: a matcher does, once it is brought to the same place (`NativeMatcher.skip`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, chain
from typing import Final, NamedTuple

import numpy as np

from ..backends.native import NativeGrammar, NativeMatcher
from ..backends.token_spelling import WINDOW, crossed
from ..base.array_types import Ints, Longs
from ..contract.errors import Violation
from ..contract.matcher import Matcher
from .batch_step import (
    FINISHED,
    FORCED,
    FORCED_END,
    MOST_FORCED,
    MOVED,
    ROOM,
    STACK,
    TABLE_ADDRESSES,
    BatchPositions,
    BatchReport,
    TokenTexts,
    move,
    place_addresses,
    report_addresses,
    table_addresses,
    text_addresses,
)
from .device_tables import DeviceTables

_MOST_KEPT: Final = 1 << 14  # spellings


class Coming(NamedTuple):
    """A text that must come next; `over`: the output ends after it.

    `window`: the last tokens, on which it depends how it is spelled; None where it cannot be.
    """

    text: bytes
    over: bool
    window: bytes | None


@dataclass(frozen=True, slots=True)
class Followed:
    """Of whom there is something to say after a move. All others went on and can be completed within their budgets.

    `coming`: what must come next. `doubtful`: it is not certain that they can be completed. `lost`: the tables refuse
    their tokens, or cannot follow them; they stand nowhere now.
    """

    coming: dict[int, Coming] = field(default_factory=dict)
    doubtful: set[int] = field(default_factory=set)
    lost: set[int] = field(default_factory=set)


class Followers:
    """Outputs by number; see `device.followers`."""

    def __init__(self, texts: Sequence[bytes | None], ends: Sequence[int]) -> None:
        self._texts = _texts(texts, ends)
        self._texts_held = text_addresses(self._texts)
        self._hold(*_room(1, 256))
        self._moves, self._moves_held = _new_report(16)
        self._bounds = 0, 0  # no output is longer, no stack higher
        self._free = [0]
        self._row_of: dict[int, int] = {}
        self._held: dict[int, tuple[NativeGrammar, DeviceTables]] = {}
        self._spelled: dict[Coming, tuple[int, ...]] = {}

    def __contains__(self, number: int) -> bool:
        return number in self._row_of

    def add(self, number: int, tables: DeviceTables, matcher: Matcher, left: int) -> None:
        """Follow one more output from where its matcher stands, which is not finished. `left`: tokens it may take.

        Raises:
            Violation: the tables refuse what the matcher has accepted.
        """
        if not isinstance(matcher, NativeMatcher):
            raise TypeError(f"{type(matcher).__name__} has no tables")
        if not self._free:
            self._grow_rows()
        row = self._free.pop()
        places, first = self._places, tables.lookahead.first
        self._books[row] = table_addresses(tables)
        self._row_of[number], self._held[number] = row, (matcher.grammar, tables)
        places.state[row], places.depth[row] = tables.start, 0
        places.left[row], places.known[row] = left + len(matcher.tokens), 0
        places.tops[row, 0], places.tops[row, 1] = 0, first[tables.start + 1] - first[tables.start]
        places.rests[row], places.settled[row] = 0, 1
        if self._move({number: matcher.tokens}, 0).lost:
            self.remove(number)
            raise Violation("the tables of the grammar refuse what it has accepted")

    def remove(self, number: int) -> None:
        """Follow an output no more; one that is not followed is left alone."""
        row = self._row_of.pop(number, None)
        if row is not None:
            del self._held[number]
            self._places.depth[row] = 0
            self._free.append(row)

    def tokens(self, number: int) -> list[int]:
        """An output so far."""
        row = self._row_of[number]
        found: list[int] = self._places.tokens[row, : self._places.known[row]].tolist()
        return found

    def tokens_before(self, number: int) -> list[int]:
        """An output before the last pick."""
        row = self._row_of[number]
        found: list[int] = self._places.tokens[row, : self._places.before[row]].tolist()
        return found

    def depth(self, number: int) -> int:
        """How high the stack of an output is."""
        return self._places.depth.item(self._row_of[number])

    def deeper_than(self, depth: int) -> list[int]:
        """Those whose stack is higher."""
        longest, highest = self._bounds
        if highest <= depth:
            return []
        depths = self._places.depth
        self._bounds = longest, int(depths.max())
        return [number for number, row in self._row_of.items() if depths[row] > depth]

    def advance(self, tokens: Mapping[int, Sequence[int]]) -> Followed:
        """Outputs go on by what was picked for them. Looks for what must come next."""
        return self._move(tokens, MOST_FORCED)

    def advance_forced(self, tokens: Mapping[int, Sequence[int]]) -> Followed:
        """Outputs go on by what had to come."""
        return self._move(tokens, 0)

    def spell(self, number: int, coming: Coming) -> tuple[int, ...]:
        """The tokens of what must come next; see `Matcher.forced`. Nothing moves."""
        if coming.window is None:
            return ()
        run = self._spelled.get(coming)
        if run is None:
            if len(self._spelled) >= _MOST_KEPT:
                self._spelled.clear()
            row = self._row_of[number]
            known = self._places.known.item(row)
            # One more than the window, if there is, for the place that no token crosses.
            history = self._places.tokens[row, max(0, known - 1 - WINDOW) : known].tolist()
            run = self._held[number][0].spelled(history, coming.text, over=coming.over)
            self._spelled[coming] = run
        return run

    def _move(self, tokens: Mapping[int, Sequence[int]], most: int) -> Followed:
        """`most`: bytes that are looked for."""
        if not tokens:
            return Followed()
        count, numbers = len(tokens), list(tokens)
        rows = np.array([self._row_of[number] for number in numbers], np.int32)
        upto = np.array([*accumulate(map(len, tokens.values()))], np.int32)
        flat = np.fromiter(chain.from_iterable(tokens.values()), np.int32, upto[-1])
        if count > len(self._moves.verdict):
            self._moves, self._moves_held = _new_report(2 * count)
        longest, highest = self._bounds
        self._grow_tokens(longest + len(flat))
        reported, most_tokens, most_frames = move(
            self._places_held, self._texts_held, self._moves_held, rows, upto, flat, most
        )
        self._bounds = max(longest, most_tokens), max(highest, most_frames)
        return _reported(numbers, self._moves, reported)

    def _hold(self, books: Longs, places: BatchPositions) -> None:
        self._books, self._places = books, places
        self._places_held = place_addresses(places, books)

    def _grow_rows(self) -> None:
        """Twice as many rows."""
        count = len(self._books)
        books, places = _room(2 * count, self._places.tokens.shape[1])
        books[:count] = self._books
        for new, old in zip(places, self._places, strict=True):
            new[:count] = old
        self._hold(books, places)
        self._free = list(range(2 * count - 1, count - 1, -1))

    def _grow_tokens(self, most: int) -> None:
        """Room for so many tokens in each row."""
        known = self._places.tokens
        if most > known.shape[1]:
            tokens = np.zeros((len(known), 2 * most), np.int32)
            tokens[:, : known.shape[1]] = known
            self._hold(self._books, self._places._replace(tokens=tokens))


def _new_report(count: int) -> tuple[BatchReport, Longs]:
    """Room for the answers of so many outputs, and the same by where it lies."""
    moves = BatchReport(
        np.empty(count, np.uint8),
        np.empty(count, np.uint8),
        np.empty(count * MOST_FORCED, np.uint8),
        np.zeros(count, np.int32),
        np.empty((count, WINDOW), np.int32),
        np.zeros(count, np.int32),
        np.zeros(count, np.int32),
    )
    return moves, report_addresses(moves)


def _reported(numbers: list[int], moves: BatchReport, count: int) -> Followed:
    """What became of the `count` of these outputs of whom there is something to say."""
    found = Followed()
    for i in moves.reported[:count].tolist():
        number, verdict, back = numbers[i], moves.verdict.item(i), moves.back.item(i)
        if verdict in (FORCED, FORCED_END):
            begin = MOST_FORCED * i
            text = moves.text[begin : begin + moves.length.item(i)].tobytes()
            window = moves.window[i, WINDOW - back :].tobytes() if back >= 0 else None
            found.coming[number] = Coming(text, verdict == FORCED_END, window)
        elif verdict not in (MOVED, FINISHED):
            found.lost.add(number)
        if not moves.fits.item(i):
            found.doubtful.add(number)
    return found


@cache
def load() -> None:
    """Load the compiled code of this module, which takes seconds where it has never been compiled."""
    Followers((), ()).advance({})


def _texts(texts: Sequence[bytes | None], ends: Sequence[int]) -> TokenTexts:
    known = [text or b"" for text in texts]
    begins = np.fromiter(accumulate(map(len, known), initial=0), np.int32, len(known) + 1)
    data = np.frombuffer(b"".join(known), np.uint8).copy()
    single = {text for text in known if len(text) == 1}
    return TokenTexts(
        data,
        begins,
        np.array(sorted(ends), np.int32),
        np.array([len(single) == 256], np.uint8),
        crossed(texts).astype(np.uint8).reshape(-1),
    )


def _room(rows: int, width: int) -> tuple[Longs, BatchPositions]:
    """(rows for books, places); each place has room for `width` tokens."""

    def ints(*columns: int) -> Ints:
        return np.zeros((rows, *columns), np.int32)

    places = BatchPositions(
        state=ints(),
        depth=ints(),
        stack=ints(STACK),
        left=ints(),
        known=ints(),
        before=ints(),
        tokens=ints(width),
        rests=ints(ROOM),
        tops=ints(STACK + 2),
        settled=ints(),
    )
    return np.zeros((rows, TABLE_ADDRESSES), np.int64), places
