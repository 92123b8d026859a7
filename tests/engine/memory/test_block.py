from collections import deque
from random import Random

from intaglio.engine.memory.block import Block, FreeList


def listed(blocks: FreeList) -> list[int]:
    return [block.id for block in blocks]


def test_blocks_leave_in_the_order_they_came() -> None:
    free = FreeList()
    for number in range(4):
        free.append(Block(number))
    assert [free.pop().id for _ in range(4)] == [0, 1, 2, 3]
    assert len(free) == 0
    assert listed(free) == []


def test_a_block_can_leave_from_anywhere() -> None:
    blocks = [Block(number) for number in range(5)]
    for gone, rest in ((0, [1, 2, 3, 4]), (2, [0, 1, 3, 4]), (4, [0, 1, 2, 3])):
        free = FreeList()
        for block in blocks:
            free.append(block)
        free.remove(blocks[gone])
        assert listed(free) == rest
        free.append(blocks[gone])
        assert listed(free) == [*rest, gone]


def test_any_order_of_moves_matches_a_deque() -> None:
    rng = Random(1)
    blocks = [Block(number) for number in range(12)]
    free, model = FreeList(), deque[int]()
    for _ in range(5000):
        block = rng.choice(blocks)
        if block.id not in model:
            free.append(block)
            model.append(block.id)
        elif rng.random() < 0.5:
            free.remove(block)
            model.remove(block.id)
        else:
            assert free.pop().id == model.popleft()
        assert listed(free) == list(model)
        assert len(free) == len(model)
