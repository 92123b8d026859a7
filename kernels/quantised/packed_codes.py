"""The layout in device memory of quantised matrices, made once when they are loaded.

Does: concatenate matrices along the outputs, and lay out codes and scales as the kernels read them. Does not: multiply.

Inputs come in chunks of two parts of 32, 64 or 128 inputs; each part has one scale an output. A word of 16 bits holds
four codes of 4 bits or two of 8 bits, at equal distances in the chunk: with parts of 128, word `i` holds the codes of
inputs `i`, `i + 128`, `i + 64` and `i + 192`, or of `i` and `i + 128`, lowest bits first. So a tile of words becomes
tiles of weights without a shuffle, and the low halves of all bytes are codes of the even part. Scales of 16 bits come
in words of two parts, as loads of fewer than 4 bytes a thread are not pipelined.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import torch
from torch import Tensor
from torch.nn.functional import pad

from ..codes import Codes

PARTS = (128, 64, 32)
MIDDLE = 8
"""The zero point of unsigned codes of 4 bits without zero points."""
UNSIGNED = 128
"""Subtracted from unsigned codes of 8 bits, which become int8."""


class CodeKind(Enum):
    """Formats of codes: unsigned integers of 4 bits, signed ones of 8, and floats of 8 (E4M3)."""

    NIBBLE = "nibble"
    SIGNED = "signed"
    FLOAT = "float"

    @property
    def in_word(self) -> int:
        """Codes in 16 bits."""
        return 4 if self is CodeKind.NIBBLE else 2


@dataclass(frozen=True, slots=True)
class PackedCodes:
    """Codes of a matrix [outputs, inputs], with inputs padded to whole chunks.

    `codes` [outputs, words] int16, of codes in the format `kind`. With one scale an output `scales` is
    [outputs] float32, else [parts, outputs] float32 or [parts / 2, outputs] int32, a word holding two numbers of the
    dtype `kept`, that of the even part in its low half. `zeros` in bfloat16 are laid out likewise; None: all are
    `MIDDLE` for 4 bits, 0 for 8. `part` is the number of inputs of a part.
    """

    codes: Tensor
    scales: Tensor
    zeros: Tensor | None
    inputs: int
    part: int
    kind: CodeKind
    kept: torch.dtype
    order: Tensor | None
    activations: bool

    @property
    def outputs(self) -> int:
        """The number of rows of the matrix."""
        return int(self.codes.shape[0])

    @property
    def padded(self) -> int:
        """The number of inputs in memory."""
        return int(self.codes.shape[1]) * self.kind.in_word

    @property
    def grouped(self) -> bool:
        """Whether each part has scales of its own."""
        return self.scales.ndim == 2


def packed(blocks: Sequence[Codes]) -> PackedCodes | None:
    """The layout of `blocks`, which have the same inputs, concatenated along the outputs.

    None if the kernels cannot read them: groups are not made of parts, a float is NaN, or the blocks differ in form.
    """
    first = blocks[0]
    inputs = int(first.values.shape[1])
    grouped = first.scales.shape[1] > 1
    divided = first.group_size if grouped else inputs
    fits = (size for size in PARTS if divided % (size if grouped else 2 * size) == 0)
    part = next(fits, None if grouped else PARTS[-1])
    if part is None or not all(_alike(first, block) for block in blocks):
        return None
    values, zeros = _unified(blocks)
    if not first.bits and bool(values.to(torch.float32).isnan().any()):
        return None
    kind = (
        CodeKind.NIBBLE
        if 0 < first.bits <= 4
        else CodeKind.SIGNED
        if first.bits
        else CodeKind.FLOAT
    )
    words = _words(values.view(torch.uint8), part, kind.in_word)
    scales, kept = torch.cat([block.scales for block in blocks]), torch.float32
    if grouped:
        kept = _narrowest(scales)
        count, repeats = words.shape[1] * kind.in_word // part, first.group_size // part
        scales = _by_part(scales, repeats, count, kept)
        zeros = None if zeros is None else _by_part(zeros, repeats, count, torch.bfloat16)
    else:
        scales = scales[:, 0].contiguous()
        zeros = None if zeros is None else zeros[:, 0].contiguous()
    activations = all(block.activations for block in blocks)
    return PackedCodes(words, scales, zeros, inputs, part, kind, kept, first.order, activations)


def _alike(a: Codes, b: Codes) -> bool:
    orders = (a.order is None and b.order is None) or (
        a.order is not None and b.order is not None and torch.equal(a.order, b.order)
    )
    kinds = (a.bits, a.group_size, a.values.dtype, a.scales.shape[1])
    return orders and kinds == (b.bits, b.group_size, b.values.dtype, b.scales.shape[1])


def _unified(blocks: Sequence[Codes]) -> tuple[Tensor, Tensor | None]:
    """All codes, unsigned for up to 4 bits, else signed, and their zeros; None where all have their default."""
    first = blocks[0]
    values = torch.cat([block.values for block in blocks])
    zeros = torch.cat([torch.zeros_like(b.scales) if b.zeros is None else b.zeros for b in blocks])
    if first.bits == 0:
        return values, None
    if first.bits <= 4:
        if values.dtype == torch.int8:
            values, zeros = (values + MIDDLE).to(torch.uint8), zeros + MIDDLE
        return values, None if bool((zeros == MIDDLE).all()) else zeros
    if values.dtype == torch.uint8:
        values, zeros = (values ^ UNSIGNED).view(torch.int8), zeros - UNSIGNED
    return values, None if not bool(zeros.any()) else zeros


def _words(values: Tensor, part: int, in_word: int) -> Tensor:
    """Codes [outputs, inputs] uint8 as int16 words, with codes of zero bits past the inputs."""
    wide = pad(values, (0, -values.shape[1] % (2 * part)))
    pieces = wide.view(wide.shape[0], -1, in_word, 2 * part // in_word).unbind(2)
    if in_word == 2:
        return torch.stack(pieces, 3).flatten(1).view(torch.int16)
    pairs = [low | high << 4 for low, high in (pieces[0::2], pieces[1::2])]
    return torch.stack(pairs, 3).flatten(1).view(torch.int16)


def _narrowest(scales: Tensor) -> torch.dtype:
    """The first dtype that holds all `scales` exactly."""
    return next(
        dtype
        for dtype in (torch.bfloat16, torch.float16, torch.float32)
        if torch.equal(scales.to(dtype).to(torch.float32), scales)
    )


def _by_part(numbers: Tensor, repeats: int, parts: int, kept: torch.dtype) -> Tensor:
    """Numbers [outputs, groups] as [parts, outputs], in words of two where `kept` has 16 bits; zeros past the end."""
    wide = numbers.repeat_interleave(repeats, 1)[:, :parts].t()
    wide = pad(wide, (0, 0, 0, parts - wide.shape[0])).to(kept)
    if kept.itemsize == 4:
        return wide.contiguous()
    pairs = torch.stack((wide[0::2], wide[1::2]), 2).contiguous()
    return pairs.view(torch.int32).squeeze(2)
