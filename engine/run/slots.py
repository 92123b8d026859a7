"""The executor's state of each running sequence, in arrays of fixed size.

Does: keep a row per sequence: block table, tokens, sampling options, and the index of its last token on the device.
Does not: decide anything; plans change it. The arrays never grow: `max_running` rows of `max_context` tokens.
"""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import InternalError
from ..memory.block_groups import BlockGroups
from ..plan import NO_ADAPTER, PLACEHOLDER, Admitted
from ..types import SamplingParams
from .compiled_loops import compiled
from .row_tables import RowTables

# Bits of `SamplingColumns.needs`.
TRUNCATED = 1  # draws with top-k, top-p or min-p
SPECIAL = 2  # has a penalty, a bias, or log-probabilities

LEAST_TEMPERATURE = 1e-5
"""Lower temperatures are greedy: `logit / temperature` would overflow float32, and ties would decide."""

_WORD64 = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
# For compiled code, where uint64 and int together do not make uint64.
_ONE, _STEP = np.uint64(1), np.uint64(_GOLDEN)
_SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)
_NO_SEQUENCE = np.iinfo(np.int64).min

Ints = npt.NDArray[np.int64]


class SamplingColumns(NamedTuple):
    """Sampling options and seeds by row: temperature 0 is greedy; top-k 0, top-p 1 and min-p 0 truncate nothing."""

    temperature: npt.NDArray[np.float32]
    top_k: Ints
    top_p: npt.NDArray[np.float32]
    min_p: npt.NDArray[np.float32]
    needs: npt.NDArray[np.uint8]
    seeds: npt.NDArray[np.uint64]


class Draws(NamedTuple):
    """Keys and temperatures of some rows; `needs`: the union of their `SamplingColumns.needs`."""

    keys: Ints
    temperature: npt.NDArray[np.float32]
    needs: int


class SlotState:
    """The rows of the sequences.

    Arrays are indexed by row: `blocks` has the block tables, `tokens` int32 [rows, context], `prompts` int64 [rows]
    (tokens of the prompt), `adapters` int32 [rows] (places, or `NO_ADAPTER`). A token may be `PLACEHOLDER` until it is
    read from the device.
    """

    def __init__(
        self,
        max_running: int,
        max_context: int,
        block_size: int,
        groups: BlockGroups | None = None,
    ) -> None:
        groups = BlockGroups(block_size) if groups is None else groups
        self.blocks = RowTables(max_running, -(-max_context // block_size), groups)
        self.tokens = np.zeros((max_running, max_context), dtype=np.int32)
        self.prompts = np.zeros(max_running, dtype=np.int64)
        self.adapters = np.full(max_running, NO_ADAPTER, dtype=np.int32)
        self.sampling: list[SamplingParams | None] = [None] * max_running
        self.columns = SamplingColumns(
            np.zeros(max_running, dtype=np.float32),
            np.zeros(max_running, dtype=np.int64),
            np.ones(max_running, dtype=np.float32),
            np.zeros(max_running, dtype=np.float32),
            np.zeros(max_running, dtype=np.uint8),
            np.zeros(max_running, dtype=np.uint64),
        )
        self._sample_index = np.full(max_running, -1, dtype=np.int64)
        self._holders = np.full(max_running, _NO_SEQUENCE, dtype=np.int64)
        self._row_of: dict[int, int] = {}
        self._free = list(range(max_running - 1, -1, -1))
        self._entropy = secrets.randbits(64)

    @property
    def tables(self) -> npt.NDArray[np.int32]:
        """The block tables of the first block group [rows, blocks]."""
        first: npt.NDArray[np.int32] = self.blocks.tables[0]
        return first

    @property
    def row_of(self) -> Mapping[int, int]:
        """Rows by sequence id."""
        return self._row_of

    def admit(self, admitted: Admitted) -> int:
        """Assign a row to a sequence; the row. Raises `InternalError` if it has a row, or none is free."""
        if admitted.seq_id in self._row_of:
            raise InternalError(f"sequence {admitted.seq_id} was admitted twice")
        if not self._free:
            raise InternalError(f"more than {len(self.sampling)} sequences were admitted")
        row = self._free.pop()
        self._row_of[admitted.seq_id] = row
        self._holders[row] = admitted.seq_id
        self.blocks.replace(row, (admitted.blocks, *admitted.other_tables))
        self.tokens[row, : len(admitted.tokens)] = admitted.tokens
        self.prompts[row] = admitted.prompt_length
        self.adapters[row] = admitted.adapter
        self._set_sampling(row, admitted.sampling)
        seed = admitted.sampling.seed
        # Without a seed: from the entropy of this process, and the same again after a preemption of the sequence.
        self.columns.seeds[row] = (
            _mix(self._entropy + admitted.seq_id * _GOLDEN) if seed is None else _mix(seed)
        )
        return row

    def read(
        self, sequences: Sequence[int], rows: Ints, positions: Ints, tokens: npt.NDArray[Any]
    ) -> None:
        """Replace placeholders by the sampled tokens of these sequences, in the rows that they had in that step."""
        holders = np.fromiter(sequences, np.int64, len(sequences))
        _read(self.tokens, self._holders, holders, rows, positions, tokens)

    def note_samples(self, rows: Ints) -> None:
        """Note that the device holds the sampled tokens of these rows, in their order, until the next call.

        Of several tokens of one row the last is its next token.
        """
        self._sample_index[rows] = np.arange(len(rows))

    def sources(self, tokens: npt.NDArray[np.int32], owners: Ints) -> Ints:
        """The index of each token of these rows among the tokens that the device holds; -1 for known tokens."""
        return np.where(tokens == PLACEHOLDER, self._sample_index[owners], -1)

    def forget(self, seq_id: int) -> None:
        """Free the row of a sequence. Raises `InternalError` for an unknown one."""
        row = self._row_of.pop(seq_id, None)
        if row is None:
            raise InternalError(f"sequence {seq_id} was released and is not here")
        self.sampling[row] = None
        self.adapters[row] = NO_ADAPTER
        self._holders[row] = _NO_SEQUENCE
        self._free.append(row)

    def draws(self, rows: Ints, positions: Ints, count: int) -> Draws:
        """Keys and temperatures for the tokens at `positions` of these rows, padded to `count` with greedy rows.

        The keys, int64 [count, 2], are the halves of a word: SplitMix64 of (seed, position), so a request's draws
        depend on its seed and on nothing else.
        """
        keys, temperature = np.empty((count, 2), np.int64), np.empty(count, np.float32)
        columns = self.columns
        needs = _draws(
            columns.seeds, columns.temperature, columns.needs, rows, positions, keys, temperature
        )
        return Draws(keys, temperature, needs)

    def check(self) -> None:
        """Check that every row is free or belongs to one sequence. Raises `InternalError`."""
        rows = sorted([*self._row_of.values(), *self._free])
        if rows != list(range(len(self.sampling))):
            raise InternalError("a row is lost, or belongs to two sequences")

    def _set_sampling(self, row: int, sampling: SamplingParams) -> None:
        temperature = sampling.temperature if sampling.temperature >= LEAST_TEMPERATURE else 0
        self.sampling[row] = sampling
        self.columns.temperature[row] = temperature
        self.columns.top_k[row] = max(sampling.top_k, 0)
        self.columns.top_p[row] = sampling.top_p
        self.columns.min_p[row] = sampling.min_p
        truncated = sampling.top_k > 0 or sampling.top_p < 1 or sampling.min_p > 0
        special = (
            sampling.is_penalised or bool(sampling.logit_bias) or sampling.logprobs is not None
        )
        self.columns.needs[row] = TRUNCATED * (truncated and temperature > 0) + SPECIAL * special


def check_fits(sampling: SamplingParams) -> None:
    """Raise the exception that storing these values in arrays would raise."""
    bias = sampling.logit_bias
    for value in (
        *(sampling.temperature, sampling.top_p, sampling.min_p, sampling.repetition_penalty),
        *(sampling.presence_penalty, sampling.frequency_penalty, *bias.values()),
    ):
        np.float32(value + 0.0)
    for count in (sampling.top_k, sampling.logprobs or 0, *bias):
        np.int64(count + 0)
    _mix(sampling.seed or 0)


@compiled
def _draws(
    seeds: npt.NDArray[np.uint64],
    temperatures: npt.NDArray[np.float32],
    needs: npt.NDArray[np.uint8],
    rows: Ints,
    positions: Ints,
    keys: Ints,
    temperature: npt.NDArray[np.float32],
) -> int:
    """Fill `keys` and `temperature`; the union of the rows' `needs`."""
    found = 0
    for i in range(len(rows)):
        row = rows[i]
        z = seeds[row] + (np.uint64(positions[i]) + _ONE) * _STEP
        z = (z ^ (z >> _SHIFTS[0])) * _FACTORS[0]
        z = (z ^ (z >> _SHIFTS[1])) * _FACTORS[1]
        z ^= z >> _SHIFTS[2]
        keys[i, 0], keys[i, 1] = np.int64(z >> _HALF), np.int64(z & _LOW)
        temperature[i] = temperatures[row]
        found |= needs[row]
    keys[len(rows) :] = 0
    temperature[len(rows) :] = 0
    return found


@compiled
def _read(
    tokens: npt.NDArray[np.int32],
    holders: Ints,
    sequences: Ints,
    rows: Ints,
    positions: Ints,
    sampled: Ints,
) -> None:
    for i in range(len(rows)):
        row, position = rows[i], positions[i]
        if holders[row] == sequences[i] and tokens[row, position] == PLACEHOLDER:
            tokens[row, position] = sampled[i]


def _mix(value: int) -> int:
    """SplitMix64's finaliser (Steele, Lea and Flood 2014) of `value` modulo 2**64."""
    z = value & _WORD64
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _WORD64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WORD64
    return z ^ (z >> 31)
