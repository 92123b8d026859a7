"""The decoder's passes over few tokens, captured once and replayed.

Does: capture one CUDA graph for each padded number of tokens, replay the smallest that holds a batch, and measure what
a replay takes. Does not: fill the inputs (`gpu`), or make logits: the head is launched beside, so that no graph keeps
memory as wide as the vocabulary.

A captured pass has room for as many sequences as tokens, and sequences may own none: so one graph serves any mix of
sequences that go on by one token or by a few. All keys of a layer are stored before any is read: a sequence with more
tokens than a product has rows for counts as several, each with its own context and the same block table. In a pass
of many tokens each is a sequence, in packs that share what their contexts begin with.
"""

from bisect import bisect_left
from collections.abc import Callable
from itertools import pairwise

import torch

Forward = Callable[[int], object]
"""Computes so many tokens: inputs, and the hidden states it leaves, stay where they are."""


def sizes(most: int) -> tuple[int, ...]:
    """The numbers of tokens to capture, up to `most`: padding costs a batch a fifth at most, or seven tokens.

    With some hundred tokens passes are bound by arithmetic, and padding costs as much as tokens do: there they are
    close. The vendor's library serves multiples of 32 well; 560 rows took a fifth longer than 576.
    """
    steps = [1, 2, 4, *range(8, 65, 8), *range(80, 257, 16)]
    steps += [*range(288, 641, 32), *range(704, 1025, 64)]
    return (*(size for size in steps if size < most), most)


def pick_sizes(most: int) -> tuple[int, ...]:
    """The numbers of rows that the head and the choice of a token are launched for, up to `most`.

    Fewer than the captured ones: padding costs little there, and the choice is a large kernel to compile.
    """
    steps = (1, 2, 4, 8, 16, 32, 64, 128, 192, 256, 384, 512, 768, 1024)
    return (*(size for size in steps if size < most), most)


class ForwardGraphs:
    """Captured passes by number of tokens. Captured largest first: the smaller ones reuse its memory."""

    def __init__(self, forward: Forward, captured: tuple[int, ...]) -> None:
        """`forward` must have run once for each size: what is compiled on first use cannot be captured."""
        self._sizes = captured
        self._graphs: dict[int, torch.cuda.CUDAGraph] = {}
        pool = torch.cuda.graph_pool_handle()
        # Captured kernels keep the priority of this stream: what runs beside a pass takes only what it leaves free.
        stream = torch.cuda.Stream(priority=-1)  # type: ignore[no-untyped-call]
        for size in reversed(captured):
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=pool, stream=stream):
                forward(size)
            self._graphs[size] = graph

    @property
    def most(self) -> int:
        """The most tokens that a graph holds."""
        return self._sizes[-1]

    def padded(self, tokens: int) -> int:
        """The size that holds so many tokens, which are `most` at most."""
        return self._sizes[bisect_left(self._sizes, tokens)]

    def replay(self, size: int) -> None:
        """Compute the inputs as they stand, where `forward` computed them."""
        self._graphs[size].replay()

    def seconds(self, size: int) -> float:
        """What the device takes to replay a size, on the inputs as they stand: the lesser of two. The host waits."""
        # While the first one runs the others are launched: the device never waits for the host.
        self.replay(size)
        marks = [_mark()]
        for _ in range(2):
            self.replay(size)
            marks.append(_mark())
        marks[-1].synchronize()
        milliseconds: float = min([begin.elapsed_time(end) for begin, end in pairwise(marks)])
        return milliseconds / 1e3


def _mark() -> torch.cuda.Event:
    """When the device has done all that was launched so far."""
    mark = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
    mark.record()
    return mark
