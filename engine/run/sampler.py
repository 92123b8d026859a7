"""Logits to picks.

Does: gather what the picking sequences ask for into one call of the logits pipeline, and read its answer. A stage that
nobody asks for is left out for the whole batch; a batch that is greedy, free and plain takes one maximum. Does not:
define the stages (`kernels.reference_logits` does) or keep state.

Penalties count as everywhere: repetition counts prompt and output; presence and frequency count the output alone,
forced tokens included. Log-probabilities are the model's own among the legal tokens, before anything else.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
from torch import Tensor

from ...kernels.contracts import (
    NOT_FINITE,
    OK,
    Bias,
    Draw,
    Drawn,
    Penalties,
    PickArgs,
    Truncation,
)
from ..errors import InternalError
from ..plan import Masks, Pick, Picked, Resident
from ..types import Failure, SamplingParams, TokenLogprob
from .batch import Batch
from .compute import Array, Compute
from .rows import Ints, SequenceRows

NUMERICAL = Failure(
    "numerical_error",
    "the model's output for this request is not a number",
    hint="the weights may be damaged, or the dtype too narrow for this model",
)
NO_TOKEN = Failure(
    InternalError.code,
    "no token is legal here, and the output is not complete",
    hint="report the schema that this happened with",
)

Wanted = Sequence[int | None]
"""For each pick, how many alternatives are reported; None for those who want no log-probabilities."""


class Walks(Protocol):
    """Makes masks where the logits are, and follows the picks; `residents.Residents` does."""

    def walk(self, rows: Ints, places: Ints, residents: Sequence[Resident], out: Tensor) -> None:
        """Masks [N, words] of `residents` in rows `rows` [N], whose logits are at `places` [N]."""
        ...

    def advance(self, tokens: Tensor) -> None:
        """Follow what was picked, one token a row of the logits, for those of the last walk."""
        ...


class Sampler:
    """Says how the sequences of `rows` pick. `vocab` tokens exist; none at or past it is ever picked."""

    def __init__(
        self, compute: Compute, rows: SequenceRows, vocab: int, walks: Walks | None = None
    ) -> None:
        self._compute = compute
        self._rows = rows
        self._vocab = vocab
        self._walks = walks

    def args(self, batch: Batch, masks: Masks, count: int) -> PickArgs:
        """What the picking sequences of `batch` ask for, padded to `count` rows of logits."""
        rows, wishes = batch.picking_rows, self._rows.wishes

        def send(array: Array, filler: float = 0) -> Tensor:
            return self._compute.send(_filled(array, count, filler))

        given = mask_rows = draw = truncation = None
        if masks.row_of or masks.residents or self._compute.uniform:
            given = self._compute.masks(masks.rows, len(masks.residents))
            row_of = masks.row_of
            places = np.array([row_of.get(s, -1) for s in batch.picking], dtype=np.int32)
            if masks.residents:
                self._walk(batch, masks, given, places)
            mask_rows = send(places, -1)
        temperature = wishes.temperature[rows]
        if self._compute.uniform or temperature.any():
            keys = self._rows.draw_keys(rows, batch.next_positions)
            draw = Draw(send(temperature), send(keys))
            top_k, top_p, min_p = wishes.top_k[rows], wishes.top_p[rows], wishes.min_p[rows]
            if ((temperature > 0) & ((top_k > 0) | (top_p < 1) | (min_p > 0))).any():
                truncation = Truncation(send(top_k), send(top_p, 1), send(min_p))
        plain = PickArgs(self._vocab, given, mask_rows, draw=draw, truncation=truncation)
        return self._special(plain, rows, count) if wishes.special[rows].any() else plain

    def wanted(self, batch: Batch) -> Wanted | None:
        """Who wants log-probabilities, and how many; None if nobody does."""
        if not self._rows.wishes.special[batch.picking_rows].any():
            return None
        return [params.logprobs for params in self._params(batch.picking_rows)]

    def follow(self, masks: Masks, drawn: Drawn) -> None:
        """What was drawn under the masks of residents, they follow themselves."""
        if masks.residents and self._walks is not None:
            self._walks.advance(drawn.tokens)

    def _walk(
        self, batch: Batch, masks: Masks, given: Tensor, places: npt.NDArray[np.int32]
    ) -> None:
        """Make the masks of residents, behind those that were given, and say in `places` where they are."""
        if self._walks is None:
            raise InternalError("this executor makes no masks")
        residents, first = masks.residents, len(masks.rows)
        at = np.array([i for i, s in enumerate(batch.picking) if s in residents], dtype=np.int64)
        places[at] = first + np.arange(at.size)
        told = [residents[batch.picking[i]] for i in at.tolist()]
        out = given[first : first + at.size]
        self._walks.walk(batch.picking_rows[at], at, told, out)

    def _special(self, plain: PickArgs, rows: Ints, count: int) -> PickArgs:
        """`plain` with what few ask for."""
        params = self._params(rows)
        return PickArgs(
            plain.vocab,
            plain.masks,
            plain.mask_rows,
            bias=self._bias(params),
            penalties=self._penalties(params, rows, count),
            draw=plain.draw,
            truncation=plain.truncation,
            top=max((p.logprobs for p in params if p.logprobs is not None), default=None),
        )

    def _params(self, rows: Ints) -> list[SamplingParams]:
        params = [self._rows.sampling[row] for row in rows.tolist()]
        known = [p for p in params if p is not None]
        if len(known) < len(params):
            raise InternalError("a free row is asked for a token")
        return known

    def _penalties(
        self, params: Sequence[SamplingParams], rows: Ints, count: int
    ) -> Penalties | None:
        penalised = [
            i
            for i, p in enumerate(params)
            if p.repetition_penalty != 1 or p.presence_penalty or p.frequency_penalty
        ]
        if not penalised:
            return None
        where, tokens, counts = [], [], []
        for i in penalised:
            row = rows[i]
            known, prompt = int(self._rows.known[row]), int(self._rows.prompts[row])
            history = self._rows.tokens[row, :known]
            distinct, place = np.unique(history, return_inverse=True)
            where.append(np.full(distinct.size, i, dtype=np.int64))
            tokens.append(distinct.astype(np.int64))
            counts.append(np.bincount(place[prompt:], minlength=distinct.size).astype(np.float32))
        send = self._compute.send
        return Penalties(
            rows=send(np.concatenate(where)),
            tokens=send(np.concatenate(tokens)),
            counts=send(np.concatenate(counts)),
            repetition=send(_column([p.repetition_penalty for p in params], count, 1)),
            presence=send(_column([p.presence_penalty for p in params], count, 0)),
            frequency=send(_column([p.frequency_penalty for p in params], count, 0)),
        )

    def _bias(self, params: Sequence[SamplingParams]) -> Bias | None:
        entries = [
            (i, token, value) for i, p in enumerate(params) for token, value in p.logit_bias.items()
        ]
        if not entries:
            return None
        rows, tokens, values = (np.array(column) for column in zip(*entries, strict=True))
        send = self._compute.send
        return Bias(send(rows), send(tokens), send(values.astype(np.float32)))


def picks(picking: Sequence[int], drawn: Drawn, wanted: Wanted | None) -> Picked:
    """The answer to a plan, from what was drawn, on the host."""
    count = len(picking)
    tokens, status = drawn.tokens[:count].tolist(), drawn.status[:count].tolist()
    if wanted is None and not any(status):
        return Picked(
            tuple(Pick(seq_id, (token,)) for seq_id, token in zip(picking, tokens, strict=True))
        )
    found = []
    for i, seq_id in enumerate(picking):
        if status[i] != OK:
            failure = NUMERICAL if status[i] == NOT_FINITE else NO_TOKEN
            found.append(Pick(seq_id, (), failure=failure))
            continue
        asked = None if wanted is None else wanted[i]
        logprobs = () if asked is None else (_logprob(drawn, i, tokens[i], asked),)
        found.append(Pick(seq_id, (tokens[i],), logprobs))
    return Picked(tuple(found))


def _logprob(drawn: Drawn, row: int, token: int, top: int) -> TokenLogprob:
    """The chosen token's log-probability and the `top` most likely legal tokens'."""
    assert drawn.logprobs is not None
    assert drawn.top_tokens is not None
    assert drawn.top_logprobs is not None
    pairs = zip(
        drawn.top_tokens[row, :top].tolist(), drawn.top_logprobs[row, :top].tolist(), strict=True
    )
    legal = tuple((t, p) for t, p in pairs if p > float("-inf"))
    return TokenLogprob(token, float(drawn.logprobs[row]), legal)


def _column(values: Sequence[float], count: int, filler: float) -> Array:
    return _filled(np.array(values, dtype=np.float32), count, filler)


def _filled(array: Array, count: int, filler: float) -> Array:
    """The array with more rows, up to `count`."""
    missing = count - array.shape[0]
    if missing <= 0:
        return array
    return np.concatenate((array, np.full((missing, *array.shape[1:]), filler, array.dtype)))
