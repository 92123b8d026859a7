"""The prefix cache over several block groups."""

import pytest
from intaglio.engine.errors import InternalError
from intaglio.engine.memory.block_groups import BlockGroups
from intaglio.engine.memory.manager import KVManager
from intaglio.engine.memory.pool import BlockPool
from intaglio.engine.memory.prefix import PrefixCache
from intaglio.engine.memory.side_blocks import SideBlocks
from intaglio.engine.sequence import Sequence
from intaglio.engine.types import Request, SamplingParams

GROUPS = BlockGroups(block_size=1, windows=(None, 2, None), most_step=4)


def test_a_prefix_needs_all_blocks_of_full_groups_and_the_last_ones_of_a_window() -> None:
    side = SideBlocks(GROUPS)
    for first in range(1, 6):
        side.hold(first, (10 * first, 10 * first + 1))
    blocks = [1, 2, 3, 4, 5]
    assert side.complete(blocks) == 5
    side.forget(10)
    assert side.complete(blocks) == 5  # behind the window
    side.forget(40)
    assert side.complete(blocks) == 3
    assert side.part(1, [2, 3]) == [20, 30]
    side.hold(4, (44, 99))
    assert side.complete(blocks) == 5
    assert side.part(2, [4]) == [41]
    side.forget(21)
    assert side.complete(blocks) == 0  # the first block of the window is gone, too
    side.check({1, 2, 3, 4, 5})


def test_blocks_are_forgotten_with_their_page() -> None:
    side = SideBlocks(GROUPS)
    side.hold(1, (10, 11))
    with pytest.raises(InternalError, match="cannot be found"):
        side.check({2})
    side.forget(1)
    side.check(set())
    assert side.complete([1]) == 0


def _sequence(number: int, prompt: list[int]) -> Sequence:
    request = Request(id=str(number), prompt=tuple(prompt), sampling=SamplingParams(max_tokens=8))
    return Sequence(number, request, (0.0, number), 0.0)


def _run(memory: KVManager, seq: Sequence) -> int:
    """Compute the prompt in steps of four tokens; the number of tokens that were cached."""
    granted = memory.reserve(seq, seq.known)
    assert granted is not None
    seq.admit(0.0, granted.computed)
    while seq.computed < seq.known:
        count = min(seq.known - seq.computed, 4)
        assert memory.reserve(seq, count) is not None
        seq.compute(count)
        memory.computed(seq)
        memory.check([seq])
    return granted.computed


@pytest.mark.parametrize("windows", [(None, 4), (4,)])
def test_contents_that_may_be_wrong_are_found_in_no_group(windows: tuple[int | None, ...]) -> None:
    """Also those in blocks that the sequence has freed behind its window."""
    groups = BlockGroups(2, windows, most_step=4)
    memory = KVManager(BlockPool(60), 2, PrefixCache(2, groups=groups), groups=groups)
    prompt = list(range(24))
    first = _sequence(1, prompt)
    assert _run(memory, first) == 0
    assert len(memory.table(first)) == 12
    memory.release(first)
    second = _sequence(2, [*prompt, 99])
    assert _run(memory, second) == 24
    memory.release(second, spoiled=True)
    third = _sequence(3, [*prompt, 98])
    assert _run(memory, third) == 0
    memory.release(third)
    assert memory.free_blocks == memory.blocks


def test_a_prefix_is_found_where_the_blocks_of_its_window_are_still_there() -> None:
    """Others have taken the blocks behind the window: a longer prompt continues at the end, a shorter one cannot."""
    groups = BlockGroups(2, (None, 4), most_step=4)
    pool, cache = BlockPool(1 + 40), PrefixCache(2, groups=groups)
    memory = KVManager(pool, 2, cache, groups=groups)
    prompt = list(range(24))
    first = _sequence(1, prompt)
    _run(memory, first)
    taken = pool.allocate(pool.free)
    assert taken is not None
    cache.forget(taken)
    pool.release(taken)
    cached = []
    for longer in ([*prompt, 99], [*prompt[:12], 99]):
        seq = _sequence(2, longer)
        granted = memory.reserve(seq, seq.known)
        assert granted is not None
        cached.append(granted.computed)
        memory.release(seq)
    assert cached == [24, 0]
