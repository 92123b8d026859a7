"""What the choice of a step's tokens depends on, as arrays on the host, and how it becomes arguments of the kernel.

Does: say the message between `sampler`, which knows what sequences ask for, and `compute`, which knows the device.
Does not: decide either.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from torch import Tensor

from ...grammar.api import MaskRows
from ...kernels.contracts import Bias, Penalties, SampleArgs, Truncation
from ..plan import Resident
from .beside import Beside
from .rows import Ints

Array = npt.NDArray[Any]
Send = Callable[[Array], Tensor]
"""Brings a small array to where the kernels are."""


@dataclass(frozen=True, slots=True)
class Edits:
    """What few ask for: the fields of `Bias` and `Penalties` as arrays, in their order, and `SampleArgs.top`."""

    bias: tuple[Array, ...] | None
    penalties: tuple[Array, ...] | None
    top: int | None


class Choice(Struct, frozen=True):
    """How tokens are chosen for R rows of logits, of which some may belong to nobody.

    `keys` int64 [R, 2] and `temperature` float32 [R] as in `Draw`; `truncation`: the fields of `Truncation`, None where
    nobody asks for any. `masks`: rows of the host. `mask_rows` int32 [R]: -1 where all tokens are legal, i for row i of
    the logits' own mask, which the device makes, R + i for row i of `masks`. `walk_rows` int32 [R]: sequences' rows
    whose masks the device makes, -1 for the others; `walks`: whether it makes any; `told`: what it must know for that,
    by row.
    """

    keys: Ints
    temperature: npt.NDArray[np.float32]
    truncation: tuple[Array, ...] | None
    masks: MaskRows
    mask_rows: npt.NDArray[np.int32]
    walk_rows: npt.NDArray[np.int32]
    walks: bool
    told: Sequence[tuple[int, Resident]]
    edits: Edits | None = None

    @property
    def is_plain(self) -> bool:
        """Whether nobody asks for more than a mask, a temperature and a draw."""
        return self.truncation is None and self.edits is None


class Walks(Protocol):
    """Makes masks where the logits are, and follows the picks; `residents.Residents` does.

    `rows` int32 [R] on the device: the sequences' rows, `nobody` where no mask is made. On a GPU `tell` and `walk` are
    called within `beside`.
    """

    nobody: int
    beside: Beside | None

    def tell(self, told: Sequence[tuple[int, Resident]]) -> None:
        """Bring sequences to where they stand, by row."""
        ...

    def walk(self, rows: Tensor, out: Tensor) -> None:
        """Masks [R, words] of `rows`."""
        ...

    def advance(self, rows: Tensor, tokens: Tensor) -> None:
        """Follow what was picked, int64 [R]."""
        ...


def completed(args: SampleArgs, choice: Choice, send: Send) -> SampleArgs:
    """`args` with what is not in every choice."""
    if choice.truncation is not None:
        args = replace(args, truncation=Truncation(*map(send, choice.truncation)))
    edits = choice.edits
    if edits is None:
        return args
    return replace(
        args,
        bias=None if edits.bias is None else Bias(*map(send, edits.bias)),
        penalties=None if edits.penalties is None else Penalties(*map(send, edits.penalties)),
        top=edits.top,
    )
