"""Pieces and packs of a batch, against plain models."""

import random

import numpy as np
import pytest
from intaglio.engine.run.batch import LONGEST_SHARED, Batch, cut, packs


def batch(counts: list[int], before: list[int]) -> Batch:
    """A batch of sequences of `counts` new tokens after so many others, in rows 7, 8, ..."""
    none = np.zeros(0, dtype=np.int64)
    starts = np.cumsum([0, *counts])
    each = [np.arange(have, have + count) for have, count in zip(before, counts, strict=True)]
    lengths = np.array(before) + np.array(counts)
    rows = 7 + np.arange(len(counts))
    return Batch(
        tokens=np.zeros(starts[-1], dtype=np.int32),
        positions=np.concatenate(each),
        slots=none,
        owners=np.repeat(rows, counts),
        starts=starts,
        lengths=lengths,
        rows=rows,
        wanted=none,
        picking=(),
        picking_rows=none,
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
    starts, lengths, rows = cut(batch(counts, before), most)
    offsets = [sum(counts[: row - 7]) for _, _, row in expected]
    assert starts.tolist() == [
        *(offset + begin for offset, (begin, _, _) in zip(offsets, expected, strict=True)),
        sum(counts),
    ]
    assert lengths.tolist() == [length for _, length, _ in expected]
    assert rows.tolist() == [row for _, _, row in expected]


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
    order, shared, leads = packs(step, tables, most, size)
    assert sorted(order.tolist()) == list(range(sum(counts)))
    assert len(shared) == -(-sum(counts) // most)
    for pack, keys in enumerate(shared.tolist()):
        tokens = order[most * pack : most * (pack + 1)]
        assert 0 <= keys <= step.positions[tokens].min() + 1
        beginnings = tables[step.owners[tokens], : -(-keys // size)]
        assert (beginnings == beginnings[0]).all()
        owners = step.owners[tokens].tolist()
        assert leads[most * pack : most * (pack + 1)].tolist() == [owners.index(o) for o in owners]


def test_packs_find_families() -> None:
    """Sixteen sequences of four beginnings, in any order: each family is a pack, and shares its six blocks."""
    tables = np.arange(1, 231, dtype=np.int32).reshape(23, 10)
    for row in range(16):
        tables[7 + row, :6] = tables[row % 4, :6]
    order, shared, _ = packs(batch([1] * 16, [156] * 16), tables, 4, 16)
    assert shared.tolist() == [96] * 4
    assert [len({row % 4 for row in order[at : at + 4].tolist()}) for at in (0, 4, 8, 12)] == [
        1
    ] * 4
