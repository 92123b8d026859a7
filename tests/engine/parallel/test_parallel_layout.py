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


def in_order(pp: int) -> list[StageLayout]:
    return sorted((StageLayout(pp, rank) for rank in range(pp)), key=lambda place: place.stage)


@given(RANKS, st.integers(0, 60), st.integers(0, 500))
def test_every_layer_belongs_to_one_stage_in_order(pp: int, more: int, head: int) -> None:
    total = pp + more
    stages = in_order(pp)
    found = [place.layers([100] * total, head) for place in stages]
    assert [*chain(*found)] == [*range(total)]
    assert min(map(len, found)) >= 1
    assert [place.is_first for place in stages] == [True] + [False] * (pp - 1)
    assert [place.rank for place in stages if place.is_last] == [0]
    assert stages[-1].is_last


@given(RANKS, st.integers(0, 60))
def test_equal_layers_are_divided_equally_and_the_first_stages_have_one_more(
    pp: int, more: int
) -> None:
    sizes = [len(place.layers([7] * (pp + more))) for place in in_order(pp)]
    assert sorted(sizes, reverse=True) == sizes
    assert max(sizes) - min(sizes) <= 1


@given(st.lists(st.integers(1, 9), min_size=3, max_size=9), st.integers(0, 20))
def test_no_division_has_a_much_cheaper_dearest_stage(costs: list[int], head: int) -> None:
    """The least largest cost of three stages, found by trying all, is missed by little: other stages count as well."""
    found = [place.layers(costs, head) for place in in_order(3)]

    def dearest(first: int, second: int) -> int:
        return max(sum(costs[:first]), sum(costs[first:second]), sum(costs[second:]) + head)

    ends = [(i, j) for i in range(1, len(costs) - 1) for j in range(i + 1, len(costs))]
    assert dearest(found[0].stop, found[1].stop) <= 1.15 * min(dearest(*each) for each in ends)


def test_the_head_counts_as_layers_of_the_last_stage() -> None:
    """Megabytes of an 8B model with 152,000 tokens: the head is as much as 2.9 layers."""
    layers, head = [436] * 32, 1245
    assert [len(place.layers(layers, head)) for place in in_order(2)] == [17, 15]
    assert [len(place.layers(layers, head)) for place in in_order(4)] == [9, 9, 8, 6]
    assert [len(place.layers(layers[:3], 9 * head)) for place in in_order(2)] == [2, 1]


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
