"""Builds the exchange of prompts with engines of other servers, from the settings of one engine.

Does: size the memory for it, open the carrier and the server. Does not: build the exchange between engines of one host
(`build_exchange`), or the tiers (`build_offload`).
"""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Final

from ..config import EngineConfig
from ..errors import ConfigError
from ..memory.block_contents import BlockContents
from ..memory.block_exchange import ExchangeError
from ..memory.exported_blocks import ExportedBlocks
from ..memory.keyed_frames import WrongKey
from ..memory.layer_feed import LayerFeed
from ..memory.offload import Offload
from ..memory.peer_tier import PeerTier
from ..memory.prompt_messages import Facts
from ..memory.prompt_server import PromptServer
from ..memory.tcp_carrier import PeerRefused, TcpCarrier
from ..run.host.host_blocks import HostBlocks
from ..run.kv import KVCache
from .assembly import Steppable
from .build_exchange import Exchange
from .prompt_requests import PromptRequests

CARRIED: Final = 256 << 20  # bytes of contents, kept or arrived, where `kv_host_bytes` does not say


def carried_bytes(config: EngineConfig) -> int:
    """The bytes of the host for contents that travel over TCP; 0 for an engine that exchanges none so."""
    return (config.cache.kv_host_bytes or CARRIED) if config.peers.kv_role != "none" else 0


def build_tcp_exchange(
    config: EngineConfig, kv: KVCache, copies: BlockContents, facts: Facts
) -> Exchange:
    """What an engine keeps for those that connect, or its connections to those that compute its prompts.

    An engine that cannot be reached now may be later; one that refuses this one is an error.

    Raises:
        ConfigError: the key cannot be read, or another engine has another key, model or layout of blocks.
    """
    peers, most = config.peers, carried_bytes(config)
    key = peers.key()
    if peers.kv_listen:
        feed = LayerFeed(copies if isinstance(copies, HostBlocks) else None)
        kv.written = feed.written
        return Exchange(exported=ExportedBlocks(most, copies), feed=feed)
    carrier = TcpCarrier(peers.peers, key, facts, copies.block_bytes, most, copies.hold)
    unreached: list[str] = []
    for address in peers.peers:
        try:
            carrier.connect(address).close()
        except (WrongKey, PeerRefused) as error:
            raise ConfigError(
                f"the engine at {address} computes no prompts for this one: {error}",
                where="kv_peers",
                hint="give both the same model, settings and key",
            ) from error
        except ExchangeError:
            unreached.append(address)
    return Exchange(peers=PeerTier(carrier, unreached))


def serve_prompts(
    engine: Steppable,
    config: EngineConfig,
    offload: Offload | None,
    facts: Callable[[], Facts],
    closing: ExitStack,
) -> tuple[Steppable, Callable[[], None]]:
    """The engine, with a server of its prompts if its settings ask for one, which `closing` ends; see `Assembly.drain`.

    Raises:
        ConfigError: the address cannot be listened on.
    """
    if not config.peers.kv_listen or offload is None or offload.feed is None:
        return engine, lambda: None
    assert isinstance(offload.exported, ExportedBlocks), "they are sent"
    prompts, first = PromptRequests(engine), offload.exported.first
    listen, key = config.peers.listen, config.peers.key()
    server = PromptServer(listen, key, facts(), prompts, first, offload.feed)
    closing.callback(server.close)
    return prompts, prompts.refuse
