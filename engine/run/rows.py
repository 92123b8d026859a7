"""The executor's own copy of what it must remember of each running sequence, in fixed arrays.

Does: a row a sequence: block table, tokens, and how its next token is drawn. Does not: decide anything; plans change
it. The arrays never grow: `max_running` rows of `max_context` tokens.
"""

import secrets
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...kernels.contracts import NULL_BLOCK
from ..errors import InternalError
from ..plan import AHEAD, Admitted
from ..types import SamplingParams

_WORD64 = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
# SplitMix64 by array: as numbers of Python they would be converted at every call.
_ONE, _STEP = np.uint64(1), np.uint64(_GOLDEN)
_SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)

Ints = npt.NDArray[np.int64]


class Wishes(NamedTuple):
    """How rows are drawn, by row: temperature 0 is greedy; top-k 0, top-p 1 and min-p 0 leave nothing out."""

    temperature: npt.NDArray[np.float32]
    top_k: Ints
    top_p: npt.NDArray[np.float32]
    min_p: npt.NDArray[np.float32]
    truncated: npt.NDArray[np.bool_]
    penalised: npt.NDArray[np.bool_]
    special: npt.NDArray[np.bool_]  # is penalised, has a bias, or wants log-probabilities


class SequenceRows:
    """Rows by sequence. Arrays are indexed by row: `tables` int32 [rows, blocks], `tokens` int32 [rows, context],
    `known` and `prompts` int64 [rows] (tokens known, of which prompt). A token may be `AHEAD` until it was read.
    """

    def __init__(self, max_running: int, max_context: int, block_size: int) -> None:
        self.tables = np.full(
            (max_running, -(-max_context // block_size)), NULL_BLOCK, dtype=np.int32
        )
        self.tokens = np.zeros((max_running, max_context), dtype=np.int32)
        self.known = np.zeros(max_running, dtype=np.int64)
        self.prompts = np.zeros(max_running, dtype=np.int64)
        self.seeds = np.zeros(max_running, dtype=np.uint64)
        self.sampling: list[SamplingParams | None] = [None] * max_running
        self.wishes = Wishes(
            np.zeros(max_running, dtype=np.float32),
            np.zeros(max_running, dtype=np.int64),
            np.ones(max_running, dtype=np.float32),
            np.zeros(max_running, dtype=np.float32),
            *(np.zeros(max_running, dtype=np.bool_) for _ in range(3)),
        )
        self._held = [0] * max_running
        self._row_of: dict[int, int] = {}
        self._free = list(range(max_running - 1, -1, -1))
        self._entropy = secrets.randbits(64)

    @property
    def row_of(self) -> Mapping[int, int]:
        """Rows by sequence id."""
        return self._row_of

    def admit(self, admitted: Admitted) -> int:
        """Give a sequence a row, and return it. Raises `InternalError` if it has one, or none is free."""
        if admitted.seq_id in self._row_of:
            raise InternalError(f"sequence {admitted.seq_id} was admitted twice")
        if not self._free:
            raise InternalError(f"more than {len(self.sampling)} sequences were admitted")
        row = self._free.pop()
        self._row_of[admitted.seq_id] = row
        self.tables[row] = NULL_BLOCK
        self._held[row] = 0
        self.hold(row, admitted.blocks)
        self.known[row] = len(admitted.tokens)
        self.tokens[row, : len(admitted.tokens)] = admitted.tokens
        self.prompts[row] = admitted.prompt_length
        self._wish(row, admitted.sampling)
        seed = admitted.sampling.seed
        # Without a seed: as random as this process, and still the same again for a sequence that was preempted.
        self.seeds[row] = (
            _mix(self._entropy + admitted.seq_id * _GOLDEN) if seed is None else _mix(seed)
        )
        return row

    def hold(self, row: int, blocks: Sequence[int]) -> int:
        """Append to a row's block table; returns where. Raises `InternalError` if they do not fit."""
        held = self._held[row]
        if held + len(blocks) > self.tables.shape[1]:
            raise InternalError(f"{held + len(blocks)} blocks do not fit a block table")
        self.tables[row, held : held + len(blocks)] = blocks
        self._held[row] = held + len(blocks)
        return held

    def learn(self, rows: Ints, positions: Ints, tokens: npt.NDArray[np.int32]) -> None:
        """Tokens at positions of rows, several a row in order."""
        self.tokens[rows, positions] = tokens
        # Of several of one row the last stays, which is the largest: they are in order.
        self.known[rows] = np.maximum(self.known[rows], positions + 1)

    def read(self, rows: Ints, positions: Ints, tokens: npt.NDArray[np.int32]) -> None:
        """What was picked for these rows: the tokens that stood there as `AHEAD`."""
        unread = self.tokens[rows, positions] == AHEAD
        self.tokens[rows[unread], positions[unread]] = tokens[unread]

    def forget(self, seq_id: int) -> None:
        """Free the row of a sequence. Raises `InternalError` for an unknown one."""
        row = self._row_of.pop(seq_id, None)
        if row is None:
            raise InternalError(f"sequence {seq_id} was released and is not here")
        self.sampling[row] = None
        self._free.append(row)

    def draw_keys(self, rows: Ints, positions: Ints) -> Ints:
        """Two 32-bit words [rows, 2] of counter state for the tokens to be drawn at `positions`.

        SplitMix64 of (seed, position), so a request's draws depend on its seed and on nothing else.
        """
        z = self.seeds[rows] + (positions.astype(np.uint64) + _ONE) * _STEP
        z = (z ^ (z >> _SHIFTS[0])) * _FACTORS[0]
        z = (z ^ (z >> _SHIFTS[1])) * _FACTORS[1]
        z ^= z >> _SHIFTS[2]
        keys = np.empty((len(z), 2), np.int64)
        np.right_shift(z, _HALF, out=keys[:, 0], casting="unsafe")
        np.bitwise_and(z, _LOW, out=keys[:, 1], casting="unsafe")
        return keys

    def check(self) -> None:
        """Every row is free or belongs to one sequence. Raises `InternalError`."""
        rows = sorted([*self._row_of.values(), *self._free])
        if rows != list(range(len(self.sampling))):
            raise InternalError("a row is lost, or belongs to two sequences")

    def _wish(self, row: int, sampling: SamplingParams) -> None:
        self.sampling[row] = sampling
        self.wishes.temperature[row] = sampling.temperature
        self.wishes.top_k[row] = max(sampling.top_k, 0)
        self.wishes.top_p[row] = sampling.top_p
        self.wishes.min_p[row] = sampling.min_p
        penalised = sampling.repetition_penalty != 1 or bool(
            sampling.presence_penalty or sampling.frequency_penalty
        )
        self.wishes.truncated[row] = sampling.top_k > 0 or sampling.top_p < 1 or sampling.min_p > 0
        self.wishes.penalised[row] = penalised
        self.wishes.special[row] = (
            penalised or bool(sampling.logit_bias) or sampling.logprobs is not None
        )


def _mix(value: int) -> int:
    """SplitMix64's finaliser (Steele, Lea and Flood 2014) of `value` modulo 2**64."""
    z = value & _WORD64
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _WORD64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WORD64
    return z ^ (z >> 31)
