"""The interface between a runner and the device of its model, and its implementation for the CPU.

Does: define the protocol, and implement it for the host. Does not: know plans or sequences.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from intaglio.grammar.api import DeviceTables, MaskRows, empty_rows
from intaglio.kernels.contracts import Ragged
from intaglio.kernels.sampling_contracts import Draw, SampleArgs, Sampled
from torch import Tensor

from ..errors import InternalError
from ..model.decoder import Decoder, GroupPlaces, ImageStates
from ..model.expert_loads import ExpertLoads
from ..plan import NO_ADAPTER
from .batch import Batch, fresh_blocks
from .kv import KVCache
from .sampling_inputs import Array, GrammarMasker, SamplingInputs, completed

LEAST_ROWS = 2
"""The fewest rows of a matrix product: BLAS sums a single row in another order, so it is padded (`reference.pack`)."""


class Compute(Protocol):
    """A model on a device. Calls run in order on one stream; only the function that `sample` returns waits."""

    def hidden(self, batch: Batch) -> Tensor | None:
        """Compute all tokens; hidden states of those with logits [R or more, hidden], None where there are none."""
        ...

    def sample(self, hidden: Tensor, inputs: SamplingInputs) -> Callable[[], Sampled]:
        """Start to sample a token from each hidden state, and keep the tokens for `Batch.sources` of the next batch.

        The function returned waits for the tokens and returns them on the host, where tokens and statuses may be
        narrower integers.
        """
        ...

    @property
    def makes_masks(self) -> bool:
        """See `Executor`."""
        ...

    def hold(self, key: str, tables: DeviceTables) -> bool:
        """See `GrammarHolder`."""
        ...

    def drop(self, key: str) -> None:
        """See `GrammarHolder`."""
        ...

    def mask_buffer(self, count: int, width: int) -> MaskRows:
        """See `Executor`."""
        ...

    def close(self) -> None:
        """Release what was captured, and with it the exchange among ranks; no call may follow."""
        ...


class HostCompute:
    """`Compute` on the CPU, where all work is done when a call returns."""

    def __init__(
        self,
        decoder: Decoder,
        cache: KVCache,
        tables: npt.NDArray[np.int32],
        vocab: int,
        masker: GrammarMasker | None = None,
        loads: ExpertLoads | None = None,
    ) -> None:
        """`tables`: the block tables by block group and row, at a fixed address. `vocab` tokens may be sampled.

        `loads` counts the experts of the decoder.
        """
        self._loads = loads
        self._decoder = decoder
        self._vocab = vocab
        self._masker = masker
        self._cache = cache
        self._tables = tables
        self._last_sampled = np.zeros(0, dtype=np.int64)

    def hidden(self, batch: Batch) -> Tensor | None:
        """See `Compute`."""
        if self._loads is not None:
            self._loads.begin(batch.tokens.size, batch.logits_indices.size)
        # Values that an earlier sequence left in a block, even NaN, must not reach this one through masked keys.
        self._cache.clear(fresh_blocks(batch, self._tables, self._cache.block_size))
        tokens = batch.tokens.astype(np.int64)
        sampled = batch.sources >= 0
        if sampled.any():
            tokens[sampled] = self._last_sampled[batch.sources[sampled]]
        width = -(-int(batch.lengths.max()) // self._cache.block_size)
        starts = torch.from_numpy(batch.starts.astype(np.int32))
        lengths = torch.from_numpy(batch.lengths.astype(np.int32))
        tables = [torch.from_numpy(each[batch.rows, :width]) for each in self._tables]
        others = [
            GroupPlaces(Ragged(starts, lengths, table), torch.from_numpy(own))
            for table, own in zip(tables[1:], batch.other_slots, strict=True)
        ]
        rope_positions = (
            batch.rope_positions if batch.images is None else batch.images.rope_positions
        )
        positions, slots = _padded(rope_positions), torch.from_numpy(batch.slots)
        adapters = None
        if batch.adapters is not None:
            adapters = _padded(batch.adapters, NO_ADAPTER)
        shape = self._cache.layers[0].shape
        ragged = Ragged(starts, lengths, tables[0])
        context = self._decoder.step(ragged, positions, slots, shape, adapters, others)
        logits_indices = _padded(batch.logits_indices)  # padded with row 0
        given = _padded(tokens)
        hidden = self._decoder.hidden(
            given,
            self._cache.layers,
            context,
            logits_indices,
            self._decoder.receive(given.shape[0]),
            image_states(batch, logits_indices.device),
            self._cache.written,
        )
        self._decoder.send(hidden)
        return hidden if batch.logits_indices.size else None

    def sample(self, hidden: Tensor, inputs: SamplingInputs) -> Callable[[], Sampled]:
        """See `Compute`. Stages that no row needs are skipped."""
        count, masker = hidden.shape[0], self._masker if inputs.walks else None
        masks, mask_rows = inputs.masks, inputs.mask_rows
        if masker is not None:
            rows = np.where(inputs.walk_rows < 0, masker.padding_row, inputs.walk_rows).astype(
                np.int32
            )
            at = torch.from_numpy(rows)
            given = torch.zeros((count + len(masks), masks.shape[1]), dtype=torch.int32)
            given[count:] = torch.from_numpy(masks)
            masker.replay(inputs.replays)
            masker.walk(at, given[:count])
        else:
            if inputs.walks:
                raise InternalError("this executor makes no masks")
            given, mask_rows = torch.from_numpy(masks), np.maximum(mask_rows - count, -1)
        masked = bool((mask_rows >= 0).any())
        drawing = bool(inputs.temperature.any())
        args = SampleArgs(
            self._vocab,
            given if masked else None,
            torch.from_numpy(mask_rows) if masked else None,
            draw=Draw(torch.from_numpy(inputs.temperature), torch.from_numpy(inputs.keys))
            if drawing
            else None,
        )
        args = completed(args, inputs, torch.from_numpy)
        drawn = self._decoder.sample(hidden, args)
        if masker is not None:
            masker.advance(at, drawn.tokens)
        self._last_sampled = drawn.tokens.numpy()
        return lambda: drawn

    @property
    def makes_masks(self) -> bool:
        """See `Executor`."""
        return self._masker is not None

    def hold(self, key: str, tables: DeviceTables) -> bool:
        """See `GrammarHolder`."""
        return self._masker is not None and self._masker.hold(key, tables)

    def drop(self, key: str) -> None:
        """See `GrammarHolder`."""
        if self._masker is not None:
            self._masker.drop(key)

    def mask_buffer(self, count: int, width: int) -> MaskRows:
        """See `Executor`."""
        return empty_rows(count, width)

    def close(self) -> None:
        """See `Compute`: nothing is captured on the CPU."""


def sent(array: Array, device: torch.device) -> Tensor:
    """A copy on `device`, ordered by its stream; the host does not wait."""
    given = torch.from_numpy(array)
    return given.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else given


def image_states(batch: Batch, device: torch.device) -> ImageStates | None:
    """The encoded images of a step, for `Decoder.hidden`."""
    found = batch.images
    return None if found is None else ImageStates(sent(found.at, device), found.states)


def _padded(array: npt.NDArray[Any], value: int = 0) -> Tensor:
    """The array [N] or [3, N], padded with `value` to `LEAST_ROWS` columns."""
    missing = LEAST_ROWS - array.shape[-1]
    if missing > 0:
        widths = ((0, 0),) * (array.ndim - 1) + ((0, missing),)
        array = np.pad(array, widths, constant_values=value)
    return torch.from_numpy(array)
