"""Pieces and packs of a batch, against plain models."""

import random

import numpy as np
import numpy.typing as npt
import pytest
from intaglio.engine.run.batch import Batch
from intaglio.engine.run.cuda import token_packing
from intaglio.engine.run.cuda.token_packing import LONGEST_SHARED, PADDING, cut, pack

Words = npt.NDArray[np.int32]


def batch(counts: list[int], before: list[int]) -> Batch:
    """A batch of sequences of `counts` new tokens after so many others, in rows 7, 8, ..."""
    none = np.zeros(0, dtype=np.int64)
    starts = np.cumsum([0, *counts])
    each = [np.arange(have, have + count) for have, count in zip(before, counts, strict=True)]
    lengths = np.array(before) + np.array(counts)
    rows = 7 + np.arange(len(counts))
    return Batch(
        tokens=np.zeros(starts[-1], dtype=np.int32),
        sources=np.full(starts[-1], -1),
        positions=np.concatenate(each),
        rope_positions=np.concatenate(each),
        slots=none,
        owners=np.repeat(rows, counts),
        starts=starts,
        lengths=lengths,
        rows=rows,
        logits_indices=none,
        picking=(),
        sampling_rows=none,
        next_positions=none,
        grown=none,
        longest=max(counts),
    )


@pytest.mark.parametrize("most", [1, 4, 8])
@pytest.mark.parametrize("seed", range(10))
def test_pieces_cover_each_sequence_in_order(seed: int, most: int) -> None:
    dice = random.Random(seed)
    counts = [dice.choice([1, 1, 2, 4, 5, 8]) for _ in range(dice.randint(1, 9))]
    before = [dice.randint(0, 50) for _ in counts]
    expected = [
        (begin, have + min(begin + most, count), 7 + s)
        for s, (count, have) in enumerate(zip(counts, before, strict=True))
        for begin in range(0, count, most)
    ]
    size = sum(counts) + dice.randint(0, 3)
    rows, lengths, starts = filled(size), filled(size), filled(size + 1)
    cut(batch(counts, before), most, rows, lengths, starts)
    offsets = [sum(counts[: row - 7]) for _, _, row in expected]
    rest = size - len(expected)
    assert starts.tolist() == [
        *(offset + begin for offset, (begin, _, _) in zip(offsets, expected, strict=True)),
        *[sum(counts)] * (rest + 1),
    ]
    assert lengths.tolist() == [length for _, length, _ in expected] + [0] * rest
    assert rows.tolist() == [row for _, _, row in expected] + [0] * rest


def filled(*shape: int) -> Words:
    """Memory that holds something else."""
    return np.full(shape, 77, dtype=np.int32)


def packed(
    step: Batch, tables: Words, size: int, *, most: int, packs: int, at_once: int = 3
) -> tuple[Words, Words, Words]:
    """Order, leads and what is shared, of so many packs."""
    order, leads, shared = filled(packs, most), filled(packs, most), filled(packs)
    pack(step, tables, size, at_once, order, leads, shared)
    return order, leads, shared


@pytest.mark.parametrize("most", [1, 4, 8])
@pytest.mark.parametrize("seed", range(20))
def test_packs_share_what_they_say_and_miss_no_token(seed: int, most: int) -> None:
    dice = random.Random(seed)
    size, wide = 4, dice.choice([3, 10, LONGEST_SHARED + 5])
    heads = [[dice.randint(1, 300) for _ in range(wide)] for _ in range(3)]
    counts = [dice.choice([1, 1, 1, 3]) for _ in range(dice.randint(1, 30))]
    tables = np.zeros((7 + len(counts), wide), dtype=np.int32)
    before = []
    for row, count in enumerate(counts, start=7):
        common, blocks = dice.randint(0, wide), dice.randint(1, wide)
        own = [1000 * (row + 1) + i for i in range(wide)]
        table = (dice.choice(heads)[:common] + own)[:blocks]
        tables[row, :blocks] = table
        before.append(max(0, dice.randint(size * (blocks - 1) + 1, size * blocks) - count))
    step = batch(counts, before)
    fewest = -(-sum(counts) // most)
    order, leads, shared = packed(
        step, tables, size, most=most, packs=fewest + dice.choice([0, 0, 1, 40])
    )
    assert sorted(order[order != PADDING].tolist()) == list(range(sum(counts)))
    for tokens, places, keys in zip(order, leads, shared.tolist(), strict=True):
        count = int((tokens != PADDING).sum())
        assert (tokens[count:] == PADDING).all()
        tokens = tokens[:count]
        owners = step.owners[tokens].tolist()
        assert places[:count].tolist() == [owners.index(o) for o in owners]
        if count:
            assert 0 <= keys <= step.positions[tokens].min() + 1
            beginnings = tables[step.owners[tokens], : -(-keys // size)]
            assert (beginnings == beginnings[0]).all()
        else:
            assert keys == 0


def test_packs_find_families() -> None:
    """Sixteen sequences of four beginnings, in any order: each family is a pack, and shares its six blocks."""
    tables = np.arange(1, 231, dtype=np.int32).reshape(23, 10)
    for row in range(16):
        tables[7 + row, :6] = tables[row % 4, :6]
    order, _, shared = packed(batch([1] * 16, [156] * 16), tables, 16, most=4, packs=4)
    assert shared.tolist() == [96] * 4
    assert [len({row % 4 for row in tokens}) for tokens in order.tolist()] == [1] * 4


@pytest.mark.parametrize(
    ("packs", "programs"), [(80, 16), (99, 33), (132, 33), (132, 66), (198, 66)]
)
def test_packs_are_worked_off_in_about_equal_time(packs: int, programs: int) -> None:
    """Long contexts and short ones, one sequence in eight with three tokens; programs take packs in their order."""
    dice = random.Random(packs)
    counts = [3 if row % 8 == 0 else 1 for row in range(200)]
    before = [dice.choice([100, 400, 700]) for _ in counts]
    tables = np.arange(1, 207 * 50 + 1, dtype=np.int32).reshape(207, 50)
    step = batch(counts, before)
    order, leads, _ = packed(step, tables, 16, most=4, packs=packs, at_once=programs)
    busy = [0] * programs
    for tokens, places in zip(order, leads, strict=True):
        owners = {int(step.owners[tokens[place]]) for place in places if tokens[place] != PADDING}
        first = busy.index(min(busy))
        busy[first] += sum(int(step.lengths[owner - 7]) for owner in owners)
    assert max(busy) < 1.25 * sum(busy) / programs


def test_any_batch_finds_its_loops_compiled() -> None:
    token_packing.warm_up()
    known = {name: getattr(token_packing, name).signatures for name in ("_cut", "_deal")}
    test_pieces_cover_each_sequence_in_order(3, 4)
    test_packs_share_what_they_say_and_miss_no_token(3, 4)
    assert {name: getattr(token_packing, name).signatures for name in known} == known
    assert all(len(signatures) == 1 for signatures in known.values())
