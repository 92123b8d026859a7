"""Training batches made by worker processes while the device trains.

Each worker draws samples from its own seeds, encodes them and sorts them into buckets by length; a full
bucket becomes one padded batch of about `tokens` tokens. Only the positions of the answer are learnt.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from queue import Full
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .encode import Codec, load
from .generate import samples

LENGTHS = (256, 384, 512, 640, 768, 1024, 1536, 2048)
_CHUNK = 64


@dataclass(frozen=True)
class Batch:
    """`ids` [rows, length] padded on the right; `starts` and `ends` bound each row's answer."""

    ids: NDArray[np.uint16]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]


def batches(tokenizer: Path, first: int, stride: int, tokens: int) -> Iterator[Batch]:
    """Endless batches of the seeds `first`, `first + stride`, … in chunks."""
    codec = Codec.of(load(tokenizer))
    buckets: dict[int, list[tuple[list[int], int]]] = {length: [] for length in LENGTHS}
    seed = first * _CHUNK
    while True:
        drawn = list(samples(seed, _CHUNK, "train"))
        seed += stride * _CHUNK
        prompts = codec.prompts([(each.schema, each.text) for each in drawn])
        answers = codec.answers([each.answer_text for each in drawn])
        for prompt, answer in zip(prompts, answers, strict=True):
            size = len(prompt) + len(answer)
            length = next((length for length in LENGTHS if size <= length), None)
            if length is None:
                continue
            buckets[length].append((prompt + answer, len(prompt)))
            if len(buckets[length]) == tokens // length:
                yield _padded(buckets[length], length, codec.pad)
                buckets[length] = []


def _padded(rows: list[tuple[list[int], int]], length: int, pad: int) -> Batch:
    ids = np.full((len(rows), length), pad, dtype=np.uint16)
    for index, (row, _) in enumerate(rows):
        ids[index, : len(row)] = row
    starts = np.array([start for _, start in rows], dtype=np.int32)
    ends = np.array([len(row) for row, _ in rows], dtype=np.int32)
    return Batch(ids, starts, ends)


def _work(tokenizer: Path, first: int, stride: int, tokens: int, queue: Any) -> None:
    for batch in batches(tokenizer, first, stride, tokens):
        while True:
            try:
                queue.put(batch, timeout=60)
                break
            except Full:
                continue


def start(tokenizer: Path, workers: int, tokens: int, depth: int = 64) -> Any:
    """Start the workers (daemons, ended with the caller) and return the queue they fill."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue(maxsize=depth)
    for index in range(workers):
        arguments = (tokenizer, index, workers, tokens, queue)
        context.Process(target=_work, args=arguments, daemon=True).start()
    return queue
