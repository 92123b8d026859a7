"""A process that calls `main` answers every prompt over TCP with contents that follow from its chains, until killed.

It prints the port on which it listens.
"""

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b

from intaglio.engine.memory.layer_feed import LayerFeed
from intaglio.engine.memory.page_key import Chain
from intaglio.engine.memory.prompt_messages import PromptOrder
from intaglio.engine.memory.prompt_server import PromptServer
from intaglio.engine.peer_settings import TcpAddress

SIZE = 300_000
FACTS = {"weights": "w", "block_size": "16"}


def content_of(chain: Chain) -> bytes:
    """The content of a chain: no two have a common part."""
    return blake2b(chain, digest_size=60).digest() * (SIZE // 60)


@dataclass
class Computed:
    """A `Computation`."""

    cached: int


class EveryPrompt:
    """`Prompts` of which each takes `seconds`; `ended` counts them, `orders` lists the orders."""

    def __init__(self, seconds: float = 0) -> None:
        self.seconds = seconds
        self.orders: list[PromptOrder] = []
        self.ended = 0

    @contextmanager
    def compute(self, order: PromptOrder, over: Callable[[], None]) -> Iterator[Computed]:
        self.orders.append(order)
        timer = threading.Timer(self.seconds, over)
        timer.start()
        try:
            yield Computed(len(order.prompt))
        finally:
            timer.cancel()
            timer.join()
            self.ended += 1


def first(chains: Sequence[Chain]) -> list[bytes]:
    return [content_of(chain) for chain in chains]


def main(key: str) -> None:
    address = TcpAddress("127.0.0.1", 0)
    server = PromptServer(address, key.encode(), FACTS, EveryPrompt(), first, LayerFeed(None))
    print(server.port, flush=True)
    sys.stdin.read()
