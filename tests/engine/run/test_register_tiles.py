"""Products and transposes in vector registers, against numpy."""

import numpy as np
import pytest
import torch
from intaglio.engine.run.host.bfloat16 import bits
from intaglio.engine.run.host.register_tiles import ROWS, TILE_COLUMNS, add_products, transpose


def draw(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.random.default_rng(sum(shape)).standard_normal(shape, np.float32)


@pytest.mark.parametrize("rows", [ROWS, 5 * ROWS])
@pytest.mark.parametrize("depth", [1, 7, 64])
@pytest.mark.parametrize("columns", [TILE_COLUMNS, 3 * TILE_COLUMNS])
def test_a_product_is_that_of_numpy(rows: int, depth: int, columns: int) -> None:
    left, right, out = draw(rows, depth), draw(depth, columns), draw(rows, columns)
    wide = out.astype(float) + left.astype(float) @ right.astype(float)
    add_products(left, right, out)
    np.testing.assert_allclose(out, wide, rtol=1e-4, atol=1e-4)


def test_parts_of_wider_matrices_are_multiplied_in_place() -> None:
    left, right, out = draw(8, 96), draw(64, 3 * TILE_COLUMNS), draw(8, 4 * TILE_COLUMNS)
    before = out.copy()
    add_products(
        left[:, 16:80],
        right[:, TILE_COLUMNS : 2 * TILE_COLUMNS],
        out[:, 2 * TILE_COLUMNS : 3 * TILE_COLUMNS],
    )
    changed = before.copy()
    changed[:, 2 * TILE_COLUMNS : 3 * TILE_COLUMNS] += (
        left[:, 16:80] @ right[:, TILE_COLUMNS : 2 * TILE_COLUMNS]
    )
    np.testing.assert_allclose(out, changed, rtol=1e-4, atol=1e-4)
    assert np.array_equal(out[:, : 2 * TILE_COLUMNS], before[:, : 2 * TILE_COLUMNS])
    assert np.array_equal(out[:, 3 * TILE_COLUMNS :], before[:, 3 * TILE_COLUMNS :])


def test_a_row_has_the_same_bits_in_any_company() -> None:
    left, right = draw(40, 64), draw(64, 2 * TILE_COLUMNS)
    whole = np.zeros((40, 2 * TILE_COLUMNS), np.float32)
    add_products(left, right, whole)
    some = np.zeros((ROWS, TILE_COLUMNS), np.float32)
    add_products(left[[33, 2, 7, 7]], right[:, TILE_COLUMNS:], some)
    assert np.array_equal(some, whole[[33, 2, 7, 7], TILE_COLUMNS:])


@pytest.mark.parametrize("rows", [TILE_COLUMNS, 2 * TILE_COLUMNS])
@pytest.mark.parametrize("size", [TILE_COLUMNS, 3 * TILE_COLUMNS])
def test_a_transpose_has_the_columns_as_rows(rows: int, size: int) -> None:
    narrow = torch.from_numpy(draw(rows, size)).bfloat16()
    narrow[0, :3] = torch.tensor([float("nan"), float("inf"), -0.0])
    out = np.empty((size, rows), np.float32)
    transpose(bits(narrow), out)
    right = narrow.float().numpy().T
    assert np.array_equal(out.view(np.int32), right.copy().view(np.int32))
