"""The keys and values of prompts for engines of other servers, layer by layer, while the next layers are computed.

Does: note the blocks that a plan fills of prompts that somewhere are waited for, read them after each layer of its
pass, and hand them to the threads that send them. Does not: send (`prompt_server`), or keep anything: what is not sent
so, such as blocks that were computed before, comes from `exported_blocks` when the prompt ends.
"""

import threading
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Protocol

from .page_key import Chain


class LayerContents(Protocol):
    """Reads a layer of some blocks. For the thread that steps."""

    @property
    def layers(self) -> int:
        """The number of layers."""
        ...

    @property
    def layer_bytes(self) -> int:
        """The bytes of a block in one layer. Those of its layers follow each other in its content."""
        ...

    def read_layer(self, layer: int, blocks: Sequence[int]) -> bytes:
        """The keys and values of these blocks in that layer, one block after the other."""
        ...


class Slice(NamedTuple):
    """Bytes of several contents, which all begin at one offset: of the contents `numbers`, one after the other."""

    offset: int
    numbers: tuple[int, ...]
    data: bytes


class LayerStream:
    """The layers of the contents that one other engine waits for. `numbers` are those of their chains there."""

    def __init__(self, numbers: dict[Chain, int]) -> None:
        self.numbers = numbers
        self._changed = threading.Condition()
        self._slices: deque[Slice] = deque()
        self._given: defaultdict[int, set[int]] = defaultdict(set)  # layers by number
        self._over = False

    def put(self, layer: int, part: Slice) -> None:
        """Give a layer of some contents. For the thread that steps."""
        with self._changed:
            for number in part.numbers:
                self._given[number].add(layer)
            self._slices.append(part)
            self._changed.notify()

    def needs(self, chain: Chain, layer: int) -> bool:
        """Whether a layer was not given: a prompt that is preempted is computed twice."""
        return layer not in self._given.get(self.numbers[chain], ())

    def end(self) -> None:
        """Note that the prompt has ended: no layer follows. For any thread."""
        with self._changed:
            self._over = True
            self._changed.notify()

    def take(self, timeout_s: float) -> Slice | None:
        """The next slice; None if there is none after so long, or none will follow."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._slices) or self._over, timeout_s)
            return self._slices.popleft() if self._slices else None

    @property
    def is_over(self) -> bool:
        """Whether the prompt has ended, and all slices are taken."""
        return self._over and not self._slices

    def missing(self, chain: Chain, layers: int) -> list[int]:
        """The layers of the content of a chain that were not given, of so many."""
        given = self._given.get(self.numbers[chain], set())
        return [] if len(given) == layers else [each for each in range(layers) if each not in given]


class LayerFeed:
    """The streams of one engine. `planned`, `written` and `lacking` are for the thread that steps.

    `contents` None: a device of which the host reads no layers while it computes; then nothing is given.
    """

    def __init__(self, contents: LayerContents | None) -> None:
        self._contents = contents
        self._guard = threading.Lock()
        self._streams: list[LayerStream] = []
        self._planned: list[tuple[Chain, int]] = []
        self._pass: list[tuple[Chain, int]] = []

    @property
    def layers(self) -> int:
        """The number of layers; 1 where none is read alone."""
        return 1 if self._contents is None else self._contents.layers

    @contextmanager
    def open(self, chains: Sequence[Chain]) -> Iterator[LayerStream]:
        """A stream of the layers of these chains, from now on and until the end of the context. For any thread."""
        stream = LayerStream({chain: number for number, chain in enumerate(chains)})
        with self._guard:
            self._streams.append(stream)
        try:
            yield stream
        finally:
            with self._guard:
                self._streams.remove(stream)

    def planned(self, found: Sequence[tuple[Chain, int]]) -> None:
        """Note that the next pass fills these blocks."""
        if self._streams and self._contents is not None:
            self._planned += found

    def written(self, layer: int) -> None:
        """Read a layer of the blocks of the pass, in which it is complete; the first one begins the pass."""
        if layer == 0:
            self._pass, self._planned = self._planned, []
        if not self._pass or self._contents is None:
            return
        with self._guard:
            streams = tuple(self._streams)
        size = self._contents.layer_bytes
        for stream in streams:
            blocks = {
                stream.numbers[chain]: block
                for chain, block in self._pass
                if chain in stream.numbers and stream.needs(chain, layer)
            }
            if blocks:
                data = self._contents.read_layer(layer, list(blocks.values()))
                stream.put(layer, Slice(layer * size, tuple(blocks), data))

    def lacking(self, found: Sequence[tuple[Chain, int]]) -> list[tuple[Chain, int]]:
        """Those of these blocks that not every stream that waits for them has got; all where none does."""
        with self._guard:
            streams = tuple(self._streams)
        if not streams:
            return list(found)
        return [
            (chain, block)
            for chain, block in found
            if not (waiting := [each for each in streams if chain in each.numbers])
            or any(each.missing(chain, self.layers) for each in waiting)
        ]
