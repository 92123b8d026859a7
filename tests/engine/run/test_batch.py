"""Cutting a batch into pieces, against a plain model."""

import random

import numpy as np
import pytest
from intaglio.engine.run.batch import Batch, cut


def batch(counts: list[int], before: list[int]) -> Batch:
    """A batch of sequences of `counts` new tokens after so many others, in rows 7, 8, ..."""
    none = np.zeros(0, dtype=np.int64)
    starts = np.cumsum([0, *counts])
    lengths = np.array(before) + np.array(counts)
    rows = 7 + np.arange(len(counts))
    return Batch(
        tokens=np.zeros(starts[-1], dtype=np.int32),
        positions=none,
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
