"""The decoder's passes over few tokens, captured once and replayed.

Does: capture one CUDA graph for each padded number of tokens, and replay the smallest that holds a batch. Does not:
fill the inputs (`gpu`), or make logits: the head is launched beside, so that no graph keeps memory as wide as the
vocabulary.

A captured pass has room for as many sequences as tokens, and sequences may own none: so one graph serves any mix of
sequences that go on by one token or by a few. All keys of a layer are stored before any is read: a sequence with more
tokens than a product has rows for counts as several, each with its own context and the same block table. In a pass
of many tokens each is a sequence, in packs that share what their contexts begin with.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping

import torch

Forward = Callable[[int], object]
"""Computes so many tokens: inputs, and the hidden states it leaves, stay where they are."""

Empty = Callable[[int], object]
"""Makes the inputs those of so many tokens that are nobody's."""


def sizes(most: int) -> tuple[int, ...]:
    """The numbers of tokens to capture, up to `most`: padding costs a batch a fifth at most, or seven tokens.

    Where passes are bound by arithmetic, with some hundred tokens, it costs as much as tokens do: there they are close.
    """
    steps = [1, 2, 4, *range(8, 65, 8), *range(80, 641, 16), *range(704, 1025, 64)]
    return (*(size for size in steps if size < most), most)


def pick_sizes(most: int) -> tuple[int, ...]:
    """The numbers of rows that the head and the choice of a token are launched for, up to `most`.

    Fewer than the captured ones: padding costs little there, and the choice is a large kernel to compile.
    """
    steps = (1, 2, 4, 8, 16, 32, 64, 128, 192, 256, 384, 512, 768, 1024)
    return (*(size for size in steps if size < most), most)


def worthwhile(times: Mapping[int, float]) -> tuple[int, ...]:
    """The sizes that take less time than any larger one, ascending: `times` by size.

    A vendor's library serves some numbers of rows badly: 560 took a fifth longer than 576.
    """
    found: list[int] = []
    for size in sorted(times, reverse=True):
        if not found or times[size] < times[found[-1]]:
            found.append(size)
    return tuple(reversed(found))


class ForwardGraphs:
    """Captured passes by number of tokens. Captured largest first: the smaller ones reuse its memory."""

    def __init__(self, forward: Forward, empty: Empty, captured: tuple[int, ...]) -> None:
        """`forward` must have run once for each size: what is compiled on first use cannot be captured.

        Sizes for which a larger one serves better are left out (see `worthwhile`).
        """
        self._graphs: dict[int, torch.cuda.CUDAGraph] = {}
        pool = torch.cuda.graph_pool_handle()
        # Captured kernels keep the priority of this stream: what runs beside a pass takes only what it leaves free.
        stream = torch.cuda.Stream(priority=-1)  # type: ignore[no-untyped-call]
        for size in reversed(captured):
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=pool, stream=stream):
                forward(size)
            self._graphs[size] = graph
        times = {}
        for size, graph in self._graphs.items():
            empty(size)
            times[size] = _milliseconds(graph)
        self._sizes = worthwhile(times)
        self._graphs = {size: self._graphs[size] for size in self._sizes}

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


def _milliseconds(graph: torch.cuda.CUDAGraph) -> float:
    """How long a pass takes, with the inputs as they stand."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
    graph.replay()
    begin.record()
    graph.replay()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end))
