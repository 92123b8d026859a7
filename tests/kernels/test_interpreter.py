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
