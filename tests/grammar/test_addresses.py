"""Arrays named by where they lie are the same arrays inside compiled code."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from intaglio.grammar.base.addresses import addresses, grid, line, longs, octets, words
from intaglio.grammar.base.array_types import Longs


def test_arrays_are_found_again_and_are_the_same_memory() -> None:
    held = (
        np.arange(5, dtype=np.int32),
        np.arange(12, dtype=np.int32).reshape(4, 3),
        np.arange(7, dtype=np.uint8),
        np.arange(6, dtype=np.uint32),
        np.arange(3, dtype=np.int64),
    )
    named = addresses(*held)
    views: tuple[Callable[[Longs, int], npt.NDArray[Any]], ...] = (line, grid, octets, words, longs)
    for i, view in enumerate(views):
        found = view(named, i)
        assert found.dtype == held[i].dtype
        assert found.tolist() == held[i].tolist()
        found[-1] = 9
        assert held[i].reshape(-1)[-1] == 9


def test_empty_arrays_are_empty() -> None:
    named = addresses(np.empty(0, np.int32), np.empty((0, 3), np.int32))
    assert len(line(named, 0)) == len(grid(named, 1)) == 0
