"""Layers of a prompt leave while it is computed, each once, and what is missing is known at the end."""

import threading
from collections.abc import Sequence

import pytest
from intaglio.engine.memory.layer_feed import LayerFeed, Slice
from intaglio.engine.memory.page_key import first_chain, next_chain

LAYERS, SIZE = 3, 4
CHAINS = [next_chain(first_chain(b""), bytes([number])) for number in range(5)]


class Layers:
    """`LayerContents` in which the bytes tell the layer and the block."""

    layers, layer_bytes = LAYERS, SIZE

    def __init__(self) -> None:
        self.reads: list[tuple[int, tuple[int, ...]]] = []

    def read_layer(self, layer: int, blocks: Sequence[int]) -> bytes:
        self.reads.append((layer, tuple(blocks)))
        return b"".join(bytes([layer, block, 0, 0]) for block in blocks)


@pytest.fixture
def layers() -> Layers:
    return Layers()


@pytest.fixture
def feed(layers: Layers) -> LayerFeed:
    return LayerFeed(layers)


def run(feed: LayerFeed, found: Sequence[tuple[int, int]]) -> None:
    """A pass that fills the blocks of these chains, given by number."""
    feed.planned([(CHAINS[number], block) for number, block in found])
    for layer in range(LAYERS):
        feed.written(layer)


def test_each_layer_of_a_pass_is_given_when_it_is_written(feed: LayerFeed) -> None:
    with feed.open(CHAINS[1:4]) as stream:
        feed.planned(
            [(CHAINS[0], 8), (CHAINS[1], 9), (CHAINS[3], 7)]
        )  # the first is not waited for
        assert stream.take(0) is None
        for layer in range(LAYERS):
            feed.written(layer)
            data = bytes([layer, 9, 0, 0, layer, 7, 0, 0])
            assert stream.take(0) == Slice(layer * SIZE, (0, 2), data)
        assert [stream.missing(chain, LAYERS) for chain in CHAINS[1:4]] == [[], [0, 1, 2], []]
        assert not stream.is_over
        stream.end()
        assert stream.is_over


def test_the_parts_of_a_prompt_are_given_pass_by_pass(feed: LayerFeed, layers: Layers) -> None:
    with feed.open(CHAINS) as stream:
        run(feed, [(0, 5)])
        run(feed, [])
        run(feed, [(1, 6), (2, 7)])
        assert layers.reads == [(n, (5,)) for n in range(3)] + [(n, (6, 7)) for n in range(3)]
        assert [chain for chain in CHAINS if stream.missing(chain, LAYERS)] == CHAINS[3:]


def test_nothing_is_read_that_is_not_waited_for(feed: LayerFeed, layers: Layers) -> None:
    run(feed, [(0, 5)])
    with feed.open(CHAINS[1:]):
        run(feed, [(0, 5)])
    run(feed, [(1, 6)])
    assert layers.reads == []


def test_a_prompt_that_is_computed_twice_is_given_once(feed: LayerFeed) -> None:
    with feed.open(CHAINS[:2]) as stream:
        run(feed, [(0, 5), (0, 5)])  # two sequences of one plan
        run(feed, [(0, 9), (1, 4)])  # preempted, and elsewhere
        given = []
        while (part := stream.take(0)) is not None:
            given.append((part.offset // SIZE, part.numbers))
        assert given == [(0, (0,)), (1, (0,)), (2, (0,)), (0, (1,)), (1, (1,)), (2, (1,))]


def test_one_that_comes_in_mid_pass_lacks_the_layers_before(feed: LayerFeed) -> None:
    with feed.open(CHAINS[:1]) as first:
        feed.planned([(CHAINS[0], 5), (CHAINS[4], 6)])
        feed.written(0)
        with feed.open(CHAINS[:1]) as second:
            feed.written(1)
            feed.written(2)
            assert first.missing(CHAINS[0], LAYERS) == []
            assert second.missing(CHAINS[0], LAYERS) == [0]
            pairs = [(CHAINS[0], 5), (CHAINS[4], 6)]
            assert (
                feed.lacking(pairs) == pairs
            )  # the second needs the block, and nothing waits for the other one
        assert feed.lacking(pairs) == pairs[1:]
    assert feed.lacking(pairs) == pairs


def test_a_thread_that_waits_is_woken(feed: LayerFeed) -> None:
    with feed.open(CHAINS) as stream:
        for act in (lambda: run(feed, [(0, 5)]), stream.end):
            timer = threading.Timer(0.1, act)
            timer.start()
            part = stream.take(60)
            timer.join()
            assert (part is None) == stream.is_over
            while stream.take(0) is not None:
                pass


def test_a_device_that_reads_no_layer_gives_none() -> None:
    feed = LayerFeed(None)
    with feed.open(CHAINS) as stream:
        run(feed, [(0, 5)])
        assert stream.take(0) is None
        assert stream.missing(CHAINS[0], feed.layers) == [0]
        assert feed.lacking([(CHAINS[0], 5)]) == [(CHAINS[0], 5)]
