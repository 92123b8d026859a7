"""The tensors of the KV cache, and the number of blocks that fit.

Does: size, allocate and clear. Does not: assign blocks to sequences (`memory.pool`), or write keys and values.
"""

import os
from collections.abc import Callable

import numpy as np
import torch
from intaglio.kernels.contracts import NULL_BLOCK
from torch import Tensor

from ..config import CacheConfig
from ..errors import ConfigError
from ..memory.block_groups import BlockGroups
from ..model.layer_groups import LayerGroups
from ..model.spec import ModelSpec

CPU_BYTES = 384 * 2**20
"""Bytes of host memory for the cache where the configuration gives neither blocks nor bytes. All of it is in use after
some hundred requests, however few run at once: the least recently freed block is taken first, so that cached prefixes
live as long as possible.
"""

CPU_SEQUENCES = 8
"""The cache is larger by default where this number of sequences of full length need it, so that a large model can run
several at once.
"""

CPU_MOST_BYTES = 4 * 2**30
"""The most bytes of such a larger cache."""

HOST = torch.device("cpu")

_CARRIER = {2: np.int16, 4: np.int32}


class KVCache:
    """Keys and values: one tensor [layers, 2, num_blocks, block_size, kv_heads, head_dim]; `layers` are its views.

    With several block groups a block has places for the layers of one group, and layers of different groups share a
    view: [places, 2, ...]. With latent attention keys are values, too: [layers, 1, ...].

    `written` is called by a pass that the host computes, with the number of each layer when it is stored.

    On a host it is zero, and the system allocates its pages on first write, so a large cache is ready at once. On
    another device only the null block is zero.
    """

    def __init__(
        self,
        spec: ModelSpec,
        num_blocks: int,
        block_size: int,
        dtype: torch.dtype,
        device: torch.device = HOST,
        layout: LayerGroups | None = None,
    ) -> None:
        """`layout`: the block groups, None for one of all layers."""
        layout = LayerGroups.single(spec.layers) if layout is None else layout
        sizes = (num_blocks, block_size, spec.kv_heads, spec.head_dim)
        shape = (layout.depth, spec.kv_planes, *sizes)
        if device.type == "cpu":
            zeros = np.zeros(shape, dtype=_CARRIER[dtype.itemsize])
            self._tensor = torch.from_numpy(zeros).view(dtype)
        else:
            self._tensor = torch.empty(shape, dtype=dtype, device=device)
            self._tensor.view(torch.uint8)[:, :, NULL_BLOCK] = 0
        views = self._tensor.unbind(0)
        self.layers: tuple[Tensor, ...] = tuple([views[place] for place in layout.place_of])
        self.written: Callable[[int], None] | None = None
        self.num_blocks = num_blocks
        self.block_size = block_size

    @property
    def tensor(self) -> Tensor:
        """All layers."""
        return self._tensor

    @property
    def nbytes(self) -> int:
        """Bytes of all layers."""
        return self._tensor.nbytes

    @property
    def block_bytes(self) -> int:
        """Bytes of a block in all layers."""
        return self._tensor.nbytes // self.num_blocks

    def clear(self, blocks: list[int]) -> None:
        """Zero `blocks` in all layers."""
        if blocks:
            self._tensor.index_fill_(2, torch.tensor(blocks), 0)


def kept_dtype(config: CacheConfig, weights: Tensor) -> torch.dtype:
    """The dtype of keys and values: that of `weights`, unless the configuration asks for a smaller one.

    Raises:
        ConfigError: the device does not support the dtype.
    """
    if config.kv_dtype == "auto":
        return weights.dtype
    if weights.device.type != "cuda":
        raise ConfigError(
            "keys and values in fp8 need a GPU", where="kv_dtype", hint="leave kv_dtype at auto"
        )
    return torch.float8_e4m3fn


def count_blocks(
    config: CacheConfig,
    spec: ModelSpec,
    *,
    dtype: torch.dtype,
    max_running: int,
    max_context: int,
    free_bytes: int | None = None,
    groups: BlockGroups | None = None,
    depth: int | None = None,
) -> int:
    """The number of blocks to allocate, the null block included; of `groups`, each for `depth` layers.

    By the first of these: `num_blocks`; `cache_bytes`; `free_bytes`, measured on a device; `CPU_BYTES` of host memory,
    more for large models, at most the share `memory_fraction` of the free memory. Never more blocks than `max_running`
    sequences of `max_context` tokens can use, or twice as many on a device that caches prefixes.

    Raises:
        ConfigError: not even one sequence of `max_context` tokens fits.
    """
    groups = BlockGroups(config.block_size) if groups is None else groups
    per_sequence = groups.needed(max_context)
    keeps = config.prefix_caching and free_bytes is not None
    useful = 1 + max_running * per_sequence * (2 if keeps else 1)
    block_bytes = spec.kv_block_bytes(config.block_size, dtype.itemsize)
    if depth is not None:
        block_bytes = block_bytes // spec.layers * depth
    if config.num_blocks is not None:
        count, setting = config.num_blocks, "num_blocks"
    elif config.cache_bytes is not None:
        count, setting = config.cache_bytes // block_bytes, "cache_bytes"
    else:
        if free_bytes is None:
            available = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
            usual = max(CPU_BYTES, CPU_SEQUENCES * per_sequence * block_bytes)
            share = int(available * config.memory_fraction)
            free_bytes = min(share, usual, CPU_MOST_BYTES)
        count, setting = free_bytes // block_bytes, "memory_fraction"
    count = min(count, useful)
    if count < 1 + per_sequence:
        raise ConfigError(
            f"one sequence of {max_context} tokens needs {1 + per_sequence} blocks of {block_bytes} bytes, "
            f"{setting} gives {max(count, 0)}",
            where=setting,
            hint=f"raise {setting}, or lower max_context to {groups.capacity(max(count - 1, 0))}",
        )
    return count
