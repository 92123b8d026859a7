import pytest
from intaglio.engine.errors import InternalError
from intaglio.engine.memory.pool import NULL_BLOCK, BlockPool


def test_the_null_block_is_never_handed_out() -> None:
    pool = BlockPool(4)
    assert pool.capacity == pool.free == 3
    assert pool.allocate(3) == (1, 2, 3)
    assert NULL_BLOCK == 0


def test_it_is_all_or_nothing() -> None:
    pool = BlockPool(4)
    assert pool.allocate(4) is None
    assert pool.free == 3
    assert pool.allocate(0) == ()


def test_the_longest_free_are_used_again_first() -> None:
    pool = BlockPool(5)
    first, second = pool.allocate(2), pool.allocate(2)
    assert first is not None
    assert second is not None
    pool.release(second)
    pool.release(first)
    assert pool.allocate(4) == second + first


def test_a_block_is_given_back_once() -> None:
    pool = BlockPool(3)
    taken = pool.allocate(1)
    assert taken is not None
    pool.release(taken)
    with pytest.raises(InternalError, match="has no user"):
        pool.release(taken)
    with pytest.raises(InternalError, match="has no user"):
        pool.release((NULL_BLOCK,))
    pool.check()


def test_check_finds_a_block_that_is_held_and_free() -> None:
    pool = BlockPool(3)
    pool.allocate(1)
    pool.check()
    pool._blocks[1].refs = 0
    with pytest.raises(InternalError, match="do not add up"):
        pool.check()


def test_a_pool_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="2 blocks at least"):
        BlockPool(1)
