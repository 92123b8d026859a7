"""What the runner asks of the device that its model is on.

Does: say the protocol, and implement it for the host. Does not: know plans or sequences.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ...grammar.api import MaskRows, empty_rows
from ...kernels.contracts import Drawn, Places, Ragged
from ..model.decoder import Decoder
from ..model.layers import StepContext
from .batch import Batch, fresh_blocks, is_ahead
from .kv import KVCache
from .rows import Ints

LEAST_ROWS = 2
"""A product of one row is summed in another order than one of several, so a lone row gets company: `reference.pack`."""

Array = npt.NDArray[Any]


class Compute(Protocol):
    """A model on a device. Calls follow one another on one stream; none but the function `fetch` returns waits.

    `uniform`: whether greedy and free batches go the way of drawn and masked ones, too, so that the device needs no
    kernels of their own.
    """

    uniform: bool

    def logits(self, batch: Batch, sources: Ints) -> Tensor | None:
        """Logits of the wanted tokens [R or more, vocab], computed with all others; None where none is wanted.

        `sources` [N]: which of the tokens that were kept last stands for a token that is `AHEAD`; -1 for the others.
        """
        ...

    def masks(self, rows: MaskRows, more: int = 0) -> Tensor:
        """Mask rows, lent for this call, where the kernels can read them; `more` that are to be filled follow."""
        ...

    def send(self, array: Array) -> Tensor:
        """A small array, the device's own."""
        ...

    def keep(self, tokens: Tensor) -> None:
        """Remember picked tokens [R] for the batches that refer to them."""
        ...

    def fetch(self, drawn: Drawn) -> Callable[[], Drawn]:
        """Start to bring `drawn` to the host; the function waits for it."""
        ...

    def mask_memory(self, count: int, width: int) -> MaskRows:
        """Rows for `width` tokens that `masks` takes fastest, nothing allowed."""
        ...


class HostCompute:
    """`Compute` on the CPU, where everything is done when a call returns."""

    uniform = False

    def __init__(self, decoder: Decoder, cache: KVCache, tables: npt.NDArray[np.int32]) -> None:
        """`tables`: the block tables by row, which stay where they are."""
        self._decoder = decoder
        self._cache = cache
        self._tables = tables
        self._kept = np.zeros(0, dtype=np.int64)

    def logits(self, batch: Batch, sources: Ints) -> Tensor | None:
        """See `Compute`."""
        # What a former owner left in a block, a NaN included, must not reach the new one through masked keys.
        self._cache.clear(fresh_blocks(batch, self._tables, self._cache.block_size))
        tokens = batch.tokens.astype(np.int64)
        ahead = is_ahead(batch)
        if ahead.any():
            tokens[ahead] = self._kept[sources[ahead]]
        rope, width = self._decoder.rope, -(-int(batch.lengths.max()) // self._cache.block_size)
        ragged = Ragged(
            torch.from_numpy(batch.starts.astype(np.int32)),
            torch.from_numpy(batch.lengths.astype(np.int32)),
            torch.from_numpy(self._tables[batch.rows, :width]),
        )
        positions, slots = _padded(batch.positions), torch.from_numpy(batch.slots)
        places = Places(rope.cos, rope.sin, positions, slots)
        attention = self._decoder.kernels.attend(
            ragged, places, self._decoder.spec.heads, self._cache.layers[0].shape
        )
        context = StepContext(attention)
        hidden = self._decoder.hidden(_padded(tokens), self._cache.layers, context)
        if not batch.wanted.size:
            return None
        wanted = batch.wanted.repeat(LEAST_ROWS) if batch.wanted.size == 1 else batch.wanted
        return self._decoder.logits(hidden.index_select(0, torch.from_numpy(wanted)))

    def masks(self, rows: MaskRows, more: int = 0) -> Tensor:
        """See `Compute`."""
        given = torch.from_numpy(rows)
        return torch.cat((given, given.new_zeros((more, rows.shape[1])))) if more else given

    def send(self, array: Array) -> Tensor:
        """See `Compute`."""
        return torch.from_numpy(array)

    def keep(self, tokens: Tensor) -> None:
        """See `Compute`."""
        self._kept = tokens.numpy()

    def fetch(self, drawn: Drawn) -> Callable[[], Drawn]:
        """See `Compute`."""
        return lambda: drawn

    def mask_memory(self, count: int, width: int) -> MaskRows:
        """See `Compute`."""
        return empty_rows(count, width)


def sent(array: Array, device: torch.device) -> Tensor:
    """A copy on `device`, made in the order of its stream; the host does not wait."""
    given = torch.from_numpy(array)
    return given.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else given


def _padded(array: Ints) -> Tensor:
    """The array with zeros up to `LEAST_ROWS`."""
    if array.size < LEAST_ROWS:
        array = np.pad(array, (0, LEAST_ROWS - array.size))
    return torch.from_numpy(array)
