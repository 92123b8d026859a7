"""The sampling inputs of a batch, and the conversion of sampled tokens to the executor's answer.

Does: gather the sampling options of a step's sequences into the inputs of one call of the logits pipeline, and read its
results. A stage that no row needs is skipped for the whole batch; a batch that is greedy, unconstrained and without
options takes one argmax. Does not: define the stages (`kernels.sample.reference_logits`) or keep state.

Penalties follow the usual definitions: repetition counts prompt and output; presence and frequency count the output
only, forced tokens included. Log-probabilities are the model's own over the legal tokens, before all other stages.
"""

from collections.abc import Sequence
from itertools import groupby, takewhile

import numpy as np
import numpy.typing as npt
from intaglio.kernels.sampling_contracts import NOT_FINITE, OK, Sampled

from ..errors import InternalError
from ..plan import Masks, SampledBatch, SampledToken
from ..types import Failure, SamplingParams, TokenLogprob
from .batch import Batch
from .compiled_loops import compiled
from .sampling_inputs import Array, Edits, SamplingInputs
from .sequence_faults import SamplingFault, guarded_sampling
from .slots import SPECIAL, TRUNCATED, Ints, SlotState

# Sources of a mask other than a row of the host: no mask, a mask made on the device.
_FREE = -1
_WALKED = -2
_ALL_FREE = np.zeros(0, np.int32)

NUMERICAL = Failure(
    "numerical_error",
    "the model's output for this request is not a number",
    hint="the weights may be damaged, or the dtype too narrow for this model",
)
NO_TOKEN = Failure(
    InternalError.code,
    "no token is legal here, and the output is not complete",
    hint="report the schema of this request",
)

ReportOptions = Sequence[SamplingParams]
"""The options of each row of logits, of which `logprobs` and `masked_share` say what to report."""


class Sampler:
    """Lays out the sampling inputs of the sequences in `rows`."""

    def __init__(self, rows: SlotState) -> None:
        self._rows = rows

    def inputs(self, batch: Batch, masks: Masks, count: int) -> SamplingInputs:
        """The inputs of sampling for `batch`, padded to `count` rows of logits."""
        rows, row_of = batch.sampling_rows, self._rows.row_of
        draws = self._rows.draws(rows, batch.next_positions, count)
        mask_rows, walk_rows = np.empty(count, np.int32), np.empty(count, np.int32)
        walks = _place_masks(_sources(batch, masks), rows, mask_rows, walk_rows)
        return SamplingInputs(
            draws.keys,
            draws.temperature,
            self._truncation(rows, count) if draws.needs & TRUNCATED else None,
            masks.rows,
            mask_rows,
            walk_rows,
            walks,
            [(row_of[seq_id], replay) for seq_id, replay in masks.replays.items()],
            self._edits(batch, count) if draws.needs & SPECIAL else None,
        )

    def report_options(self, batch: Batch, inputs: SamplingInputs) -> ReportOptions | None:
        """The options of each row; None if no row reports log-probabilities."""
        if inputs.edits is None:
            return None
        return self._params(batch.sampling_rows)

    def _truncation(self, rows: Ints, count: int) -> tuple[Array, ...]:
        """The fields of `Truncation`, by row."""
        columns = self._rows.columns
        given = (columns.top_k[rows], 0), (columns.top_p[rows], 1), (columns.min_p[rows], 0)
        return tuple(_filled(column, count, filler) for column, filler in given)

    def _edits(self, batch: Batch, count: int) -> Edits:
        """The rare options."""
        params = self._params(batch.sampling_rows)
        return Edits(
            _bias(params),
            self._penalties(params, batch, count),
            max((p.logprobs for p in params if p.logprobs is not None), default=None),
            any(p.masked_share and p.logprobs is not None for p in params),
        )

    def _params(self, rows: Ints) -> list[SamplingParams]:
        params = [self._rows.sampling[row] for row in rows.tolist()]
        known = [p for p in params if p is not None]
        if len(known) < len(params):
            raise InternalError("a token is to be sampled for a row without a sequence")
        return known

    def _penalties(
        self, params: Sequence[SamplingParams], batch: Batch, count: int
    ) -> tuple[Array, ...] | None:
        """The fields of `Penalties`. A row of logits counts the tokens before its own position, drafts included."""
        penalised = [i for i, p in enumerate(params) if p.is_penalised]
        if not penalised:
            return None
        where, tokens, counts = [], [], []
        for i in penalised:
            row = batch.sampling_rows[i]
            history = self._rows.tokens[row, : batch.next_positions[i]]
            prompt = int(self._rows.prompts[row])
            distinct, place = np.unique(history, return_inverse=True)
            where.append(np.full(distinct.size, i, dtype=np.int64))
            tokens.append(distinct.astype(np.int64))
            counts.append(np.bincount(place[prompt:], minlength=distinct.size).astype(np.float32))
        return (
            np.concatenate(where),
            np.concatenate(tokens),
            np.concatenate(counts),
            _column([p.repetition_penalty for p in params], count, 1),
            _column([p.presence_penalty for p in params], count, 0),
            _column([p.frequency_penalty for p in params], count, 0),
        )


def _bias(params: Sequence[SamplingParams]) -> tuple[Array, ...] | None:
    entries = [
        (i, token, value) for i, p in enumerate(params) for token, value in p.logit_bias.items()
    ]
    if not entries:
        return None
    rows, tokens, values = (np.array(column) for column in zip(*entries, strict=True))
    return rows, tokens, values.astype(np.float32)


def _sources(batch: Batch, masks: Masks) -> npt.NDArray[np.int32]:
    """The source of each row's mask: `_FREE`, `_WALKED`, or the index of a host row. Empty where all are `_FREE`.

    Raises:
        InternalError: a device would have to make several masks of one sequence.
    """
    host, device = masks.row_of, masks.on_device
    if not host and not device:
        return _ALL_FREE
    found = [_WALKED if s in device else host.get(s, _FREE) for s in batch.picking]
    if batch.most_logits > 1:
        rows = _numbered(batch.picking)
        if any(source == _WALKED and row for source, row in zip(found, rows, strict=True)):
            raise InternalError("a device makes one mask of a sequence in each step")
        found = [s if s < 0 else s + row for s, row in zip(found, rows, strict=True)]
    return np.array(found, np.int32)


def _numbered(picking: Sequence[int]) -> list[int]:
    """The index of each row of logits among the rows of its sequence."""
    return [row for _, rows in groupby(picking) for row, _ in enumerate(rows)]


@compiled
def _place_masks(
    sources: npt.NDArray[np.int32],
    rows: Ints,
    mask_rows: npt.NDArray[np.int32],
    walk_rows: npt.NDArray[np.int32],
) -> bool:
    """Fill `SamplingInputs.mask_rows` and `SamplingInputs.walk_rows`; whether the device makes any mask."""
    walks = False
    walk_rows[:] = -1
    mask_rows[:] = -1
    for i in range(len(sources)):
        if sources[i] == _WALKED:
            mask_rows[i], walk_rows[i], walks = i, rows[i], True
        elif sources[i] != _FREE:
            mask_rows[i] = len(mask_rows) + sources[i]
    # Rows of padding need no logits that no other row needs.
    mask_rows[len(rows) :] = mask_rows[0]
    return walks


def sampled_batch(
    batch: Batch, drawn: Sampled, report_options: ReportOptions | None
) -> SampledBatch:
    """The `SampledBatch` of a plan, from the sampled tokens on the host. Sequences in `batch.failed` get a failure.

    A sequence gets the tokens of its rows up to the first unusable one, and a failure if that is its first row.
    """
    picking, failed = batch.picking, batch.failed
    count = len(picking)
    tokens: list[int] = drawn.tokens.numpy()[:count].tolist()
    status: list[int] = drawn.status.numpy()[:count].tolist()
    if report_options is None and not failed and not any(status) and batch.most_logits <= 1:
        return SampledBatch(tuple(map(SampledToken, picking, zip(tokens, strict=True))))
    found = []
    for seq_id, group in groupby(range(count), picking.__getitem__):
        rows = list(group)
        failure = failed.get(seq_id)
        # After a draft with an unusable row, the sequence continues in the next step as if it had not been drafted.
        usable = list(takewhile(lambda row: status[row] == OK, rows))
        if failure is None and not usable:
            failure = NUMERICAL if status[rows[0]] == NOT_FINITE else NO_TOKEN
        if failure is not None:
            found.append(SampledToken(seq_id, (), failure=failure))
            continue
        rows = usable
        options = None if report_options is None else report_options[rows[0]]
        try:
            logprobs = tuple(
                guarded_sampling(_logprob, drawn, row, tokens[row], options)
                for row in rows
                if options is not None and options.logprobs is not None
            )
        except SamplingFault as fault:
            found.append(SampledToken(seq_id, (), failure=fault.failure))
            continue
        found.append(SampledToken(seq_id, tuple(tokens[row] for row in rows), logprobs))
    return SampledBatch(tuple(found))


def _logprob(drawn: Sampled, row: int, token: int, options: SamplingParams) -> TokenLogprob:
    """The log-probability of the sampled token, with the alternatives and the masked share that its options request."""
    top = options.logprobs
    assert drawn.logprobs is not None
    assert drawn.top_tokens is not None
    assert drawn.top_logprobs is not None
    pairs = zip(
        drawn.top_tokens[row, :top].tolist(), drawn.top_logprobs[row, :top].tolist(), strict=True
    )
    legal = tuple((t, p) for t, p in pairs if p > float("-inf"))
    masked = None
    if options.masked_share:
        assert drawn.masked is not None
        masked = float(drawn.masked[row])
    return TokenLogprob(token, float(drawn.logprobs[row]), legal, masked)


def _column(values: Sequence[float], count: int, filler: float) -> Array:
    return _filled(np.array(values, dtype=np.float32), count, filler)


def _filled(array: Array, count: int, filler: float) -> Array:
    """The array, padded with `filler` to `count` rows."""
    missing = count - array.shape[0]
    if missing <= 0:
        return array
    return np.concatenate((array, np.full((missing, *array.shape[1:]), filler, array.dtype)))
