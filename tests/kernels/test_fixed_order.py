"""Products in one order of summation, interpreted or on a device, against the reference."""

import pytest
import torch
from intaglio.kernels import reference
from intaglio.kernels.contracts import Activation, AddTo, Epilogue, Gate, RmsNorm
from intaglio.kernels.linear.fixed_order import (
    FEW_TILES,
    LARGE_TILE,
    MOST_RANGES,
    FixedOrderWeight,
    Tile,
    agreeing_tiles,
    ranges,
)

ON_DEVICE = torch.cuda.is_available()
DEVICE = torch.device("cuda" if ON_DEVICE else "cpu")
# The interpreter cannot multiply bfloat16.
DTYPE, LIMIT = (torch.bfloat16, 2e-2) if ON_DEVICE else (torch.float16, 2e-3)


def randn(*shape: int, seed: int = 0, dtype: torch.dtype = DTYPE) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype).to(DEVICE)


def weight(
    outputs: int, inputs: int, *, biased: bool = False, dtype: torch.dtype = DTYPE
) -> FixedOrderWeight:
    bias = randn(outputs, seed=2, dtype=dtype) if biased else None
    counters = torch.zeros(64, dtype=torch.int32, device=DEVICE)
    return FixedOrderWeight(randn(outputs, inputs, seed=1, dtype=dtype), bias, counters)


def error(found: torch.Tensor, right: torch.Tensor) -> float:
    return float((found.cpu().float() - right).norm() / right.norm())


@pytest.mark.parametrize("tile", [*FEW_TILES, LARGE_TILE])
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize(("outputs", "inputs"), [(34, 96), (200, 130), (70, 1030)])
def test_every_tile_gives_the_product(tile: Tile, biased: bool, outputs: int, inputs: int) -> None:
    """One range and several, of whole tiles of inputs and of parts; twice, with the same counters."""
    matrix = weight(outputs, inputs, biased=biased)
    rows = 150 if tile.whole else tile.rows - 3
    x = randn(rows, inputs, seed=3)
    right = x.cpu().float() @ randn(outputs, inputs, seed=1).cpu().float().t()
    right += randn(outputs, seed=2).cpu().float() if biased else 0
    for _ in range(2):
        out = torch.full((rows, outputs), float("nan"), dtype=DTYPE, device=DEVICE)
        matrix.multiply(x, out, tile)
        assert error(out, right) < LIMIT


@pytest.mark.parametrize("rows", [1, 20, 64, 65, 200])
@pytest.mark.parametrize("dtype", [DTYPE, torch.float32])
def test_norms_and_epilogues_are_those_of_a_weight(rows: int, dtype: torch.dtype) -> None:
    matrix = weight(48, 80, dtype=dtype)
    matrix.tiles = agreeing_tiles(matrix, dtype)
    plain = randn(48, 80, seed=1, dtype=dtype).cpu().float()
    x, norm = randn(rows, 80, seed=4, dtype=dtype), randn(80, seed=5, dtype=dtype)
    onto = randn(rows, 48, seed=6, dtype=dtype)

    def both(epilogue: Epilogue | None, expected: Epilogue | None) -> None:
        found = matrix.matmul(x, RmsNorm(norm, 1e-5), epilogue)
        right = reference.ReferenceWeight(plain, None).matmul(
            x.cpu().float(), RmsNorm(norm.cpu().float(), 1e-5), expected
        )
        assert error(found, right) < LIMIT

    both(None, None)
    both(Gate(Activation.SILU), Gate(Activation.SILU))
    both(AddTo(onto.clone()), AddTo(onto.cpu().float()))


def test_ranges_cover_the_inputs_and_depend_on_the_matrix_alone() -> None:
    for outputs, inputs in [(1, 1), (64, 37), (256, 1024), (1024, 4096), (4096, 14336), (10, 7000)]:
        parts, length = ranges(outputs, inputs, torch.zeros(1, dtype=torch.bfloat16))
        assert (parts - 1) * length < inputs <= parts * length
        assert length % 16 == 0
        assert parts <= MOST_RANGES


class OneWrongTile(FixedOrderWeight):
    """A planted fault: tiles of 32 rows compute something else."""

    def multiply(self, x: torch.Tensor, out: torch.Tensor, tile: Tile) -> None:
        super().multiply(x, out, tile)
        out += tile.rows == 32


def test_tiles_that_differ_are_not_used() -> None:
    counters = torch.zeros(1, dtype=torch.int32, device=DEVICE)
    found = agreeing_tiles(OneWrongTile(randn(32, 64), None, counters), DTYPE)
    assert found[0] == FEW_TILES[0]
    assert FEW_TILES[1] not in found


@pytest.mark.skipif(
    not ON_DEVICE, reason="needs a GPU: the interpreter's products depend on their size"
)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
@pytest.mark.parametrize(
    ("outputs", "inputs"), [(6144, 4096), (4096, 12288), (1000, 640), (8192, 640)]
)
def test_a_row_has_the_same_bits_in_a_product_of_any_size(
    dtype: torch.dtype, outputs: int, inputs: int
) -> None:
    counters = torch.zeros(1024, dtype=torch.int32, device=DEVICE)
    matrix = FixedOrderWeight(randn(outputs, inputs, seed=1, dtype=dtype), None, counters)
    matrix.tiles = agreeing_tiles(matrix, dtype)
    assert len(matrix.tiles) == (4 if dtype.itemsize == 2 else 3), "all tiles agree on this device"
    x = randn(700, inputs, seed=2, dtype=dtype)
    whole = matrix.matmul(x)
    for first, end in [(0, 1), (5, 7), (3, 20), (64, 130), (100, 164), (0, 699), (1, 258)]:
        assert torch.equal(matrix.matmul(x[first:end]), whole[first:end])
