"""Rates of copies between a GPU and memory of the host: plain ones, and those of KV blocks, without an engine."""

import time
from collections.abc import Callable, Iterator

import torch
from intaglio.engine.memory.block_contents import Content
from intaglio.engine.model.spec import ModelSpec
from intaglio.engine.run.cuda.device_blocks import DeviceBlocks
from intaglio.engine.run.kv import KVCache

GIB = 1 << 30
TOKENS, BLOCK = 8192, 16
RUNS = 5


def copy_rates(spec: ModelSpec) -> Iterator[tuple[str, float]]:
    """Names and bytes a second in each direction, best of some runs."""
    yield from _plain_rates()
    yield from _block_rates(spec)


def _plain_rates() -> Iterator[tuple[str, float]]:
    there, back = (torch.empty(GIB, dtype=torch.uint8, pin_memory=True) for _ in range(2))
    on_device = torch.empty((2, GIB), dtype=torch.uint8, device="cuda")
    streams = [torch.cuda.Stream() for _ in range(2)]

    def arrive() -> None:
        with torch.cuda.stream(streams[0]):
            on_device[0].copy_(there, non_blocking=True)

    def leave() -> None:
        with torch.cuda.stream(streams[1]):
            back.copy_(on_device[1], non_blocking=True)

    def both() -> None:
        arrive()
        leave()

    yield "1 GiB of pinned memory to the device", GIB / least_s(arrive)
    yield "1 GiB to pinned memory", GIB / least_s(leave)
    yield "1 GiB each way at once, each", GIB / least_s(both)


def _block_rates(spec: ModelSpec) -> Iterator[tuple[str, float]]:
    count = TOKENS // BLOCK
    cache = KVCache(spec, 1 + count, BLOCK, torch.bfloat16, torch.device("cuda"))
    copies = DeviceBlocks(cache, 2 * count)
    blocks = list(range(1, 1 + count))

    def read(*, overlapped: bool) -> list[Content]:
        size = copies.most_read
        return [
            content
            for at in range(0, count, size)
            for content in copies.read(blocks[at : at + size], overlapped=overlapped)
        ]

    kept: list[Content] = []

    def leave() -> None:
        kept.clear()
        kept.extend(read(overlapped=False))

    yield "blocks of a prefix of 8,192 tokens leave", count * copies.block_bytes / least_s(leave)

    def arrive() -> None:
        copies.write(blocks, kept).join()

    yield "they arrive", count * copies.block_bytes / least_s(arrive)

    def exchange() -> None:
        transfer = copies.write(blocks, kept)
        left = read(overlapped=True)
        transfer.join()
        kept[:] = left

    yield "they arrive while as many leave", count * copies.block_bytes / least_s(exchange)
    kept.clear()
    copies.close()


def least_s(work: Callable[[], object]) -> float:
    """The seconds of `work` until the device has ended it, the least of some runs."""
    best = float("inf")
    for _ in range(RUNS):
        torch.cuda.synchronize()
        began = time.perf_counter()
        work()
        torch.cuda.synchronize()
        best = min(best, time.perf_counter() - began)
    return best
