"""The Triton attention kernels, interpreted, against dense float64 attention."""

import pytest
import torch
from intaglio.kernels.attention import PagedAttention
from intaglio.kernels.attention_decode import DecodeAttention, DecodeShape
from intaglio.kernels.attention_tiles import TileShape, attend_tiles
from intaglio.kernels.dispatch import choose

from tests.support.paged import Heads, Step, make_raw_step, make_step, random_step, relative_error

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="tests/gpu runs them there")

LAYOUTS = [
    (Heads(1, 1, 16), 1),
    (Heads(1, 5, 80), 4),
    (Heads(2, 3, 64), 16),
    (Heads(2, 7, 16), 32),
    (Heads(1, 16, 16), 16),
]


def run(step: Step) -> torch.Tensor:
    out = torch.full_like(step.query, float("nan"))
    shape = DecodeShape(splits=4, tile=16, stages=2, warps=1)
    heads = step.query.shape[1]
    DecodeAttention(step.ragged, heads, step.cache.shape, shape).run(step.query, step.cache, out)
    tiles = TileShape(rows=32, tile=32, stages=2, warps=4)
    attend_tiles(step.ragged, step.query, step.cache, out, tiles)
    return out


@pytest.mark.parametrize("seed", range(8))
def test_any_mix_of_lengths_equals_dense_attention(seed: int) -> None:
    step = random_step(seed, torch.float32, layouts=LAYOUTS, longest=150)
    assert relative_error(run(step), step.expected) < 2e-6


@pytest.mark.parametrize("dim", [64, 80, 96, 128, 256])
def test_every_head_size_in_half_precision(dim: int) -> None:
    """The interpreter cannot multiply bfloat16: that type is for tests/gpu."""
    step = make_step([70, 33], [1, 20], Heads(2, 2, dim), 16, torch.float16, seed=dim)
    assert relative_error(run(step), step.expected) < 2e-3


@pytest.mark.parametrize("splits", [1, 2, 8])
def test_splits_do_not_change_what_is_computed(splits: int) -> None:
    """Also where some splits have no keys, and layer after layer with the same counters."""
    lengths = [1, 17, 70, 0]
    step = make_step(lengths, [1] * len(lengths), Heads(1, 3, 16), 4, torch.float32, splits)
    shape = DecodeShape(splits=splits, tile=16, stages=2, warps=1)
    attention = DecodeAttention(step.ragged, step.query.shape[1], step.cache.shape, shape)
    for _ in range(2):
        out = torch.full_like(step.query, float("nan"))
        attention.run(step.query, step.cache, out)
        assert relative_error(out, step.expected) < 2e-6


@pytest.mark.parametrize("group", [1, 3, 7, 16])
def test_tiles_of_any_group_leave_single_tokens_alone(group: int) -> None:
    step = make_step([90, 20, 64, 40], [50, 1, 64, 2], Heads(1, group, 16), 16, torch.float32, 1)
    out = torch.full_like(step.query, 5.0)
    shape = TileShape(rows=32, tile=16, stages=2, warps=4)
    attend_tiles(step.ragged, step.query, step.cache, out, shape)
    alone = out[50]
    assert bool((alone == 5).all())
    out[50] = step.expected[50]
    assert relative_error(out, step.expected) < 2e-6


def test_padding_sequences_are_zero_and_never_read_the_cache() -> None:
    step = make_step([30, 0, 0], [1, 1, 1], Heads(2, 2, 16), 16, torch.float32, 0)
    step.cache[:, 0] = float("nan")
    assert relative_error(run(step), step.expected) < 2e-6


def test_a_query_may_be_a_slice_of_wider_rows() -> None:
    step = make_step([40, 20], [10, 1], Heads(2, 2, 16), 16, torch.float32, 0)
    wide = torch.cat((step.query, step.query), dim=1)[:, : step.query.shape[1]]
    sliced = Step(wide, step.ragged, step.cache, step.expected)
    assert not wide.is_contiguous()
    assert torch.equal(run(sliced), run(step))


@pytest.mark.parametrize("normed", [False, True])
@pytest.mark.parametrize(
    ("lengths", "counts"), [([40], [1]), ([1], [1]), ([33, 7], [1, 1]), ([20, 50, 9], [3, 1, 9])]
)
def test_new_tokens_are_placed_and_attended(
    lengths: list[int], counts: list[int], normed: bool
) -> None:
    step = make_raw_step(lengths, counts, Heads(2, 3, 16), normed=normed, seed=2)
    here, there = step.to(torch.device("cpu")), step.to(torch.device("cpu"))
    attention = choose(torch.device("cpu")).attend(step.ragged, step.places, 6, step.cache.shape)
    expected = attention.run(here.fused, here.norms, here.cache)
    attention = PagedAttention(there.ragged, there.places, 6, there.cache.shape)
    got = attention.run(there.fused, there.norms, there.cache)
    torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(there.cache, here.cache, atol=1e-5, rtol=1e-5)
