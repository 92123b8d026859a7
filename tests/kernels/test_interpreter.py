"""The faster interpreter gives what Triton's own gives."""

import itertools
import os

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton.runtime import interpreter as tritons

from tests.support import interpreter

pytestmark = pytest.mark.skipif(
    os.environ.get("TRITON_INTERPRET") != "1", reason="with the interpreter"
)


@triton.jit  # type: ignore[untyped-decorator]
def later_largest(
    value: tl.tensor, at: tl.tensor, other: tl.tensor, other_at: tl.tensor
) -> tuple[tl.tensor, tl.tensor]:
    """The larger value and its place; of equal ones the right one, so the order counts."""
    right = other >= value
    return tl.where(right, other, value), tl.where(right, other_at, at)


@triton.jit  # type: ignore[untyped-decorator]
def right_one(_left: tl.tensor, right: tl.tensor) -> tl.tensor:
    return right


@triton.jit  # type: ignore[untyped-decorator]
def fold(
    x: tl.tensor,
    values: tl.tensor,
    places: tl.tensor,
    last: tl.tensor,
    axis: tl.constexpr,
    keep: tl.constexpr,
) -> None:
    at = tl.arange(0, 8)[:, None] * 16 + tl.arange(0, 16)[None, :]
    found, place = tl.reduce((tl.load(x + at), at), axis, later_largest, keep_dims=keep)
    rest = tl.arange(0, 16 if axis == 0 else 8)
    if keep:
        rest = rest[None, :] if axis == 0 else rest[:, None]
    tl.store(values + rest, found)
    tl.store(places + rest, place)
    tl.store(last, tl.reduce(tl.reduce(at, 1, right_one), 0, right_one))


@pytest.mark.parametrize(("axis", "keep"), [*itertools.product((0, 1), (False, True))])
def test_reductions_keep_the_order(axis: int, keep: bool) -> None:
    x = torch.from_numpy(np.random.default_rng(3).integers(0, 4, (8, 16))).float()
    size = 16 if axis == 0 else 8
    values, places = torch.zeros(size), torch.zeros(size, dtype=torch.int32)
    last = torch.zeros(1, dtype=torch.int32)
    fold[(1,)](x, values, places, last, axis=axis, keep=keep)
    largest = x.amax(axis)
    equal = (x == largest.unsqueeze(axis)).int()
    across = (8 if axis == 0 else 16) - 1 - equal.flip(axis).argmax(axis)
    along = torch.arange(size)
    expected = across * 16 + along if axis == 0 else along * 16 + across
    assert torch.equal(values, largest)
    assert torch.equal(places, expected.int())
    assert last.item() == 127


def test_types_are_those_of_triton() -> None:
    names = ("int1", "int8", "uint8", "int32", "uint32", "int64", "float16", "bfloat16", "float32")
    for dtype in (getattr(tl, name) for name in names):
        for shape in (dtype, tl.block_type(dtype, [4])):
            assert tritons._get_np_dtype(shape) == interpreter._get_np_dtype(shape)
    for pointer in (tl.pointer_type(tl.int32), tl.block_type(tl.pointer_type(tl.int8), [4])):
        assert tritons._get_np_dtype(pointer) == np.uint64


@triton.jit  # type: ignore[untyped-decorator]
def widen(
    x: tl.tensor, out: tl.tensor, whole: tl.tensor, bits: tl.tensor, count: tl.tensor
) -> None:
    """Operands of every pair of shapes, numbers on both sides, and pointers moved by rows and columns."""
    row, column = tl.arange(0, 8)[:, None], tl.arange(0, 16)[None, :]
    values = tl.load(x + row * 16 + column, mask=column < count, other=-1.0)
    kept = tl.where(row > column, 3 * values, values / (column + 1))
    kept = tl.where((row == 3) & (column > 2), -0.0, kept - 0.5)
    tl.store(out + row * 16 + column, kept)
    left = (20 - row) // (1 + column) + (row << 2) % 5
    tl.store(whole + row * 16 + column, left ^ (count * column))
    tl.store(bits + tl.arange(0, 16), tl.sum(((row <= column) & (values < 0)).to(tl.int32), 0))


def test_operands_are_widened_as_they_are_by_torch() -> None:
    x = torch.from_numpy(np.random.default_rng(5).normal(size=(8, 16))).float()
    out, whole = torch.zeros(8, 16), torch.zeros(8, 16, dtype=torch.int32)
    bits = torch.zeros(16, dtype=torch.int32)
    widen[(1,)](x, out, whole, bits, 13)
    row, column = torch.arange(8)[:, None], torch.arange(16)[None, :]
    values = torch.where(column < 13, x, -1.0)
    kept = torch.where(row > column, 3 * values, values / (column + 1)) - 0.5
    zeros = (row == 3) & (column > 2)
    assert torch.equal(out, torch.where(zeros, 0.0, kept))
    assert torch.signbit(out)[zeros].all()
    expected = ((20 - row) // (1 + column) + (row << 2) % 5) ^ (13 * column)
    assert torch.equal(whole, expected.int())
    assert torch.equal(bits, ((row <= column) & (values < 0)).sum(0).int())
