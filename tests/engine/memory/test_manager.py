import pytest
from intaglio.engine.errors import InternalError
from intaglio.engine.memory.manager import KVManager
from intaglio.engine.memory.pool import BlockPool
from intaglio.engine.sequence import Sequence
from intaglio.engine.types import Request, SamplingParams


def sequence(seq_id: int, prompt: int) -> Sequence:
    request = Request(id=str(seq_id), prompt=(2,) * prompt, sampling=SamplingParams())
    return Sequence(seq_id, request, (0.0, seq_id), 0.0)


def test_a_table_grows_only_when_it_must() -> None:
    memory = KVManager(BlockPool(10), block_size=4)
    seq = sequence(1, 9)
    granted = memory.reserve(seq, 9)
    assert granted is not None
    assert len(granted.blocks) == 3
    assert granted.computed == 0
    seq.admit(0.0, granted.computed)
    seq.compute(9)
    for _ in range(3):  # tokens 10 to 12 fit the third block
        seq.append(7)
        again = memory.reserve(seq, 1)
        assert again is not None
        assert again.blocks == ()
        seq.compute(1)
    seq.append(7)
    more = memory.reserve(seq, 1)
    assert more is not None
    assert memory.table(seq) == granted.blocks + more.blocks


def test_no_room_changes_nothing() -> None:
    memory = KVManager(BlockPool(4), block_size=4)
    first, second = sequence(1, 8), sequence(2, 8)
    assert memory.reserve(first, 8) is not None
    assert memory.reserve(second, 8) is None
    assert memory.table(second) == ()
    assert memory.free_blocks == 1
    memory.release(first)
    memory.release(second)  # it never had any
    assert memory.reserve(second, 8) is not None


def test_the_end_of_a_sequence_is_used_again_before_its_beginning() -> None:
    memory = KVManager(BlockPool(4), block_size=1)
    seq = sequence(1, 3)
    granted = memory.reserve(seq, 3)
    assert granted is not None
    memory.release(seq)
    again = memory.reserve(sequence(2, 3), 3)
    assert again is not None
    assert again.blocks == granted.blocks[::-1]


def test_capacity_is_in_tokens_without_the_null_block() -> None:
    assert KVManager(BlockPool(4), block_size=16).capacity == 48


def test_check_finds_a_table_of_nobody() -> None:
    memory = KVManager(BlockPool(4), block_size=4)
    seq = sequence(1, 4)
    memory.reserve(seq, 4)
    memory.check([seq])
    with pytest.raises(InternalError, match="not the running ones"):
        memory.check([])


def test_check_finds_more_computed_than_held() -> None:
    memory = KVManager(BlockPool(4), block_size=4)
    seq = sequence(1, 8)
    memory.reserve(seq, 4)
    seq.computed = 5
    with pytest.raises(InternalError, match="more than its blocks hold"):
        memory.check([seq])


def test_check_finds_a_shared_block() -> None:
    memory = KVManager(BlockPool(8), block_size=4)
    first, second = sequence(1, 4), sequence(2, 4)
    memory.reserve(first, 4)
    memory.reserve(second, 4)
    memory._tables[2] = memory._tables[1]
    with pytest.raises(InternalError, match="is in 2 tables, 1 known"):
        memory.check([first, second])
