"""The inputs of sampling as arrays on the host, and their conversion to arguments of the kernel.

Does: define the message between `sampler`, which knows the options of sequences, and `compute`, which knows the device.
Does not: decide either.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from intaglio.grammar.api import DeviceTables, MaskRows
from intaglio.kernels.contracts import Bias, Penalties, SampleArgs, Truncation
from msgspec import Struct
from torch import Tensor

from ..plan import Replay
from .slots import Ints

Array = npt.NDArray[Any]
Send = Callable[[Array], Tensor]
"""Brings a small array to where the kernels are."""


@dataclass(frozen=True, slots=True)
class Edits:
    """Rare options: the fields of `Bias` and `Penalties` as arrays, in their order, and `SampleArgs.top`."""

    bias: tuple[Array, ...] | None
    penalties: tuple[Array, ...] | None
    top: int | None


class SamplingInputs(Struct, frozen=True):
    """How tokens are picked from R rows of logits, of which some may be padding.

    `keys` int64 [R, 2] and `temperature` float32 [R] as in `Draw`; `truncation`: the fields of `Truncation`, None where
    no row has any. `masks`: rows of the host. `mask_rows` int32 [R]: -1 where all tokens are legal, i for row i of
    the logits' own mask, which the device makes, R + i for row i of `masks`. `compute_row` int32 [R]: sequences' rows
    whose masks the device makes, -1 for the others; `walks`: whether it makes any; `replays`: what it must follow
    before that, by row.
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
        """Whether no row has more than a mask, a temperature and a draw."""
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
        """Bring sequences, by row, to the end of their output."""
        ...

    def walk(self, rows: Tensor, out: Tensor) -> None:
        """Masks [R, words] of `rows`."""
        ...

    def advance(self, rows: Tensor, tokens: Tensor) -> None:
        """Follow what was picked, int64 [R]."""
        ...


def completed(args: SampleArgs, inputs: SamplingInputs, send: Send) -> SampleArgs:
    """`args` with what is not in every inputs."""
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
    )
