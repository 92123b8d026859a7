"""Drafts drawn from a smaller model of the same vocabulary, with a cache of its own.

Does: compute the known tokens of a sequence and then one draft after the other, each drawn with the options, the noise
and the mask of its position, until another one would not pay. Does not: verify drafts, or draft several sequences in
one pass: it is for few sequences at once.

The same noise makes two models draw the same token more often than independent draws would. A request without a seed is
drafted greedily, since the noise of its draws belongs to the other model's executor.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from math import exp
from typing import Any, Final

from intaglio.grammar.api import MaskRows, empty_rows

from ..executor import Executor
from ..plan import Admitted, Masks, Plan, SampledToken, Work
from ..sequence import Sequence as EngineSequence
from ..types import Finish, SamplingParams
from .draft_tables import DraftTable, DraftTables
from .source import Guess, Lookahead

LEVELS: Final = 8  # intervals of the draft model's own probability of a draft
FORCED: Final = LEVELS - 1  # the level of a token that the grammar forces

PROBE: Final = 32  # where drafts do not pay, one guess in this many is made nevertheless
_SHARE: Final = 0.05  # the weight of a new measurement in the seconds of a draft
# Drafts before it is judged whether they pay; after twice as many, the counts are halved.
_MEMORY: Final = 128.0


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
    chances = tuple((level + 0.5) / LEVELS for level in range(LEVELS))

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
        self._skipped = 0
        self._drafted = self._accepted = 0.0
        self._draft_s = 0.0  # seconds of a draft, without the tokens before it

    def guess(self, seq: EngineSequence, most: int, /) -> Guess | None:
        """See `DraftSource`."""
        if not self._pays():
            self._skipped += 1
            return None
        self._skipped = 0
        room = self._model.max_context - seq.known
        opened = self._tables.open(seq.id, seq.known + most) if room >= most else None
        if opened is None:
            return None
        with self._ahead(seq.id) as cursor:
            guess = self._drawn(seq, most, *opened, cursor)
        self._drafted += len(guess.tokens)
        return guess

    def verified(self, _seq_id: int, _drafted: int, accepted: int, /) -> None:
        """See `DraftSource`."""
        self._accepted += accepted
        if self._drafted > 2 * _MEMORY:
            self._drafted, self._accepted = self._drafted / 2, self._accepted / 2

    def forget(self, seq: EngineSequence, _finish: Finish, /) -> None:
        """See `DraftSource`."""
        self._tables.close(seq.id)

    def _pays(self) -> bool:
        """Whether accepted drafts saved more time than all drafts took.

        True at intervals in any case, to measure again.
        """
        if self._drafted < _MEMORY or self._skipped >= PROBE:
            return True
        return self._accepted * self._model.seconds(1) > self._drafted * self._draft_s

    def _drawn(
        self,
        seq: EngineSequence,
        most: int,
        table: DraftTable,
        new_blocks: tuple[int, ...],
        cursor: Lookahead | None,
    ) -> Guess:
        """Draft after the known tokens of `seq`, at most `most` tokens."""
        model = self._model
        least = self._draft_s / model.seconds(1)
        start = table.common(seq.tokens)
        pending = list(seq.tokens[start:])
        del table.tokens[start:]
        drafts: list[int] = []
        levels: list[int] = []
        chance = 1.0
        rows = empty_rows(1, model.width)
        while len(drafts) < most and chance > least:
            if cursor is not None and not cursor.fill(rows[0]):
                break
            began = model.clock()
            sample = self._step(seq, table, pending, new_blocks, None if cursor is None else rows)
            if drafts:
                taken = model.clock() - began
                self._draft_s += (_SHARE if self._draft_s else 1.0) * (taken - self._draft_s)
            new_blocks = ()
            if sample.failure is not None or sample.tokens[0] in model.end_tokens:
                break
            token, share = sample.tokens[0], exp(sample.logprobs[0].logprob)
            forced = () if cursor is None else cursor.advance(token)
            if forced is None:
                break
            drafts += (token, *forced)
            levels += (min(LEVELS - 1, int(LEVELS * share)), *(FORCED for _ in forced))
            chance *= share
            pending = [token, *forced]
        table.certain = seq.known
        return Guess(tuple(drafts[:most]), tuple(levels[:most]))

    def _step(
        self,
        seq: EngineSequence,
        table: DraftTable,
        pending: Sequence[int],
        new_blocks: tuple[int, ...],
        rows: MaskRows | None,
    ) -> SampledToken:
        """Compute `pending` after the tokens of `table`, and draw the token after them."""
        executor, size = self._model.executor, self._model.max_batched_tokens
        admitted: tuple[Admitted, ...] = ()
        if not table.admitted:
            table.admitted = True
            known, prompt = tuple(seq.tokens), len(seq.request.prompt)
            sampling = _options(seq.request.sampling)
            admitted = (Admitted(seq.id, known, prompt, tuple(table.blocks), sampling),)
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


def _options(sampling: SamplingParams) -> SamplingParams:
    """The options of drafts: those of the request, with the log-probability of each draft."""
    greedy = sampling.seed is None
    temperature = 0.0 if greedy else sampling.temperature
    return replace(sampling, temperature=temperature, logprobs=0, masked_share=False)
