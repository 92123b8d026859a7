"""Drafts drawn from a draft head in EAGLE-3's form, which reads what the target made of the last tokens.

Does: choose the rows that the head computes: first those of computed tokens, with the target's streams, then those of
other known tokens and of drafts, with its own output. Each draft is drawn with the options, the noise and the mask of
its position (`drawn_drafts`). Does not: verify drafts, or draft several sequences in one pass: it is for few sequences
at once.

The streams of cached prefixes are not there, as the target does not compute their tokens: the rows of a sequence begin
behind them, at the begin of a block.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Final

from intaglio.grammar.api import MaskRows, empty_rows

from ..errors import InternalError
from ..plan import Admitted, Masks, Plan, SampledToken, Work
from ..run.head_executor import HeadExecutor
from ..sequence import Sequence as EngineSequence
from ..types import Finish
from .draft_tables import DraftTable, DraftTables
from .drawn_drafts import CHANCES, DrawnDrafts, draft_options
from .source import Guess, Lookahead

MOST_UNREAD: Final = 8
"""The most known tokens that the head reads one by one, before a draft, as the target has not computed them yet: those
that a grammar forced. After more of them its drafts would cost too much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadModel:
    """A draft head: its executor, and the facts about it; see `DraftModel`."""

    executor: HeadExecutor
    end_tokens: frozenset[int]
    max_context: int
    max_batched_tokens: int
    block_size: int
    width: int
    seconds: Callable[[float], float]
    clock: Callable[[], float] = time.process_time


@dataclass(slots=True)
class _Rows:
    """The rows of a sequence in the head's cache: from `first` on, the next one is at `next`."""

    first: int
    next: int


class HeadSource:
    """Guesses by a head. `ahead` gives the grammar of a sequence by its number; None for unconstrained ones."""

    name = "head"
    chances = CHANCES

    def __init__(
        self,
        model: HeadModel,
        tables: DraftTables,
        ahead: Callable[[int], AbstractContextManager[Lookahead | None]],
    ) -> None:
        self._model = model
        self._tables = tables
        self._ahead = ahead
        self._rows: dict[int, _Rows] = {}
        self._steps = 0
        self._drawn = DrawnDrafts(model.end_tokens, model.width, model.seconds, model.clock)

    def guess(self, seq: EngineSequence, most: int, /) -> Guess | None:
        """See `DraftSource`."""
        unread = seq.known - 1 - seq.computed
        held = self._model.executor.kept.held(seq.id)
        there = held.start < seq.computed <= held.stop
        if not there or not 0 <= unread <= MOST_UNREAD or not self._drawn.pays():
            return None
        opened = self._opened(seq, most, held)
        if opened is None:
            return None
        table, rows = opened
        # The last row is computed again where nothing was computed since: its output begins the drafts.
        rows.next = min(rows.next, seq.computed - 1)
        pending = seq.tokens[rows.next + 1 :]
        with self._ahead(seq.id) as cursor:
            guess = self._drawn.guess(pending, most, cursor, partial(self._step, seq, table, rows))
        rows.next = min(rows.next, seq.computed)
        self._model.executor.kept.forget_before(seq.id, rows.next - 1)
        return guess

    def verified(self, _seq_id: int, _drafted: int, accepted: int, /) -> None:
        """See `DraftSource`."""
        self._drawn.verified(accepted)

    def forget(self, seq: EngineSequence, _finish: Finish, /) -> None:
        """See `DraftSource`."""
        self._tables.close(seq.id)
        self._rows.pop(seq.id, None)

    def _opened(
        self, seq: EngineSequence, most: int, held: range
    ) -> tuple[DraftTable, _Rows] | None:
        """The table and the rows of a sequence, new ones where the rows do not go on; None if there is no room."""
        rows, size = self._rows.get(seq.id), self._model.block_size
        if rows is not None and not held.start <= min(rows.next, seq.computed - 1):
            self._tables.close(seq.id)
        if self._model.max_context < seq.known + most:
            return None
        table = self._tables.open(seq.id, seq.known + most)
        if table is None:
            return None
        if rows is None or not table.admitted:
            first = -(-held.start // size) * size
            rows = self._rows[seq.id] = _Rows(first, first)
        return (table, rows) if rows.first < seq.computed else None

    def _step(
        self,
        seq: EngineSequence,
        table: DraftTable,
        rows: _Rows,
        pending: Sequence[int],
        mask: MaskRows | None,
    ) -> SampledToken:
        """Compute the rows of `pending` tokens, and draw the token after them."""
        model, begin = self._model, rows.next
        end, sample = begin + len(pending), None
        masks = Masks(empty_rows(0, model.width), {})
        if mask is not None:
            masks = Masks(mask, {seq.id: 0})
        while rows.next < end:
            at, streams = rows.next, range(0)
            stop = at + 1
            if at < seq.computed:
                stop = min(seq.computed, at + model.max_batched_tokens)
                streams = range(at, stop)
            rows.next, last = stop, stop == end
            tokens = tuple(pending[at - begin : stop - begin])
            plan = self._plan(seq, table, at, tokens, last=last)
            sample = model.executor.run(plan, rows.first, streams, masks if last else None)
        if sample is None:
            raise InternalError("a draft head drew no token")
        return sample

    def _plan(
        self,
        seq: EngineSequence,
        table: DraftTable,
        at: int,
        tokens: tuple[int, ...],
        *,
        last: bool,
    ) -> Plan:
        """The plan of the rows of `tokens`, from position `at` on. The head's sequence lacks the first token."""
        admitted: tuple[Admitted, ...] = ()
        new_blocks = table.new_blocks()
        if not table.admitted:
            table.admitted = True
            sampling, prompt = draft_options(seq.request.sampling), len(seq.request.prompt)
            known = tuple(seq.tokens[1:])
            admitted = (Admitted(seq.id, known, prompt - 1, new_blocks, sampling),)
            new_blocks = ()
        self._steps += 1
        work = Work(seq.id, at, tokens, new_blocks, int(last))
        return Plan(self._steps, admitted, (work,), self._tables.released())
