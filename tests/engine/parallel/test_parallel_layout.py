"""The parts of all ranks make the whole: elements, tokens and layers, each once and in order."""

import threading
from itertools import chain
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st
from intaglio.engine.parallel.parallel_layout import (
    Parallel,
    ParallelLayout,
    PipelineStage,
    StageLayout,
    TensorParallel,
)
from intaglio.kernels.contracts import WORD_BITS

RANKS = st.integers(1, 16)


@given(RANKS, st.integers(1, 40))
def test_every_element_belongs_to_one_rank(tp: int, each: int) -> None:
    parts = [range(tp * each)[ParallelLayout(tp, rank).part(tp * each)] for rank in range(tp)]
    assert [*chain(*parts)] == [*range(tp * each)]
    assert {len(part) for part in parts} == {each}


@given(RANKS, st.integers(1, 4))
def test_ranks_that_share_an_element_are_neighbours(heads: int, each: int) -> None:
    tp = heads * each
    shared = [ParallelLayout(tp, rank).shared_part(heads) for rank in range(tp)]
    assert [part.start for part in shared] == [rank // each for rank in range(tp)]
    assert {part.stop - part.start for part in shared} == {1}


@given(RANKS, st.integers(1, 5000))
def test_every_token_belongs_to_one_rank_and_words_are_whole(tp: int, vocab: int) -> None:
    layouts = [ParallelLayout(tp, rank) for rank in range(tp)]
    parts = [range(vocab)[layout.tokens(vocab)] for layout in layouts]
    assert [*chain(*parts)] == [*range(vocab)]
    assert all(part.start % WORD_BITS == 0 for part in parts if part)
    assert {layout.most_tokens(vocab) for layout in layouts} == {max(map(len, parts))}


@given(RANKS, st.integers(0, 60))
def test_every_layer_belongs_to_one_stage_in_order(pp: int, more: int) -> None:
    total = pp + more
    stages = sorted((StageLayout(pp, rank) for rank in range(pp)), key=lambda place: place.stage)
    assert [*chain(*(place.layers(total) for place in stages))] == [*range(total)]
    sizes = [len(place.layers(total)) for place in stages]
    assert sorted(sizes, reverse=True) == sizes
    assert max(sizes) - min(sizes) <= 1
    assert [place.is_first for place in stages] == [True] + [False] * (pp - 1)
    assert [place.rank for place in stages if place.is_last] == [0]
    assert stages[-1].is_last


class Held:
    """An exchange that ends once another one has begun to end."""

    def __init__(self) -> None:
        self.other: Held | None = None
        self.began = threading.Event()
        self.ended = False

    def abort(self) -> None:
        self.began.set()
        assert self.other is not None
        self.ended = self.other.began.wait(60)


def test_both_exchanges_of_a_rank_are_ended_at_once() -> None:
    """Work on a device may wait in one of them while the other cannot end before that work."""
    sums, states = Held(), Held()
    sums.other, states.other = states, sums
    place = Parallel(
        TensorParallel(ParallelLayout(2, 0), cast("Any", sums)),
        PipelineStage(StageLayout(2, 0), cast("Any", states)),
    )
    place.abort()
    assert sums.ended
    assert states.ended


def test_an_exchange_that_does_not_end_is_not_waited_for() -> None:
    """As that of a start which failed while it captured graphs, and whose error still holds them."""
    stuck, other = Held(), Held()
    stuck.other = other
    place = Parallel(stage=PipelineStage(StageLayout(2, 0), cast("Any", stuck)))
    place.abort(most_s=0.0)
    assert not stuck.ended
    other.began.set()


def test_only_the_last_stage_samples() -> None:
    stages = [PipelineStage(StageLayout(3, rank), cast("Any", Held())) for rank in range(3)]
    assert [Parallel(stage=stage).samples for stage in stages] == [True, False, False]
    assert Parallel().samples
