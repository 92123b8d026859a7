"""Products in calls of agreeing sizes, over products that are made to depend on their number of rows."""

import pytest
import torch
from intaglio.kernels.contracts import AddTo, RmsNorm, Weight
from intaglio.kernels.linear.row_tiles import SIZES, TiledWeight, agreeing_sizes, calls
from intaglio.kernels.reference import ReferenceWeight
from intaglio.kernels.reference_kernels import ReferenceKernels
from torch import Tensor

OUTPUTS, INPUTS = 24, 40


class Moody(ReferenceWeight):
    """A weight that adds to each row a value which depends on the number of rows where that is one of `odd`."""

    def __init__(self, odd: frozenset[int]) -> None:
        super().__init__(randn(OUTPUTS, INPUTS))
        self.odd = odd
        self.seen: set[int] = set()

    def matmul(self, x: Tensor, norm: RmsNorm | None = None, epilogue: object = None) -> Tensor:
        assert norm is None
        assert epilogue is None
        rows = x.shape[0]
        self.seen.add(rows)
        exact = (x.double().unsqueeze(1) * self.parts[0].t().double()).sum(-1).float()
        return exact + rows if rows in self.odd else exact


def randn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("sizes", [SIZES, (16,), (1,), (64, 16, 4), (8, 1)])
def test_calls_cover_every_row_once(sizes: tuple[int, ...]) -> None:
    for rows in range(1, 700, 1 if sizes == SIZES else 37):
        found = list(calls(rows, sizes))
        assert {size for _, size in found} <= set(sizes)
        assert [begin for begin, _ in found] == [
            sum(s for _, s in found[:i]) for i in range(len(found))
        ]
        assert rows <= sum(size for _, size in found) < rows + max(found[-1][1], 2)
    assert list(calls(3, SIZES)) == [(0, 4)]
    assert list(calls(40, SIZES)) == [(0, 64)], (
        "few rows are padded: one call reads the matrix once"
    )
    assert list(calls(257, SIZES)) == [(0, 256), (256, 4)]


def test_sizes_that_differ_are_found_out_and_never_called() -> None:
    moody = Moody(frozenset({4, 64}))
    sizes = agreeing_sizes(moody.matmul, INPUTS, torch.float32)
    assert sizes == (256, 128, 32, 16, 8)
    tiled, x = TiledWeight(moody, sizes, ReferenceKernels()), randn(300, INPUTS, seed=1)
    moody.seen.clear()
    whole = tiled.matmul(x)
    for first, end in [(0, 1), (5, 8), (0, 64), (100, 237), (299, 300)]:
        assert torch.equal(tiled.matmul(x[first:end]), whole[first:end])
    assert moody.seen <= set(sizes)
    assert not torch.equal(moody.matmul(x[:4]), whole[:4]), "a call of 4 rows would have differed"


def test_rows_that_depend_on_their_place_are_computed_alone() -> None:
    moody = Moody(frozenset())

    def by_place(x: Tensor) -> Tensor:
        return moody.matmul(x) + torch.arange(x.shape[0]).unsqueeze(1)

    assert agreeing_sizes(by_place, INPUTS, torch.float32) == (1,)


def test_norm_and_epilogue_are_those_of_the_product() -> None:
    weight: Weight = ReferenceWeight(randn(OUTPUTS, INPUTS), randn(OUTPUTS, seed=3))
    tiled = TiledWeight(weight, (16, 4), ReferenceKernels())
    assert (tiled.outputs, tiled.inputs) == (OUTPUTS, INPUTS)
    x, norm = randn(21, INPUTS, seed=1), RmsNorm(randn(INPUTS, seed=2), 1e-6)
    found, right = randn(21, OUTPUTS, seed=4), randn(21, OUTPUTS, seed=4)
    tiled.matmul(x, norm, AddTo(found))
    weight.matmul(x, norm, AddTo(right))
    torch.testing.assert_close(found, right, atol=1e-4, rtol=1e-5)
