"""Masks from `DeviceTables` in numpy, all tokens at once, by the rules of `kernels.grammar.grammar_passes`."""

import numpy as np
import numpy.typing as npt
from intaglio.grammar.api import MaskRow, Vocabulary, allow, empty_rows
from intaglio.grammar.device.device_tables import (
    CALLS,
    ENDS,
    LEAVES,
    NO_BYTE,
    Configuration,
    DeviceTables,
)

Ints = npt.NDArray[np.int64]
MOST_OPEN = 64  # rules that one token may open


class TableWalk:
    """Walks of one vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        known = {t: x for t, x in enumerate(vocabulary.tokens) if x and NO_BYTE not in x}
        self._ids = np.array(list(known))
        self._lengths = np.array([len(text) for text in known.values()])
        self._texts = np.zeros((len(known), int(self._lengths.max())), np.uint8)
        for row, text in zip(self._texts, known.values(), strict=True):
            row[: len(text)] = np.frombuffer(text, np.uint8)

    def mask(self, tables: DeviceTables, at: Configuration) -> MaskRow:
        """The legal tokens of a configuration."""
        row: MaskRow = empty_rows(1, self._vocabulary.width)[0]
        allow(row, self._ids[self._legal(tables, at)])
        if tables.can_end(at):
            allow(row, self._vocabulary.end_ids)
        return row

    def _legal(self, tables: DeviceTables, at: Configuration) -> npt.NDArray[np.bool_]:
        """Which texts are read to their ends. A lane's `now` is a state plus one, or the code of an end."""
        legal = np.zeros(len(self._ids), np.bool_)
        if at[0] == tables.over:
            return legal
        lane = np.arange(len(self._ids))
        now = np.full(len(lane), at[0] + 1)
        done = np.zeros(len(lane), np.int64)
        frames = np.zeros((len(lane), len(at[1]) + MOST_OPEN), np.int64)
        frames[:, : len(at[1])] = at[1]
        top = np.full(len(lane), len(at[1]))
        while len(lane):
            over = (now > 0) & (done == self._lengths[lane])
            legal[lane[over]] = True
            # The end of the output is a state that reads nothing.
            stays = ~over & (now != 0) & (now != tables.over + 1)
            lane, now, done, frames, top = (a[stays] for a in (lane, now, done, frames, top))
            reads = np.flatnonzero(now > 0)
            ends = np.flatnonzero(now < 0)
            byte = self._texts[lane[reads], done[reads]]
            cell = tables.cells[now[reads] - 1, tables.column_of[byte]].astype(np.int64)
            kind, value = (-1 - cell) & 3, (-1 - cell) >> 2
            calls = (cell < 0) & (kind == CALLS)
            leaves = (cell < 0) & (kind == LEAVES)
            done[reads] += ~(calls | leaves)
            callers = reads[calls]
            frames[callers, top[callers]] = tables.sites[value[calls], 1]
            cell[calls] = tables.sites[value[calls], 0]
            cell[leaves] = -1 - (value[leaves] << 2 | ENDS)
            top[callers] += 1
            outcome = (-1 - now[ends]) >> 2
            inside = top[ends] > 0
            place = frames[ends, top[ends] - 1] + outcome
            back = tables.returns[np.where(inside, place, 0)] if len(tables.returns) else place * 0
            now[ends] = np.where(inside, back, tables.over + 1)
            top[ends] -= inside
            now[reads] = cell
        return legal
