"""The logits pipeline on an accelerator: `Kernels.pick` by Triton kernels.

Does: call the passes that a batch needs (one; three with truncation), own their scratch. Does not: wait for the device
or read from it. The definitions stand in `reference_logits`; the same logits and keys give the same tokens, except
where two candidates are equal up to the rounding of float32 exponentials and logarithms (a few in a million draws;
equal logits under temperature 0 are no such case: the lowest token wins on both sides). Log-probabilities agree to
about 1e-5.
"""

from dataclasses import replace
from typing import Any, Final

import torch
import triton
from torch import Tensor

from .contracts import WORD_BITS, Bias, Draw, Drawn, Penalties, PickArgs
from .launch import overlap, processors
from .pick_cut import MOST, cut_pass
from .pick_flat import flat_pass
from .pick_tile import tile_pass
from .pick_weights import LANES, OCTETS, PARTS, TILE, TRIES
from .reference_logits import lead

_SPARE_BITS: Final = {torch.float32: 0, torch.float16: 13, torch.bfloat16: 16}
_WARPS: Final = 8
_REGISTERS: Final = 128
_CUT_WARPS: Final = 8
_CUT_REGISTERS: Final = 128
_FLAT_WARPS: Final = 4
_FLAT_REGISTERS: Final = 80
# Programs that a processor runs at once: as many as it has registers for.
_RESIDENT: Final = 2
_FLAT_RESIDENT: Final = 6


class Picker:
    """`pick` for up to `most_rows` rows of logits on one device. One instance serves one stream."""

    def __init__(self, device: torch.device, most_rows: int) -> None:
        self._cold = torch.zeros(most_rows, dtype=torch.float32, device=device)
        self._keys = torch.zeros((most_rows, 2), dtype=torch.int64, device=device)
        self._counters = torch.zeros(most_rows, dtype=torch.int32, device=device)

    def pick(self, logits: Tensor, args: PickArgs) -> Drawn:
        """One token a row; see `contracts.Kernels.pick`. `logits` [R, V] with a last stride of 1 is not changed.

        Raises:
            ValueError: rows or layout do not fit.
        """
        rows, columns = logits.shape
        if rows > len(self._counters) or (columns > 1 and logits.stride(1) != 1):
            raise ValueError(
                f"logits {tuple(logits.shape)} with strides {logits.stride()}: at most"
                f" {len(self._counters)} rows of contiguous logits"
            )
        if args.draw is None:
            args = replace(args, draw=Draw(self._cold[:rows], self._keys[:rows]), truncation=None)
        run = _Run(_in_words(logits), args)
        run.tile_pass(self._counters)
        if run.truncates:
            run.cut_pass()
            run.flat_pass(self._counters)
        return run.drawn()


class _Run:
    """The buffers of one call."""

    def __init__(self, logits: Tensor, args: PickArgs) -> None:
        """`args` says what to draw; it may be at a temperature of 0."""
        rows, columns = logits.shape
        self.logits, self.args = logits, args
        self.vocab = min(args.vocab, columns)
        # An even number, for programs go through two side by side; the last may be empty.
        self.tiles = 2 * triton.cdiv(self.vocab, 2 * TILE.value)
        # Every part begins at a multiple of 16 bytes: a kernel is compiled anew for pointers that do not.
        width = triton.cdiv(rows, 4) * 4
        self.answer = logits.new_empty((2, width), dtype=torch.int64)[:, :rows]
        self.numbers = self._floats(8 * width).view(8, width)[:, :rows]
        self.parts = self._floats(rows * self.tiles * PARTS.value)
        self.edits = _edits(args.bias, args.penalties, rows, logits.device)
        self.edited = self._floats(rows * self.tiles * TILE.value if self.edits else 1)
        groups = rows * self.tiles * OCTETS.value if self.truncates else 1
        self.groups = self._floats(groups), self._floats(groups)
        self.ranks = self._floats(rows * self.tiles * LANES.value if args.top else 1)
        # Tokens of tries and their logits; how many rows are left to `pick_flat`, and which.
        tries = rows * TRIES.value if self.truncates else 1
        left = self._floats(1 + rows).view(torch.int32)
        self.tried = self._floats(tries).view(torch.int32), self._floats(tries), left

    @property
    def truncates(self) -> bool:
        """Whether something may be left out."""
        return self.args.truncation is not None

    def _floats(self, size: int) -> Tensor:
        return torch.empty(size, dtype=torch.float32, device=self.logits.device)

    def _scores(self) -> tuple[Any, ...]:
        columns = self.logits.shape[1]
        stored = triton.cdiv(columns, 2) if _paired(self.logits) else columns
        return self.logits, self.logits.stride(0), stored, self.vocab

    def _mask(self) -> tuple[Any, ...]:
        masks, rows = self.args.masks, self.args.mask_rows
        if masks is None:
            return self.answer, 0, 0, self.answer
        return masks, masks.stride(0), masks.shape[1], self.answer if rows is None else rows

    def _given(self) -> tuple[Any, ...]:
        """What all passes read: scores, mask, draw, edited logits and edits."""
        draw = self.args.draw
        assert draw is not None
        return (
            self._scores(),
            self._mask(),
            (draw.temperature, draw.keys),
            self.edited,
            self.edits,
        )

    def _outputs(self) -> tuple[Any, ...]:
        # Log-probabilities, sums, what masks removed, and where (maximum, weight) of each row begin.
        return (*self.answer, *self.numbers[:4], *self.tried)

    @property
    def _believing(self) -> bool:
        return self.args.top is not None or self.args.mass

    def _flags(self) -> dict[str, Any]:
        return {
            "tiles": self.tiles,
            "masked": self.args.masks is not None,
            "mapped": self.args.mask_rows is not None,
            "editing": bool(self.edits),
            "believing": self._believing,
        }

    def tile_pass(self, counters: Tensor) -> None:
        """All tiles: the draw, and a survey if something may be left out."""
        args, programs = self.args, processors(self.logits.device) * _RESIDENT
        # Programs a row: as few as fill the device.
        splits = max(1, min(self.tiles // 2, programs // self.logits.shape[0]))
        tile_pass[(self.logits.shape[0], splits)](
            *self._given(),
            self.groups,
            self.ranks,
            self.parts,
            counters,
            self._outputs(),
            splits,
            triton.cdiv(self.tiles // 2 * 65_536, splits),
            **self._flags(),
            lead=lead(self.vocab),
            padded_tiles=triton.next_power_of_2(self.tiles),
            paired=_paired(self.logits),
            tries=TRIES.value if self.truncates else 1,
            surveying=self.truncates,
            massing=args.mass,
            ranking=bool(args.top),
            num_warps=_WARPS,
            maxnreg=_REGISTERS,
            **overlap(self.logits),
        )

    def cut_pass(self) -> None:
        """What stays of rows, and the draw from it, where it is found on the chip; after a survey."""
        rows, args = self.logits.shape[0], self.args
        assert args.truncation is not None
        listed = rows * (self.tiles * OCTETS.value + MOST.value)
        lists = torch.empty(listed, dtype=torch.int32, device=self.logits.device)
        cut_pass[(rows,)](
            *self._given(),
            (args.truncation.top_k, args.truncation.top_p, args.truncation.min_p),
            self.groups,
            lists,
            self._floats(rows * MOST.value),
            self._outputs(),
            self._flat(),
            **self._flags(),
            lead=lead(self.vocab),
            padded_groups=triton.next_power_of_2(self.tiles * OCTETS.value),
            spare=0 if self.edits else _SPARE_BITS[self.logits.dtype],
            num_warps=_CUT_WARPS,
            maxnreg=_CUT_REGISTERS,
            **overlap(self.logits),
        )

    def flat_pass(self, counters: Tensor) -> None:
        """The rows that are left."""
        args, programs = self.args, processors(self.logits.device) * _FLAT_RESIDENT
        assert args.truncation is not None
        flat_pass[(max(self.logits.shape[0], programs),)](
            *self._given(),
            (args.truncation.top_k, args.truncation.top_p, args.truncation.min_p),
            self.parts,
            counters,
            self._outputs(),
            self._flat(),
            **self._flags(),
            padded_tiles=triton.next_power_of_2(self.tiles),
            paired=_paired(self.logits),
            spare=0 if self.edits else _SPARE_BITS[self.logits.dtype],
            num_warps=_FLAT_WARPS,
            maxnreg=_FLAT_REGISTERS,
            **overlap(self.logits),
        )

    def _flat(self) -> tuple[Tensor, Tensor]:
        """Of each row what is left to do, and the bounds of its cut."""
        return self.numbers[5].view(torch.int32), self.numbers[6:]

    def drawn(self) -> Drawn:
        """What the passes found."""
        args, (tokens, status) = self.args, self.answer
        sums, removed = (self.numbers[1], self.numbers[2]) if args.mass else (None, None)
        if args.top is None:
            return Drawn(tokens, status, logsumexp=sums, removed=removed)
        top_tokens, top_logits = _best(self, min(args.top, self.vocab))
        top_logprobs = top_logits - self.numbers[1][:, None]
        return Drawn(tokens, status, self.numbers[0], top_tokens, top_logprobs, sums, removed)


def _best(run: _Run, count: int) -> tuple[Tensor, Tensor]:
    """The `count` legal tokens with the largest logits, and these: among the groups with the largest maxima."""
    rows, device = run.logits.shape[0], run.logits.device
    if count == 0:
        return run.answer.new_empty((rows, 0)), run.numbers.new_empty((rows, 0))
    lanes = run.ranks.view(rows, -1)
    groups = lanes.topk(min(count, lanes.shape[1]), -1).indices
    depth = torch.arange(TILE.value // LANES.value, device=device) * LANES.value
    first = groups // LANES.value * TILE.value - lead(run.vocab) + groups % LANES.value
    members = (first[:, :, None] + depth).view(rows, -1)
    tokens = members.clamp(0, run.vocab - 1)
    legal = (members >= 0) & (members < run.vocab)
    if run.args.masks is not None:
        which = run.args.mask_rows
        row = torch.arange(rows, device=device) if which is None else which.clamp(min=0).long()
        at = (tokens // WORD_BITS).clamp(max=run.args.masks.shape[1] - 1)
        given = (run.args.masks[row[:, None], at] >> (tokens % WORD_BITS)) & 1 != 0
        given &= tokens < run.args.masks.shape[1] * WORD_BITS
        legal &= given if which is None else given | (which < 0)[:, None]
    values = run.logits.gather(1, tokens).float().masked_fill(~legal, float("-inf"))
    found = values.topk(count, -1)
    return tokens.gather(1, found.indices), found.values


def _paired(logits: Tensor) -> bool:
    """Whether two logits make a word."""
    return logits.element_size() == 2


def _in_words(logits: Tensor) -> Tensor:
    """The logits, or where two of them do not make a word at every row's beginning, a copy where they do."""
    if _paired(logits) and (logits.stride(0) % 2 or logits.data_ptr() % 4):
        rows, columns = logits.shape
        copy = logits.new_empty((rows, columns + columns % 2))
        copy[:, :columns] = logits
        return copy[:, :columns]
    return logits


def _edits(
    bias: Bias | None, penalties: Penalties | None, rows: int, device: torch.device
) -> tuple[Tensor, ...]:
    """What `pick_tile.edit_tile` reads, empty if nothing is edited.

    Bias: where each row's pairs begin [rows + 1], tokens, values; penalties: likewise, with counts; and
    (repetition, presence, frequency) [rows, 3].
    """
    if bias is None and penalties is None:
        return ()
    none = torch.zeros(rows + 1, dtype=torch.int64, device=device)
    ends = torch.arange(rows + 1, device=device)
    of_bias = (none, none, none)
    if bias is not None:
        of_bias = _pairs(bias.rows, ends, bias.tokens, bias.values)
    if penalties is None:
        return (*of_bias, none, none, none, torch.ones((rows, 3), device=device))
    strengths = (penalties.repetition, penalties.presence, penalties.frequency)
    of_penalties = _pairs(penalties.rows, ends, penalties.tokens, penalties.counts)
    return (*of_bias, *of_penalties, torch.stack(strengths, 1))


def _pairs(
    rows: Tensor, ends: Tensor, tokens: Tensor, values: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Where each row's pairs begin, and the pairs side by side."""
    return torch.searchsorted(rows.contiguous(), ends), tokens.contiguous(), values.contiguous()
