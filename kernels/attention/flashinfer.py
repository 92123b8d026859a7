"""Paged causal attention by FlashInfer, for steps with prompts.

Does: convert the host's description of a step to FlashInfer's format, store new tokens with our kernel, and call
FlashInfer with queries and cache. Does not: serve captured passes, because a plan is made on the host for the lengths
of one step; import FlashInfer before it is requested.

FlashInfer compiles its kernels with nvcc and ninja at their first use, and keeps them in the user's cache folder.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ..contracts import (
    PLAIN_SCALING,
    AttentionPass,
    HostRagged,
    Places,
    QKNorm,
    Ragged,
    ScoreScaling,
)
from ..runtime.launch import processors
from .rope_and_store import rope_and_store

HEAD_SIZES = (64, 128, 256)
DTYPES = (torch.float16, torch.bfloat16)

LEAST_MEMORY = 128 << 20
"""The workspace size that FlashInfer recommends for the parts of split contexts."""
TILE = 128
"""Most query rows of a program of FlashInfer's."""
Ints32 = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Pages:
    """Block tables of S sequences in FlashInfer's form, int32.

    Sequence `s` has blocks `indices[starts[s]:starts[s + 1]]`, the last of which holds `last[s]` tokens, at least one.
    """

    starts: Ints32
    indices: Ints32
    last: Ints32


def pages(host: HostRagged, block_size: int) -> Pages:
    """The blocks of a step's contexts, concatenated by sequence."""
    lengths = host.context_lengths
    counts = -(-lengths // block_size)
    starts = np.zeros(counts.size + 1, dtype=np.int32)
    np.cumsum(counts, out=starts[1:])
    width = int(counts.max())
    used = np.arange(width) < counts[:, None]
    indices = host.tables[host.rows, :width][used]
    return Pages(starts, indices, (lengths - (counts - 1) * block_size).astype(np.int32))


def memory_bytes(heads: int, kv_heads: int, head_dim: int, multiprocessors: int) -> int:
    """An upper bound on the device memory of a plan, in bytes.

    FlashInfer splits contexts until there are two programs per multiprocessor. Each program writes a float32 row and
    its log-sum-exp for every query row; the planner reserves space for all heads.
    """
    tiles = 2 * multiprocessors // kv_heads
    return max(LEAST_MEMORY, heads * tiles * TILE * (head_dim + 1) * 4)


class FlashInfer:
    """FlashInfer's planner and workspace for models of one head layout. One instance serves one stream."""

    def __init__(
        self, device: torch.device, dtype: torch.dtype, heads: int, kv_heads: int, head_dim: int
    ) -> None:
        """Compile the kernels if no compiled ones are in the cache, which takes about a minute.

        Raises:
            ImportError: FlashInfer is not installed, or its installation is incomplete.
            RuntimeError: the kernels cannot be compiled.
            OSError: the compiler is missing, or its output cannot be written.
        """
        from flashinfer import BatchPrefillWithPagedKVCacheWrapper

        size = memory_bytes(heads, kv_heads, head_dim, processors(device))
        memory = torch.empty(size, dtype=torch.uint8, device=device)
        self._dtype = dtype
        # Two in turn, as the host is one step ahead of the device.
        self._planners: list[Any] = [
            BatchPrefillWithPagedKVCacheWrapper(memory, "NHD", backend="fa2") for _ in range(2)
        ]
        self._copied = [torch.cuda.Event(), torch.cuda.Event()]
        self._stream = torch.cuda.current_stream(device)
        one = np.ones(1, dtype=np.int64)
        token = HostRagged(np.arange(2), one, one - 1, np.ones((1, 1), dtype=np.int32))
        self._plan(token, heads, (2, 2, 1, kv_heads, head_dim))

    def attend(
        self,
        ragged: Ragged,
        places: Places,
        heads: int,
        cache_shape: Sequence[int],
        scores: ScoreScaling = PLAIN_SCALING,
    ) -> AttentionPass:
        """See `Kernels.attend`. Plans the step.

        Raises:
            ValueError: the step has no host description, or its scores have a scale or soft cap of their own.
        """
        if scores != PLAIN_SCALING:
            raise ValueError("scores are scaled by 1 / sqrt(head_dim) here, without a soft cap")
        if ragged.host is None:
            raise ValueError("FlashInfer plans on the host, which this step does not describe")
        planner = self._plan(ragged.host, heads, cache_shape)
        return _Pass(planner, places, heads)

    def _plan(self, host: HostRagged, heads: int, cache_shape: Sequence[int]) -> Any:
        _, _, block_size, kv_heads, head_dim = cache_shape
        self._planners.reverse()
        self._copied.reverse()
        planner, copied = self._planners[0], self._copied[0]
        # A plan passes through pinned memory, where the plan before the last may still be read.
        copied.synchronize()
        blocks = pages(host, block_size)
        planner.plan(
            _pinned(host.query_starts),
            _pinned(blocks.starts),
            _pinned(blocks.indices),
            _pinned(blocks.last),
            heads,
            kv_heads,
            head_dim,
            block_size,
            causal=True,
            q_data_type=self._dtype,
            kv_data_type=self._dtype,
            seq_lens=_pinned(host.context_lengths),
        )
        copied.record(self._stream)
        return planner


@dataclass(frozen=True, slots=True)
class _Pass:
    """The `AttentionPass` of the last step planned by `planner`."""

    planner: Any
    places: Places
    heads: int

    def run(
        self, fused: Tensor, norms: QKNorm | None, cache: Tensor, sinks: Tensor | None = None
    ) -> Tensor:
        if sinks is not None:
            raise ValueError("FlashInfer's attention has no sinks")
        rows, _, dim = fused.shape
        out = torch.empty((rows, self.heads, dim), dtype=fused.dtype, device=fused.device)
        query = rope_and_store(fused, self.places, norms, cache)
        keys, values = cache.unbind(0)
        # Without overlap of launches, for which the kernels of both sides would have to keep the same rule.
        self.planner.run(query, (keys, values), out=out, enable_pdl=False)
        return out


def _pinned(numbers: npt.NDArray[Any]) -> Tensor:
    """The numbers as int32 in pinned memory, so that copies to the device are asynchronous."""
    return torch.from_numpy(numbers.astype(np.int32, copy=False)).pin_memory()
