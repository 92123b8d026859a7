"""Drafts drawn from a smaller model of the same vocabulary, with a cache of its own.

Does: compute the known tokens of a sequence and then one draft after the other, each drawn with the options, the noise
and the mask of its position (`drawn_drafts`). Does not: verify drafts, or draft several sequences in one pass: it is
for few sequences at once.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any

from intaglio.grammar.api import MaskRows, empty_rows

from ..executor import Executor
from ..plan import Admitted, Masks, Plan, SampledToken, Work
from ..sequence import Sequence as EngineSequence
from ..types import Finish
from .draft_tables import DraftTable, DraftTables
from .drawn_drafts import CHANCES, DrawnDrafts, draft_options
from .source import Guess, Lookahead


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftModel:
    """A draft model: its executor, and the facts about it.

    `seconds`: the cost of a step of the target model by its tokens, by the same `clock` as the costs of drafts.
    """

    executor: Executor[Any]
    end_tokens: frozenset[int]
    max_context: int
    max_batched_tokens: int
    width: int
    seconds: Callable[[float], float]
    clock: Callable[[], float] = time.process_time


class ModelSource:
    """Guesses by a model. `ahead` gives the grammar of a sequence by its number; None for unconstrained ones."""

    name = "model"
    chances = CHANCES

    def __init__(
        self,
        model: DraftModel,
        tables: DraftTables,
        ahead: Callable[[int], AbstractContextManager[Lookahead | None]],
    ) -> None:
        self._model = model
        self._tables = tables
        self._ahead = ahead
        self._steps = 0
        self._drawn = DrawnDrafts(model.end_tokens, model.width, model.seconds, model.clock)

    def guess(self, seq: EngineSequence, most: int, /) -> Guess | None:
        """See `DraftSource`."""
        if not self._drawn.pays():
            return None
        room = self._model.max_context - seq.known
        table = self._tables.open(seq.id, seq.known + most) if room >= most else None
        if table is None:
            return None
        start = table.common(seq.tokens)
        pending = list(seq.tokens[start:])
        del table.tokens[start:]
        with self._ahead(seq.id) as cursor:
            guess = self._drawn.guess(pending, most, cursor, partial(self._step, seq, table))
        table.certain = seq.known
        return guess

    def verified(self, _seq_id: int, _drafted: int, accepted: int, /) -> None:
        """See `DraftSource`."""
        self._drawn.verified(accepted)

    def forget(self, seq: EngineSequence, _finish: Finish, /) -> None:
        """See `DraftSource`."""
        self._tables.close(seq.id)

    def _step(
        self, seq: EngineSequence, table: DraftTable, pending: Sequence[int], rows: MaskRows | None
    ) -> SampledToken:
        """Compute `pending` after the tokens of `table`, and draw the token after them."""
        executor, size = self._model.executor, self._model.max_batched_tokens
        admitted: tuple[Admitted, ...] = ()
        new_blocks = table.new_blocks()
        if not table.admitted:
            table.admitted = True
            known, prompt = tuple(seq.tokens), len(seq.request.prompt)
            sampling = draft_options(seq.request.sampling)
            admitted = (Admitted(seq.id, known, prompt, new_blocks, sampling),)
            new_blocks = ()
        for begin in range(0, len(pending), size):
            tokens = tuple(pending[begin : begin + size])
            last = begin + size >= len(pending)
            work = Work(seq.id, len(table.tokens), tokens, new_blocks, int(last))
            self._steps += 1
            plan = Plan(self._steps, admitted, (work,), self._tables.released())
            handle = executor.forward(plan)
            masks = Masks(empty_rows(0, self._model.width), {})
            if last and rows is not None:
                masks = Masks(rows, {seq.id: 0})
            executor.sample(handle, masks)
            sampled = executor.sampled(handle)
            table.tokens += tokens
            admitted, new_blocks = (), ()
        return sampled.samples[0]
