"""Replay of outputs along device tables on the host, all outputs of a step in one compiled call.

Does: own the positions of the outputs, their tokens and the rest of their budgets; report the outputs that need
attention, and spell forced text. Does not: make tables (`export`), complete an output at the end of its budget, or
explain why a token is refused. A matcher does that, after it was brought to the same position (`NativeMatcher.skip`).
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
    TokenBytes,
    move,
    position_addresses,
    report_addresses,
    table_addresses,
    text_addresses,
)
from .device_tables import DeviceTables

_MOST_KEPT: Final = 1 << 14  # spellings of forced texts


class Coming(NamedTuple):
    """A forced text; `over`: the output ends after it.

    `window`: the last tokens, on which its spelling depends; None if these are too many to spell it.
    """

    text: bytes
    over: bool
    window: bytes | None


@dataclass(frozen=True, slots=True)
class Followed:
    """The outputs that need attention after a step. All others can surely be completed within their budgets.

    `coming`: outputs with forced text. `doubtful`: outputs that possibly cannot be completed within their budgets.
    `lost`: outputs with tokens that the tables refuse or cannot follow; their positions are invalid now.
    """

    coming: dict[int, Coming] = field(default_factory=dict)
    doubtful: set[int] = field(default_factory=set)
    lost: set[int] = field(default_factory=set)


class Followers:
    """The outputs being replayed, by number."""

    def __init__(self, texts: Sequence[bytes | None], ends: Sequence[int]) -> None:
        self._texts = _texts(texts, ends)
        self._texts_at = text_addresses(self._texts)
        self._set_positions(*_new_positions(1, 256))
        self._report, self._report_at = _new_report(16)
        self._bounds = 0, 0  # no output is longer, no stack higher
        self._free = [0]
        self._row_of: dict[int, int] = {}
        self._grammars: dict[int, tuple[NativeGrammar, DeviceTables]] = {}
        self._spelled: dict[Coming, tuple[int, ...]] = {}

    def __contains__(self, number: int) -> bool:
        return number in self._row_of

    def add(self, number: int, tables: DeviceTables, matcher: Matcher, left: int) -> None:
        """Add an output at the position of its matcher, which is not finished. `left`: tokens left in its budget.

        Raises:
            Violation: the tables refuse what the matcher has accepted.
        """
        if not isinstance(matcher, NativeMatcher):
            raise TypeError(f"{type(matcher).__name__} has no tables")
        if not self._free:
            self._grow_rows()
        row = self._free.pop()
        positions, first = self._positions, tables.lookahead.first
        self._row_tables[row] = table_addresses(tables)
        self._row_of[number], self._grammars[number] = row, (matcher.grammar, tables)
        positions.state[row], positions.depth[row] = tables.start, 0
        positions.left[row], positions.known[row] = left + len(matcher.tokens), 0
        positions.tops[row, 0], positions.tops[row, 1] = (
            0,
            first[tables.start + 1] - first[tables.start],
        )
        positions.rests[row], positions.valid_rests[row] = 0, 1
        if self._move({number: matcher.tokens}, 0).lost:
            self.remove(number)
            raise Violation("the tables of the grammar refuse what it has accepted")

    def remove(self, number: int) -> None:
        """Remove an output, if it is being replayed."""
        row = self._row_of.pop(number, None)
        if row is not None:
            del self._grammars[number]
            self._positions.depth[row] = 0
            self._free.append(row)

    def tokens(self, number: int) -> list[int]:
        """The tokens of an output."""
        row = self._row_of[number]
        found: list[int] = self._positions.tokens[row, : self._positions.known[row]].tolist()
        return found

    def tokens_before(self, number: int) -> list[int]:
        """The tokens of an output before its last sampled tokens."""
        row = self._row_of[number]
        found: list[int] = self._positions.tokens[row, : self._positions.before[row]].tolist()
        return found

    def depth(self, number: int) -> int:
        """The height of the stack of an output."""
        return self._positions.depth.item(self._row_of[number])

    def deeper_than(self, depth: int) -> list[int]:
        """The outputs with a stack higher than `depth`."""
        longest, highest = self._bounds
        if highest <= depth:
            return []
        depths = self._positions.depth
        self._bounds = longest, int(depths.max())
        return [number for number, row in self._row_of.items() if depths[row] > depth]

    def advance(self, tokens: Mapping[int, Sequence[int]]) -> Followed:
        """Advance outputs by their sampled tokens, and find forced text."""
        return self._move(tokens, MOST_FORCED)

    def advance_forced(self, tokens: Mapping[int, Sequence[int]]) -> Followed:
        """Advance outputs by forced tokens."""
        return self._move(tokens, 0)

    def spell(self, number: int, coming: Coming) -> tuple[int, ...]:
        """The tokens of a forced text; see `Matcher.forced`. The output does not advance."""
        if coming.window is None:
            return ()
        run = self._spelled.get(coming)
        if run is None:
            if len(self._spelled) >= _MOST_KEPT:
                self._spelled.clear()
            row = self._row_of[number]
            known = self._positions.known.item(row)
            # One token more than the window, for the hard boundary before it.
            history = self._positions.tokens[row, max(0, known - 1 - WINDOW) : known].tolist()
            run = self._grammars[number][0].generation.spelled(
                history, coming.text, over=coming.over
            )
            self._spelled[coming] = run
        return run

    def _move(self, tokens: Mapping[int, Sequence[int]], most: int) -> Followed:
        """Advance outputs. `most`: forced bytes to find at most."""
        if not tokens:
            return Followed()
        count, numbers = len(tokens), list(tokens)
        rows = np.array([self._row_of[number] for number in numbers], np.int32)
        upto = np.array([*accumulate(map(len, tokens.values()))], np.int32)
        flat = np.fromiter(chain.from_iterable(tokens.values()), np.int32, upto[-1])
        if count > len(self._report.verdict):
            self._report, self._report_at = _new_report(2 * count)
        longest, highest = self._bounds
        self._grow_tokens(longest + len(flat))
        reported, most_tokens, most_frames = move(
            self._positions_at, self._texts_at, self._report_at, rows, upto, flat, most
        )
        self._bounds = max(longest, most_tokens), max(highest, most_frames)
        return _reported(numbers, self._report, reported)

    def _set_positions(self, row_tables: Longs, positions: BatchPositions) -> None:
        self._row_tables, self._positions = row_tables, positions
        self._positions_at = position_addresses(positions, row_tables)

    def _grow_rows(self) -> None:
        """Double the number of rows."""
        count = len(self._row_tables)
        row_tables, positions = _new_positions(2 * count, self._positions.tokens.shape[1])
        row_tables[:count] = self._row_tables
        for new, old in zip(positions, self._positions, strict=True):
            new[:count] = old
        self._set_positions(row_tables, positions)
        self._free = list(range(2 * count - 1, count - 1, -1))

    def _grow_tokens(self, most: int) -> None:
        """Make room for `most` tokens in each row."""
        known = self._positions.tokens
        if most > known.shape[1]:
            tokens = np.zeros((len(known), 2 * most), np.int32)
            tokens[:, : known.shape[1]] = known
            self._set_positions(self._row_tables, self._positions._replace(tokens=tokens))


def _new_report(count: int) -> tuple[BatchReport, Longs]:
    """Arrays for the results of `count` outputs, and their addresses."""
    report = BatchReport(
        np.empty(count, np.uint8),
        np.empty(count, np.uint8),
        np.empty(count * MOST_FORCED, np.uint8),
        np.zeros(count, np.int32),
        np.empty((count, WINDOW), np.int32),
        np.zeros(count, np.int32),
        np.zeros(count, np.int32),
    )
    return report, report_addresses(report)


def _reported(numbers: list[int], report: BatchReport, count: int) -> Followed:
    """The outputs that need attention: the first `count` of `reported`."""
    found = Followed()
    for i in report.reported[:count].tolist():
        number, verdict, back = numbers[i], report.verdict.item(i), report.back.item(i)
        if verdict in (FORCED, FORCED_END):
            begin = MOST_FORCED * i
            text = report.text[begin : begin + report.length.item(i)].tobytes()
            window = report.window[i, WINDOW - back :].tobytes() if back >= 0 else None
            found.coming[number] = Coming(text, verdict == FORCED_END, window)
        elif verdict not in (MOVED, FINISHED):
            found.lost.add(number)
        if not report.fits.item(i):
            found.doubtful.add(number)
    return found


@cache
def load() -> None:
    """Load the compiled code of this module, which takes seconds where it has never been compiled."""
    Followers((), ()).advance({})


def _texts(texts: Sequence[bytes | None], ends: Sequence[int]) -> TokenBytes:
    known = [text or b"" for text in texts]
    begins = np.fromiter(accumulate(map(len, known), initial=0), np.int32, len(known) + 1)
    data = np.frombuffer(b"".join(known), np.uint8).copy()
    single = {text for text in known if len(text) == 1}
    return TokenBytes(
        data,
        begins,
        np.array(sorted(ends), np.int32),
        np.array([len(single) == 256], np.uint8),
        crossed(texts).astype(np.uint8).reshape(-1),
    )


def _new_positions(rows: int, width: int) -> tuple[Longs, BatchPositions]:
    """(`row_tables`, positions) for `rows` outputs, with room for `width` tokens each."""

    def ints(*columns: int) -> Ints:
        return np.zeros((rows, *columns), np.int32)

    positions = BatchPositions(
        state=ints(),
        depth=ints(),
        stack=ints(STACK),
        left=ints(),
        known=ints(),
        before=ints(),
        tokens=ints(width),
        rests=ints(ROOM),
        tops=ints(STACK + 2),
        valid_rests=ints(),
    )
    return np.zeros((rows, TABLE_ADDRESSES), np.int64), positions
