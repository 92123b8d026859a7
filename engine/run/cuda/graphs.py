"""CUDA graphs of the decoder's passes over small batches, captured once and replayed.

Does: capture one CUDA graph for each padded number of tokens, replay the smallest one that fits a batch, and measure
the time of a replay. Does not: fill the inputs (`input_buffers`), or make logits: the head is launched separately, so
that no graph holds memory as wide as the vocabulary.

A captured pass has room for as many sequences as tokens, and sequences may have no token: so one graph serves any mix
of sequences with one token or a few. All keys of a layer are stored before any is read: a sequence with more tokens
than one matrix product has rows for counts as several, each with its own context and the same block table. In a large
captured pass each token counts as a sequence, in packs of tokens that share a prefix of their contexts.
"""

from bisect import bisect_left
from collections.abc import Callable
from itertools import pairwise

import torch

Forward = Callable[[int], object]
"""Computes a number of tokens; inputs and hidden states have fixed addresses."""


def sizes(most: int) -> tuple[int, ...]:
    """The numbers of tokens to capture, up to `most`: padding adds at most a fifth to a batch, or seven tokens.

    From some hundred tokens on, passes are bound by arithmetic, and padding costs as much as tokens: the sizes there
    are close. cuBLAS is fast for multiples of 32; 560 rows took a fifth longer than 576.
    """
    steps = [1, 2, 4, *range(8, 65, 8), *range(80, 257, 16)]
    steps += [*range(288, 641, 32), *range(704, 1025, 64)]
    return (*(size for size in steps if size < most), most)


def pick_sizes(most: int) -> tuple[int, ...]:
    """The numbers of rows that the head and sampling are launched for, up to `most`.

    Fewer than the sizes of passes: padding costs little there, and the sampling kernel is large to compile.
    """
    steps = (1, 2, 4, 8, 16, 32, 64, 128, 192, 256, 384, 512, 768, 1024)
    return (*(size for size in steps if size < most), most)


class ForwardGraphs:
    """Captured passes by number of tokens. The largest is captured first: the smaller ones reuse its memory."""

    def __init__(self, forward: Forward, captured: tuple[int, ...]) -> None:
        """`forward` must have run once for each size: a compilation on first use cannot be captured."""
        self._sizes = captured
        self._graphs: dict[int, torch.cuda.CUDAGraph] = {}
        pool = torch.cuda.graph_pool_handle()
        # Captured kernels keep the priority of this stream: concurrent work takes only the free part of the device.
        stream = torch.cuda.Stream(priority=-1)
        for size in reversed(captured):
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=pool, stream=stream):
                forward(size)
            self._graphs[size] = graph

    @property
    def most(self) -> int:
        """The most tokens of a graph."""
        return self._sizes[-1]

    def padded(self, tokens: int) -> int:
        """The smallest captured size for `tokens` tokens, which are at most `most`."""
        return self._sizes[bisect_left(self._sizes, tokens)]

    def replay(self, size: int) -> None:
        """Run the pass of `size` tokens on the present inputs."""
        self._graphs[size].replay()

    def release(self) -> None:
        """Destroy the graphs; those that still run end first."""
        for graph in self._graphs.values():
            graph.reset()

    def seconds(self, size: int) -> float:
        """Seconds of a replay on the present inputs: the lesser of two measurements. The host waits."""
        # The others are launched while the first one runs: the device never waits for the host.
        self.replay(size)
        marks = [_mark()]
        for _ in range(2):
            self.replay(size)
            marks.append(_mark())
        marks[-1].synchronize()
        milliseconds: float = min([begin.elapsed_time(end) for begin, end in pairwise(marks)])
        return milliseconds / 1e3


def _mark() -> torch.cuda.Event:
    """An event that the device records after all work launched so far."""
    mark = torch.cuda.Event(enable_timing=True)
    mark.record()
    return mark
