"""Builds the exchange of blocks between engines for prompts and engines for outputs, from the settings of one engine.

Does: choose how contents travel in one host, through sockets between engines on CPUs and by copies between GPUs; size
the memory for it; refuse GPUs that cannot read each other. Does not: copy, or build the tiers below the cache
(`build_offload`), or the exchange with other servers (`build_tcp_exchange`).
"""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import torch

from ..config import CacheConfig
from ..errors import ConfigError
from ..memory.block_contents import BlockContents, BlockExports
from ..memory.block_exchange import VERSION_BYTES
from ..memory.exported_blocks import BlockServer, ExportedBlocks
from ..memory.layer_feed import LayerFeed
from ..memory.leased_blocks import LeasedBlocks
from ..memory.peer_contents import PeerContents
from ..memory.peer_tier import PeerTier
from ..memory.unix_carrier import SentContents, UnixCarrier
from ..run.kv import KVCache

if TYPE_CHECKING:
    from ..run.cuda.staging_blocks import StagingBlocks

EXPORTED: Final = 256 << 20  # bytes kept for other engines, where `kv_host_bytes` does not say
LEASED: Final = 4 << 30  # bytes of a GPU kept for other engines, at most
STAGED: Final = 2 << 30  # bytes of a GPU for contents of other engines, at most
SHARE: Final = 0.5  # of the free memory of a GPU, at most

BLOCKS_SOCKET: Final = "blocks"  # in the folder of the sockets of an engine


class Exchange(NamedTuple):
    """What an engine keeps for others, and those that it asks."""

    exported: BlockExports | None = None
    peers: PeerTier | None = None
    feed: LayerFeed | None = None


def build_exchange(
    cache: CacheConfig, kv: KVCache, copies: BlockContents, version: bytes, sockets: Path | None
) -> tuple[Exchange, ExitStack]:
    """The exchange of an engine by its `kv_role`; the stack ends the server of its blocks.

    Raises:
        ConfigError: there is no folder for sockets, or no memory, or the GPUs cannot read each other.
    """
    closing, on_gpu = ExitStack(), kv.tensor.device.type != "cpu"
    if on_gpu:
        version = blake2b(version, digest_size=VERSION_BYTES, person=b"peer memory").digest()
    if cache.kv_role == "prefill":
        if sockets is None:
            raise ConfigError("blocks are sent by the engines of a service only", where="kv_role")
        exported: ExportedBlocks | LeasedBlocks
        exported = (
            _leased(kv) if on_gpu else ExportedBlocks(cache.kv_host_bytes or EXPORTED, copies)
        )
        server = BlockServer(sockets / BLOCKS_SOCKET, version, exported.serve)
        closing.callback(server.close)
        return Exchange(exported=exported), closing
    if cache.kv_role == "none":
        return Exchange(), closing
    if not on_gpu:
        return Exchange(
            peers=PeerTier(
                UnixCarrier(version, partial(SentContents, size=kv.block_bytes), kv.block_bytes)
            )
        ), closing
    refuse_unreadable(torch.cuda.device_count(), partial(torch.cuda.can_device_access_peer, 0))
    staged = _count(STAGED, kv)
    link = partial(PeerContents, staging=_staging(kv, staged), size=kv.block_bytes)
    carrier = UnixCarrier(version, link, kv.block_bytes, staged * kv.block_bytes)
    return Exchange(peers=PeerTier(carrier)), closing


def refuse_unreadable(visible: int, reads: Callable[[int], bool]) -> None:
    """Refuse a GPU that cannot read the memory of those of the engines for prompts, which are visible after its own.

    Raises:
        ConfigError: it cannot, or none is visible.
    """
    if visible < 2:
        raise ConfigError(
            "an engine for outputs sees no GPU of an engine for prompts",
            where="kv_role",
            hint="start engines with --prefill-engines, which makes these GPUs visible",
        )
    for number in range(1, visible):
        if not reads(number):
            raise ConfigError(
                f"the GPU of an engine for outputs cannot read the memory of GPU {number} of those that it sees, which "
                f"computes prompts: the two have no peer access",
                where="prefill_engines",
                hint="leave out prefill_engines, or set CUDA_VISIBLE_DEVICES to GPUs that are connected",
            )


def contents_within(most_bytes: int, free_bytes: int, block_bytes: int, blocks: int) -> int:
    """The number of contents to make room for: at most `most_bytes`, a share of the free memory, and all blocks.

    Raises:
        ConfigError: there is no room for one.
    """
    count = min(int(min(most_bytes, SHARE * free_bytes)) // block_bytes, blocks)
    if count < 1:
        raise ConfigError(
            f"{free_bytes} bytes of GPU memory are free for blocks of other engines; one has {block_bytes}",
            where="memory_fraction",
            hint="lower memory_fraction",
        )
    return count


def _leased(kv: KVCache) -> LeasedBlocks:
    # Not loaded where there is no GPU.
    from ..run.cuda.shared_blocks import SharedBlocks

    return LeasedBlocks(SharedBlocks(kv, _count(LEASED, kv)))


def _staging(kv: KVCache, blocks: int) -> "StagingBlocks":
    from ..run.cuda.staging_blocks import StagingBlocks

    return StagingBlocks(kv, blocks)


def _count(most_bytes: int, kv: KVCache) -> int:
    free, _ = torch.cuda.mem_get_info(kv.tensor.device)
    return contents_within(most_bytes, free, kv.block_bytes, kv.num_blocks)
