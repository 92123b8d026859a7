"""The inputs of sampling as arrays on the host, and their conversion to arguments of the kernel.

Does: define the message from `sampler`, which knows the options of sequences, to `compute`, which knows the device.
Does not: know either of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from intaglio.grammar.api import DeviceTables, MaskRows
from intaglio.kernels.sampling_contracts import Bias, Penalties, SampleArgs, Truncation
from msgspec import Struct
from torch import Tensor

from ..plan import Replay
from .slots import Ints

Array = npt.NDArray[Any]
Send = Callable[[Array], Tensor]
"""Copies a small array to the device of the kernels."""


@dataclass(frozen=True, slots=True)
class Edits:
    """Rarely used options: the fields of `Bias` and `Penalties` as arrays, in their order, `SampleArgs.top` and
    `SampleArgs.masked_share`.
    """

    bias: tuple[Array, ...] | None
    penalties: tuple[Array, ...] | None
    top: int | None
    masked_share: bool = False


class SamplingInputs(Struct, frozen=True):
    """The options and masks for sampling from R rows of logits, some of which may be padding.

    `keys` int64 [R, 2] and `temperature` float32 [R] as in `Draw`; `truncation`: the fields of `Truncation`, None where
    no row has any. `masks`: mask rows of the host. `mask_rows` int32 [R]: -1 where all tokens are legal, i for the mask
    that the device makes for row i, R + i for row i of `masks`. `walk_rows` int32 [R]: rows of the sequences with masks
    made on the device, -1 for all others; `walks`: whether the device makes any mask; `replays`: the bytes that it has
    to replay before that, by row of the sequence.
    """

    keys: Ints
    temperature: npt.NDArray[np.float32]
    truncation: tuple[Array, ...] | None
    masks: MaskRows
    mask_rows: npt.NDArray[np.int32]
    walk_rows: npt.NDArray[np.int32]
    walks: bool
    replays: Sequence[tuple[int, Replay]]
    edits: Edits | None = None

    @property
    def is_plain(self) -> bool:
        """Whether all rows have at most a mask, a temperature and a draw."""
        return self.truncation is None and self.edits is None


class GrammarMasker(Protocol):
    """Makes masks on the device of the logits, and advances by sampled tokens: `cuda.grammar_masks.DeviceGrammarMasks`.

    `rows` int32 [R] on the device: the rows of the sequences, `padding_row` for rows without a mask.
    """

    padding_row: int

    def hold(self, key: str, tables: DeviceTables) -> bool:
        """See `GrammarHolder`."""
        ...

    def drop(self, key: str) -> None:
        """See `GrammarHolder`."""
        ...

    def replay(self, replays: Sequence[tuple[int, Replay]]) -> None:
        """Advance sequences, by row, to the end of their output."""
        ...

    def walk(self, rows: Tensor, out: Tensor) -> None:
        """Write the masks [R, words] of `rows` to `out`."""
        ...

    def advance(self, rows: Tensor, tokens: Tensor) -> None:
        """Advance by the sampled tokens, int64 [R]."""
        ...


def completed(args: SampleArgs, inputs: SamplingInputs, send: Send) -> SampleArgs:
    """`args` with truncation and the rarely used options, where a row has any."""
    if inputs.truncation is not None:
        args = replace(args, truncation=Truncation(*map(send, inputs.truncation)))
    edits = inputs.edits
    if edits is None:
        return args
    return replace(
        args,
        bias=None if edits.bias is None else Bias(*map(send, edits.bias)),
        penalties=None if edits.penalties is None else Penalties(*map(send, edits.penalties)),
        top=edits.top,
        masked_share=edits.masked_share,
    )
