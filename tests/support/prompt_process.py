"""A process that calls `main` answers every prompt over TCP with contents that follow from its chains, until killed.

It prints the port on which it listens.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b

from intaglio.engine.memory.page_key import Chain
from intaglio.engine.memory.prompt_messages import PromptOrder
from intaglio.engine.memory.prompt_server import PromptServer
from intaglio.engine.peer_settings import TcpAddress

SIZE = 300_000
FACTS = {"weights": "w", "block_size": "16"}


def content_of(chain: Chain) -> bytes:
    """The content of a chain: no two have a common part."""
    return blake2b(chain, digest_size=60).digest() * (SIZE // 60)


class Computed:
    """A `Computation` that takes `rounds` calls of `wait`."""

    def __init__(self, cached: int, rounds: int) -> None:
        self.cached = cached
        self._rounds = rounds

    def wait(self, timeout_s: float) -> bool:
        self._rounds -= 1
        if self._rounds < 0:
            return True
        time.sleep(timeout_s)
        return False


class EveryPrompt:
    """`Prompts` of which each needs `rounds` calls of `wait`; `ended` counts them, `orders` lists the orders."""

    def __init__(self, rounds: int = 0) -> None:
        self.rounds = rounds
        self.orders: list[PromptOrder] = []
        self.ended = 0

    @contextmanager
    def compute(self, order: PromptOrder) -> Iterator[Computed]:
        self.orders.append(order)
        try:
            yield Computed(len(order.prompt), self.rounds)
        finally:
            self.ended += 1


def first(chains: Sequence[Chain]) -> list[bytes]:
    return [content_of(chain) for chain in chains]


def main(key: str) -> None:
    address = TcpAddress("127.0.0.1", 0)
    server = PromptServer(address, key.encode(), FACTS, EveryPrompt(), first)
    print(server.port, flush=True)
    sys.stdin.read()
