"""Sampling of a token for each row of logits on an accelerator: `Kernels.sample` in Triton.

Does: launch the passes that a batch needs (one; three with truncation), own their scratch memory. Does not: wait for
the device or read from it. `reference_logits` has the definitions. The same logits and keys give the same tokens as the
reference, except where two candidates are equal up to the rounding of float32 exponentials and logarithms (a few in a
million draws; at temperature 0 both choose the lowest of equal tokens). Log-probabilities agree to about 1e-5.
"""

from dataclasses import replace
from typing import Any, Final

import torch
import triton
from torch import Tensor

from ..contracts import WORD_BITS
from ..runtime.launch import overlap, processors
from ..sampling_contracts import Bias, Draw, Penalties, SampleArgs, Sampled
from .layout import CANDIDATES, LANES, TILE, first_tile_offset
from .logits_pass import tile_pass
from .reference_logits import masked_share
from .sample_records import Cutoffs, DrawInputs, Edits, FlatRows, Groups, MaskWords, Outputs, Scores
from .token_weights import OCTETS, PARTS
from .truncate import MOST, cut_pass
from .truncate_flat import flat_pass

_ZERO_BITS: Final = {torch.float32: 0, torch.float16: 13, torch.bfloat16: 16}
_WARPS: Final = 8
_REGISTERS: Final = 128
_CUT_WARPS: Final = 8
_CUT_REGISTERS: Final = 128
_FLAT_WARPS: Final = 4
_FLAT_REGISTERS: Final = 80
# Programs that a processor runs at once: as many as it has registers for.
_RESIDENT: Final = 2
_FLAT_RESIDENT: Final = 6


class TokenSampler:
    """Sampler of up to `most_rows` rows of logits on one device. One instance serves one stream."""

    def __init__(self, device: torch.device, most_rows: int, splits: int | None = None) -> None:
        """`splits`: the programs of a row, by which sums over it are ordered; None: as many as fill the device."""
        self._splits = splits
        self._cold = torch.zeros(most_rows, dtype=torch.float32, device=device)
        self._keys = torch.zeros((most_rows, 2), dtype=torch.int64, device=device)
        self._counters = torch.zeros(most_rows, dtype=torch.int32, device=device)

    def sample(self, logits: Tensor, args: SampleArgs) -> Sampled:
        """Sample one token per row; see `contracts.Kernels.sample`. `logits` [R, V] with a last stride of 1 is not
        changed.

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
        run = _Run(_in_words(logits), args, self._splits)
        run.tile_pass(self._counters)
        if run.truncates:
            run.cut_pass()
            run.flat_pass(self._counters)
        return run.sampled()


class _Run:
    """The buffers and launches of one call."""

    def __init__(self, logits: Tensor, args: SampleArgs, splits: int | None = None) -> None:
        """`args.draw` is never None: greedy rows have a temperature of 0."""
        rows, columns = logits.shape
        self.logits, self.args, self.splits = logits, args, splits
        self.vocab = min(args.vocab, columns)
        # An even number: programs go through two tiles side by side; the last may be empty.
        self.tiles = 2 * triton.cdiv(self.vocab, 2 * TILE)
        self.parts = self._floats(rows * self.tiles * PARTS.value)
        self.edits = _edits(args.bias, args.penalties, rows, logits.device)
        self.edited = self._floats(rows * self.tiles * TILE if self.edits else 1)
        groups = rows * self.tiles * OCTETS.value if self.truncates else 1
        self.groups = Groups(self._floats(groups), self._floats(groups))
        self.ranks = self._floats(rows * self.tiles * LANES if args.top else 1)
        self.outputs, self.flat = self._results(rows)

    def _results(self, rows: int) -> tuple[Outputs, FlatRows]:
        # Every array begins at a multiple of 16 bytes: a kernel is compiled again for pointers that do not.
        width = triton.cdiv(rows, 4) * 4
        tokens, status = self.logits.new_empty((2, width), dtype=torch.int64)[:, :rows]
        sizes = [width, width, 2 * width, width, 2 * width]
        numbers = self._floats(sum(sizes))
        logprobs, logsumexp, weights, task, bounds = numbers.split(sizes)
        candidates = rows * CANDIDATES if self.truncates else 1
        return Outputs(
            tokens=tokens,
            status=status,
            logprobs=logprobs[:rows],
            logsumexp=logsumexp[:rows],
            weights=weights.view(width, 2)[:rows],
            candidate_tokens=self._floats(candidates).view(torch.int32),
            candidate_logits=self._floats(candidates),
            flat_rows=self._floats(1 + rows).view(torch.int32),
        ), FlatRows(task[:rows].view(torch.int32), bounds.view(width, 2)[:rows])

    @property
    def truncates(self) -> bool:
        """Whether some row may have a top-k, top-p or min-p."""
        return self.args.truncation is not None

    def _floats(self, size: int) -> Tensor:
        return torch.empty(size, dtype=torch.float32, device=self.logits.device)

    def _scores(self) -> Scores:
        columns = self.logits.shape[1]
        stored = triton.cdiv(columns, 2) if _paired(self.logits) else columns
        return Scores(self.logits, self.logits.stride(0), stored, self.vocab)

    def _mask(self) -> MaskWords:
        masks, rows, unused = self.args.masks, self.args.mask_rows, self.outputs.tokens
        if masks is None:
            return MaskWords(unused, 0, 0, unused)
        return MaskWords(masks, masks.stride(0), masks.shape[1], unused if rows is None else rows)

    def _given(self) -> tuple[Any, ...]:
        """The arguments shared by all passes: scores, mask, draw, edited logits and edits."""
        draw = self.args.draw
        assert draw is not None
        return (
            self._scores(),
            self._mask(),
            DrawInputs(draw.temperature, draw.keys),
            self.edited,
            self.edits,
        )

    def _cutoffs(self) -> Cutoffs:
        truncation = self.args.truncation
        assert truncation is not None
        return Cutoffs(truncation.top_k, truncation.top_p, truncation.min_p)

    def _flags(self) -> dict[str, Any]:
        return {
            "tiles": self.tiles,
            "masked": self.args.masks is not None,
            "mapped": self.args.mask_rows is not None,
            "editing": bool(self.edits),
            "with_logprobs": self.args.top is not None,
        }

    def tile_pass(self, counters: Tensor) -> None:
        """Launch the pass over all tiles: the draw and, with truncation, groups and candidates for the next passes."""
        programs = processors(self.logits.device) * _RESIDENT
        # Programs a row: as few as fill the device.
        wanted = programs // self.logits.shape[0] if self.splits is None else self.splits
        splits = max(1, min(self.tiles // 2, wanted))
        tile_pass[(self.logits.shape[0], splits)](
            *self._given(),
            self.groups,
            self.ranks,
            self.parts,
            counters,
            self.outputs,
            splits,
            triton.cdiv(self.tiles // 2 * 65_536, splits),
            **self._flags(),
            first_tile_offset=first_tile_offset(self.vocab),
            padded_tiles=triton.next_power_of_2(self.tiles),
            paired=_paired(self.logits),
            candidates=CANDIDATES if self.truncates else 1,
            truncating=self.truncates,
            ranking=bool(self.args.top),
            num_warps=_WARPS,
            maxnreg=_REGISTERS,
            **overlap(self.logits),
        )

    def cut_pass(self) -> None:
        """Launch the truncation of rows that fit on the chip and the draw from their kept tokens; after `tile_pass`."""
        rows = self.logits.shape[0]
        listed = rows * (self.tiles * OCTETS.value + MOST.value)
        lists = torch.empty(listed, dtype=torch.int32, device=self.logits.device)
        cut_pass[(rows,)](
            *self._given(),
            self._cutoffs(),
            self.groups,
            lists,
            self._floats(rows * MOST.value),
            self.outputs,
            self.flat,
            **self._flags(),
            first_tile_offset=first_tile_offset(self.vocab),
            padded_groups=triton.next_power_of_2(self.tiles * OCTETS.value),
            zero_bits=0 if self.edits else _ZERO_BITS[self.logits.dtype],
            num_warps=_CUT_WARPS,
            maxnreg=_CUT_REGISTERS,
            **overlap(self.logits),
        )

    def flat_pass(self, counters: Tensor) -> None:
        """Launch the truncation of the remaining rows; after `cut_pass`."""
        rows, most = self.logits.shape[0], min(self.tiles, self.splits or self.tiles)
        fill = processors(self.logits.device) * _FLAT_RESIDENT
        flat_pass[(max(rows, fill) if self.splits is None else rows * most,)](
            *self._given(),
            self._cutoffs(),
            self.parts,
            counters,
            self.outputs,
            self.flat,
            most,
            **self._flags(),
            padded_tiles=triton.next_power_of_2(self.tiles),
            paired=_paired(self.logits),
            zero_bits=0 if self.edits else _ZERO_BITS[self.logits.dtype],
            num_warps=_FLAT_WARPS,
            maxnreg=_FLAT_REGISTERS,
            **overlap(self.logits),
        )

    def sampled(self) -> Sampled:
        """The results of the passes."""
        out, top = self.outputs, self.args.top
        if top is None:
            return Sampled(out.tokens, out.status)
        top_tokens, top_logits = _best(self, min(top, self.vocab))
        top_logprobs = top_logits - out.logsumexp[:, None]
        masked = None
        if self.args.masked_share:
            masked = masked_share(self.logits[:, : self.vocab], out.logsumexp)
        return Sampled(out.tokens, out.status, out.logprobs, top_tokens, top_logprobs, masked)


def _best(run: _Run, count: int) -> tuple[Tensor, Tensor]:
    """(tokens int64 [R, count], logits float32 [R, count]) of the legal tokens with the largest logits.

    They are in the lanes of tiles that have the largest maxima.
    """
    rows, device = run.logits.shape[0], run.logits.device
    if count == 0:
        return run.outputs.tokens.new_empty((rows, 0)), run.parts.new_empty((rows, 0))
    lanes = run.ranks.view(rows, -1)
    groups = lanes.topk(min(count, lanes.shape[1]), -1).indices
    depth = torch.arange(TILE // LANES, device=device) * LANES
    first = groups // LANES * TILE - first_tile_offset(run.vocab) + groups % LANES
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
    """Whether two logits make a 32-bit word."""
    return logits.element_size() == 2


def _in_words(logits: Tensor) -> Tensor:
    """The logits; a copy if rows of 2-byte logits do not all begin at a multiple of 4 bytes."""
    if _paired(logits) and (logits.stride(0) % 2 or logits.data_ptr() % 4):
        rows, columns = logits.shape
        copy = logits.new_empty((rows, columns + columns % 2))
        copy[:, :columns] = logits
        return copy[:, :columns]
    return logits


def _edits(
    bias: Bias | None, penalties: Penalties | None, rows: int, device: torch.device
) -> Edits | tuple[()]:
    """Bias and penalties as `load.edit_tile` reads them; empty if there are none."""
    if bias is None and penalties is None:
        return ()
    none = torch.zeros(rows + 1, dtype=torch.int64, device=device)
    ends = torch.arange(rows + 1, device=device)
    of_bias = (none, none, none)
    if bias is not None:
        of_bias = _pairs(bias.rows, ends, bias.tokens, bias.values)
    if penalties is None:
        return Edits(*of_bias, none, none, none, torch.ones((rows, 3), device=device))
    strengths = (penalties.repetition, penalties.presence, penalties.frequency)
    of_penalties = _pairs(penalties.rows, ends, penalties.tokens, penalties.counts)
    return Edits(*of_bias, *of_penalties, torch.stack(strengths, 1))


def _pairs(
    rows: Tensor, ends: Tensor, tokens: Tensor, values: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """(where each row's pairs begin [R + 1], their tokens, their values), contiguous."""
    return torch.searchsorted(rows.contiguous(), ends), tokens.contiguous(), values.contiguous()
