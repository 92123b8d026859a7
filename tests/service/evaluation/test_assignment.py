"""The assignment against trying all of them."""

from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st
from intaglio.service.evaluation.assignment import best_assignment


@st.composite
def rectangles(draw: st.DrawFn) -> list[list[int]]:
    rows, columns = draw(st.integers(0, 5)), draw(st.integers(0, 6))
    cell = st.integers(-4, 9)
    return draw(
        st.lists(st.lists(cell, min_size=columns, max_size=columns), min_size=rows, max_size=rows)
    )


def best_sum(gains: list[list[int]]) -> int:
    """The greatest sum by enumeration; the shorter side is paired as a whole."""
    if not gains or not gains[0]:
        return 0
    if len(gains) > len(gains[0]):
        gains = [list(column) for column in zip(*gains, strict=True)]
    rows, columns = range(len(gains)), range(len(gains[0]))
    return max(
        sum(gains[row][column] for row, column in zip(rows, chosen, strict=True))
        for chosen in permutations(columns, len(gains))
    )


@settings(max_examples=300, deadline=None)
@given(rectangles())
def test_no_other_assignment_gains_more(gains: list[list[int]]) -> None:
    pairs = best_assignment(gains)
    assert sum(gains[row][column] for row, column in pairs) == best_sum(gains)
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)
    assert len(pairs) == (min(len(gains), len(gains[0])) if gains else 0)


def test_a_square_of_a_hundred_reversed_rows_is_found() -> None:
    size = 100
    gains = [[int(row + column == size - 1) for column in range(size)] for row in range(size)]
    assert best_assignment(gains) == [(row, size - 1 - row) for row in range(size)]
