"""The assignment problem: pairs of rows and columns with the greatest total gain.

Does: solve it exactly in O(n²m) time. Does not: know what the gains mean.

The Hungarian method of Kuhn (1955) and Munkres (1957), by shortest augmenting paths with dual prices as in Jonker and
Volgenant, "A shortest augmenting path algorithm for dense and sparse linear assignment problems" (1987).
"""

from collections.abc import Sequence


def best_assignment(gains: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Pairs (row, column), each row and each column at most once, with the greatest sum of gains.

    All rows are paired if there are at least as many columns, else all columns. `gains` is a rectangle.
    """
    if not gains or not gains[0]:
        return []
    if len(gains) > len(gains[0]):
        columns = list(zip(*gains, strict=True))
        return sorted((row, column) for column, row in best_assignment(columns))
    width = len(gains[0])
    row_price, column_price = [0] * len(gains), [0] * width
    row_of: list[int | None] = [None] * width
    for row in range(len(gains)):
        _augment(gains, row, row_price, column_price, row_of)
    return sorted((row, column) for column, row in enumerate(row_of) if row is not None)


def _augment(
    gains: Sequence[Sequence[int]],
    start: int,
    row_price: list[int],
    column_price: list[int],
    row_of: list[int | None],
) -> None:
    """Pair row `start`, moving other rows where that costs least (Dijkstra over reduced costs)."""
    width = len(column_price)
    distance: list[int | None] = [None] * width
    predecessors: list[int] = [-1] * width  # the column before on the path; -1 is row `start`
    settled: list[int] = []
    is_settled = [False] * width
    row, last, so_far = start, -1, 0
    while True:
        for column in range(width):
            if is_settled[column]:
                continue
            step = so_far - gains[row][column] - row_price[row] - column_price[column]
            known = distance[column]
            if known is None or step < known:
                distance[column], predecessors[column] = step, last
        so_far, last = min(
            (found, column)
            for column, found in enumerate(distance)
            if found is not None and not is_settled[column]
        )
        is_settled[last] = True
        holder = row_of[last]
        if holder is None:
            break
        settled.append(last)
        row = holder
    row_price[start] += so_far
    for column in settled:
        reached, holder = distance[column], row_of[column]
        assert reached is not None
        assert holder is not None
        row_price[holder] += so_far - reached
        column_price[column] -= so_far - reached
    while last != -1:
        before = predecessors[last]
        row_of[last] = start if before == -1 else row_of[before]
        last = before
