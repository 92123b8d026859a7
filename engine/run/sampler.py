"""Logits to picks.

Does: gather what the picking sequences ask for into one call of the logits pipeline, and read its answer. A stage that
nobody asks for is left out for the whole batch; a batch that is greedy, free and plain takes one maximum. Does not:
define the stages (`kernels.reference_logits` does) or keep state.

Penalties count as everywhere: repetition counts prompt and output; presence and frequency count the output alone,
forced tokens included. Log-probabilities are the model's own among the legal tokens, before anything else.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ...grammar.api import words
from ...kernels.contracts import (
    NOT_FINITE,
    OK,
    Bias,
    Draw,
    Drawn,
    Kernels,
    Penalties,
    PickArgs,
    Truncation,
)
from ..errors import InternalError
from ..plan import Masks, Pick, Picked
from ..types import Failure, SamplingParams, TokenLogprob
from .rows import SequenceRows

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

Rows = npt.NDArray[np.int64]


class Sampler:
    """Picks for the sequences of `rows`. `vocab` tokens exist; none at or past it is ever picked."""

    def __init__(self, kernels: Kernels, rows: SequenceRows, vocab: int) -> None:
        self._kernels = kernels
        self._rows = rows
        self._vocab = vocab

    def pick(self, logits: Tensor, picking: Sequence[int], rows: Rows, masks: Masks) -> Picked:
        """One `Pick` for each of `picking`, whose logits are the first rows of `logits` [R or more, V] float32."""
        if not picking:
            return Picked()
        params = [self._params(row) for row in rows]
        args = PickArgs(
            vocab=self._vocab,
            masks=self._masks(picking, masks),
            bias=_bias(params),
            penalties=self._penalties(params, rows),
            draw=self._draw(params, rows),
            truncation=_truncation(params),
            top=max((p.logprobs for p in params if p.logprobs is not None), default=None),
        )
        return _picked(picking, params, self._kernels.pick(logits[: len(picking)], args))

    def _params(self, row: int) -> SamplingParams:
        params = self._rows.sampling[row]
        if params is None:
            raise InternalError(f"row {row} is free and is asked for a token")
        return params

    def _masks(self, picking: Sequence[int], masks: Masks) -> Tensor | None:
        """The rows of `picking`, in its order, as wide as the vocabulary; all ones for the free."""
        if not masks.row_of:
            return None
        width = words(self._vocab)
        given = min(width, masks.rows.shape[1])
        out = np.full((len(picking), width), -1, dtype=np.int32)
        which = [i for i, seq_id in enumerate(picking) if seq_id in masks.row_of]
        source = [masks.row_of[picking[i]] for i in which]
        out[which, :given] = masks.rows[source, :given]
        out[which, given:] = 0
        return torch.from_numpy(out)

    def _penalties(self, params: Sequence[SamplingParams], rows: Rows) -> Penalties | None:
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
        return Penalties(
            rows=torch.from_numpy(np.concatenate(where)),
            tokens=torch.from_numpy(np.concatenate(tokens)),
            counts=torch.from_numpy(np.concatenate(counts)),
            repetition=torch.tensor([p.repetition_penalty for p in params]),
            presence=torch.tensor([float(p.presence_penalty) for p in params]),
            frequency=torch.tensor([float(p.frequency_penalty) for p in params]),
        )

    def _draw(self, params: Sequence[SamplingParams], rows: Rows) -> Draw | None:
        if all(p.temperature == 0 for p in params):
            return None
        return Draw(
            temperature=torch.tensor([float(p.temperature) for p in params]),
            keys=torch.from_numpy(self._rows.draw_keys(rows)),
        )


def _bias(params: Sequence[SamplingParams]) -> Bias | None:
    entries = [
        (i, token, value) for i, p in enumerate(params) for token, value in p.logit_bias.items()
    ]
    if not entries:
        return None
    rows, tokens, values = zip(*entries, strict=True)
    return Bias(torch.tensor(rows), torch.tensor(tokens), torch.tensor(values, dtype=torch.float32))


def _truncation(params: Sequence[SamplingParams]) -> Truncation | None:
    if all(p.temperature == 0 or (p.top_k < 1 and p.top_p >= 1 and p.min_p <= 0) for p in params):
        return None
    return Truncation(
        top_k=torch.tensor([max(p.top_k, 0) for p in params]),
        top_p=torch.tensor([float(p.top_p) for p in params]),
        min_p=torch.tensor([float(p.min_p) for p in params]),
    )


def _picked(picking: Sequence[int], params: Sequence[SamplingParams], drawn: Drawn) -> Picked:
    tokens, status = drawn.tokens.tolist(), drawn.status.tolist()
    picks = []
    for i, seq_id in enumerate(picking):
        if status[i] != OK:
            failure = NUMERICAL if status[i] == NOT_FINITE else NO_TOKEN
            picks.append(Pick(seq_id, (), failure=failure))
            continue
        asked = params[i].logprobs
        logprobs = () if asked is None else (_logprob(drawn, i, tokens[i], asked),)
        picks.append(Pick(seq_id, (tokens[i],), logprobs))
    return Picked(tuple(picks))


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
