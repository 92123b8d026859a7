"""Two processes that exchange blocks of an 8B shape between two GPUs, started by `test_prefill_apart.py`.

    python -m tests.gpu.block_owner lease ADDRESS SEED
    python -m tests.gpu.block_owner read

Does: lease blocks whose bits follow from a seed, until the standard input ends; or read blocks for each line `once
ADDRESS SEED` of the standard input, and print how many were right; for a line `until_lost ADDRESS SEED` read until
nothing comes. Each process uses the first GPU that it sees. Does not: run a model.
"""

import json
import sys
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import torch
from intaglio.engine.memory.block_contents import Content
from intaglio.engine.memory.exported_blocks import BlockServer
from intaglio.engine.memory.leased_blocks import LeasedBlocks
from intaglio.engine.memory.page_key import Chain, first_chain, next_chain
from intaglio.engine.memory.peer_contents import PeerContents
from intaglio.engine.memory.peer_tier import PeerTier
from intaglio.engine.memory.unix_carrier import UnixCarrier
from intaglio.engine.model.spec import parse_spec
from intaglio.engine.run.cuda.device_blocks import DeviceBlocks
from intaglio.engine.run.cuda.shared_blocks import SharedBlocks
from intaglio.engine.run.cuda.staging_blocks import StagingBlocks
from intaglio.engine.run.kv import KVCache

from tests.bench.bench_extract import SHAPES
from tests.support.fetched_contents import fetched

VERSION = b"v" * 16
BLOCKS = 64  # of 2 MiB: 1,024 tokens
MOST_TURNS = 20_000


def cache_of(seed: int) -> KVCache:
    """A cache with bits that every process finds from the seed."""
    spec, device = parse_spec(SHAPES["8b"]), torch.device("cuda")
    cache = KVCache(spec, BLOCKS + 1, 16, torch.bfloat16, device)
    words = cache.tensor.view(torch.int64)
    torch.arange(words.numel(), device=device, out=words.view(-1))
    words.mul_(6364136223846793005).add_(seed)
    return cache


def chain_of(number: int) -> Chain:
    return next_chain(first_chain(b""), number.to_bytes(4, "little"))


CHAINS = [chain_of(number) for number in range(BLOCKS)]


def lease(address: str, seed: int) -> None:
    with torch.inference_mode():
        cache = cache_of(seed)
        leased = LeasedBlocks(SharedBlocks(cache, BLOCKS))
        leased.export([(chain, number + 1) for number, chain in enumerate(CHAINS)])
        cache.tensor.zero_()  # what was exported is kept although its blocks are overwritten
    Path(address).unlink(missing_ok=True)
    server = BlockServer(Path(address), VERSION, leased.serve)
    print("listening", flush=True)
    sys.stdin.read()
    server.close()


class Reader:
    """A cache of this GPU, and the way to contents of the other one."""

    def __init__(self) -> None:
        with torch.inference_mode():
            self._cache = cache_of(0)
            self._staging = StagingBlocks(self._cache, BLOCKS)
            self._copies = DeviceBlocks(self._cache, 1)
        link = partial(PeerContents, staging=self._staging, size=self._cache.block_bytes)
        size = self._cache.block_bytes
        self._peers = PeerTier(UnixCarrier(VERSION, link, size, BLOCKS * size))
        self._asked = 0

    def close(self) -> None:
        self._peers.close()
        self._copies.close()

    def _taken(self, address: str) -> list[Content]:
        self._asked += 1
        found = fetched(self._peers, self._asked, address, CHAINS)
        self._peers.forget(self._asked)
        return list(found.values())

    def once(self, address: str, seed: int) -> dict[str, Any]:
        """How many blocks came, how many of them are right where they were written, and the best milliseconds of five.

        The first exchange opens the connection and the mapping.
        """
        began = time.perf_counter()
        contents = self._taken(address)
        seconds, rest = time.perf_counter() - began, []
        for _ in range(5 if contents else 0):
            contents.clear()  # its rows are free again
            began = time.perf_counter()
            contents = self._taken(address)
            rest.append(time.perf_counter() - began)
        places = Random(seed).sample(range(1, BLOCKS + 1), len(contents))
        transfer = self._copies.write(places, contents)
        done = transfer.advance()
        transfer.join()
        with torch.inference_mode():
            expected = cache_of(seed).tensor
            right = sum(
                bool(
                    torch.equal(
                        self._cache.tensor[:, :, place].view(torch.int16),
                        expected[:, :, number + 1].view(torch.int16),
                    )
                )
                for number, place in enumerate(places)
            )
        return {
            "taken": len(contents),
            "right": right,
            "done": done,
            "first_ms": round(1e3 * seconds, 2),
            "ms": round(1e3 * min(rest, default=0.0), 3),
            "faults": self._peers.faults,
        }

    def until_lost(self, address: str, seed: int) -> dict[str, Any]:
        """As `once`, after whole exchanges until one gives nothing; how many were whole, and in part."""
        whole = partly = 0
        last: list[Content] = []
        for _ in range(MOST_TURNS):
            last.clear()
            last = self._taken(address)
            if not last:
                break
            whole += len(last) == BLOCKS
            partly += len(last) != BLOCKS
        torch.cuda.synchronize()  # an error on the device is one here
        return {"seed": seed, "whole": whole, "partly": partly, "lost": not last}


def read() -> None:
    with closing(Reader()) as reader:
        print("ready", flush=True)
        for line in sys.stdin:
            kind, address, seed = line.split()
            work = {"once": reader.once, "until_lost": reader.until_lost}[kind]
            print(json.dumps(work(address, int(seed))), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "lease":
        lease(sys.argv[2], int(sys.argv[3]))
    else:
        read()
