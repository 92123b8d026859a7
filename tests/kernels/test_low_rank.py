"""Grouped low-rank products against matrices that are multiplied row by row, in float64."""

import pytest
import torch
from intaglio.kernels.contracts import AdapterRows, LowRank
from intaglio.kernels.gpu import GpuKernels
from intaglio.kernels.linear.low_rank import FEW_ROWS, adapter_rows, add_low_rank
from intaglio.kernels.reference_kernels import ReferenceKernels

from tests.support.paged import relative_error

HERE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def randn(*shape: int, seed: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(HERE, dtype)


def factors(places: int, inputs: int, ends: tuple[int, ...], rank: int) -> LowRank:
    """Matrices with a stride between places, as in memory that they share with others."""
    down, up = len(ends) * rank * inputs, ends[-1] * rank
    memory = randn(places, down + up + 48, seed=rank) * 0.1
    return LowRank(
        memory[:, 16 : 16 + down].view(places, -1, inputs),
        memory[:, 32 + down : 32 + down + up].view(places, ends[-1], rank),
        ends,
    )


def expected(
    product: torch.Tensor, x: torch.Tensor, given: LowRank, places: list[int]
) -> torch.Tensor:
    out = product.double()
    rank = given.up.shape[2]
    for row, place in enumerate(places):
        if place < 0:
            continue
        begin = 0
        for part, end in enumerate(given.ends):
            down = given.down[place, part * rank : (part + 1) * rank].double()
            out[row, begin:end] += given.up[place, begin:end].double() @ (down @ x[row].double())
            begin = end
    return out


def draw(rows: int, count: int, seed: int) -> list[int]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-1, count, (rows,), generator=generator).tolist()


CASES = [
    ([0], 1),
    ([-1], 4),
    ([3, -1, 0, 3, 3], 4),
    ([2] * 17, 3),
    (draw(70, 5, 1), 5),
]


@pytest.mark.parametrize(("places", "count"), CASES)
@pytest.mark.parametrize("kernels", ["triton", "reference"])
@pytest.mark.parametrize(("inputs", "ends"), [(96, (64, 96, 128)), (700, (130,)), (64, (40, 80))])
def test_each_row_gets_the_product_of_its_adapter(
    places: list[int], count: int, kernels: str, inputs: int, ends: tuple[int, ...]
) -> None:
    given = factors(count, inputs, ends, rank=5)
    x = randn(len(places), inputs, seed=2)
    product = randn(len(places), ends[-1], seed=3)
    wanted = expected(product, x, given, places)
    chosen = GpuKernels(HERE) if kernels == "triton" else ReferenceKernels()
    rows = chosen.adapter_rows(torch.tensor(places, dtype=torch.int32, device=HERE), count)
    chosen.add_low_rank(product, x, given, rows)
    assert relative_error(product, wanted.cpu()) < 1e-5


@pytest.mark.parametrize("rows", [1, 16, 40, FEW_ROWS + 90])
def test_tiles_hold_every_row_with_an_adapter_once(rows: int) -> None:
    places = draw(rows, 7, rows)
    grouped = adapter_rows(torch.tensor(places, dtype=torch.int32, device=HERE), 7)
    assert grouped.order is not None
    assert grouped.tiles is not None
    order, found = grouped.order.tolist(), []
    for place, begin, end in grouped.tiles.tolist():
        assert all(places[row] == place for row in order[begin:end])
        found += order[begin:end]
    assert sorted(found) == [row for row, place in enumerate(places) if place >= 0]


def test_rows_that_are_not_grouped_and_products_of_many_parts_are_refused() -> None:
    given, x = factors(1, 16, (8, 16, 24, 32), 2), randn(2, 16, seed=0)
    places = torch.zeros(2, dtype=torch.int32, device=HERE)
    with pytest.raises(ValueError, match="not grouped"):
        add_low_rank(randn(2, 32, seed=1), x, given, AdapterRows(places))
    with pytest.raises(ValueError, match="4 parts"):
        add_low_rank(randn(2, 32, seed=1), x, given, adapter_rows(places, 1))
