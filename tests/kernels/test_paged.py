"""The Triton attention kernels, interpreted, against dense float64 attention."""

import pytest
import torch
from intaglio.kernels.attention.paged import attend
from intaglio.kernels.attention.prefill import TileAttention, TileShape
from intaglio.kernels.attention.shared_prefix import PackedAttention, PackedShape
from intaglio.kernels.attention.split_kv import DecodeAttention, DecodeShape, few_tokens
from intaglio.kernels.contracts import Packs
from intaglio.kernels.dispatch import choose

from tests.support.paged import (
    Heads,
    Step,
    each_by_itself,
    make_raw_step,
    make_step,
    random_step,
    relative_error,
    with_shared_beginnings,
    without_rows,
)

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
    attend_tiles(step, out, TileShape(rows=32, tile=32, stages=2, warps=4))
    return out


def attend_tiles(step: Step, out: torch.Tensor, shape: TileShape) -> None:
    rows, heads, _ = step.query.shape
    tiles = TileAttention(step.ragged, rows, heads, step.cache.shape, shape)
    tiles.run(step.query, step.cache, out)


@pytest.mark.parametrize("seed", range(8))
def test_any_mix_of_lengths_equals_dense_attention(seed: int) -> None:
    step = random_step(seed, torch.float32, layouts=LAYOUTS, longest=150)
    assert relative_error(run(step), step.expected) < 2e-6


@pytest.mark.parametrize("dim", [64, 80, 96, 128, 256])
def test_every_head_size_in_half_precision(dim: int) -> None:
    """The interpreter cannot multiply bfloat16: that type is for tests/gpu."""
    step = make_step([70, 33], [1, 20], Heads(2, 2, dim), 16, torch.float16, seed=dim)
    assert relative_error(run(step), step.expected) < 2e-3


def test_keys_and_values_of_one_byte() -> None:
    kept = torch.float8_e4m3fn
    step = make_step([70, 33, 5], [1, 20, 3], Heads(2, 2, 64), 16, torch.float16, 5, kept=kept)
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


@pytest.mark.parametrize(
    ("group", "splits"), [(1, 2), (3, 1), (3, 2), (3, 8), (4, 8), (7, 2), (16, 1)]
)
def test_few_tokens_of_a_sequence_are_served_together(group: int, splits: int) -> None:
    """Among them sequences whose first tokens see nothing of the last range, and rows that nobody owns."""
    few = few_tokens(group)
    counts = [few, 1, max(1, few - 1), min(2, few), few]
    lengths = [16 + few - 1, 40, few, 65, 150]
    heads = Heads(2, group, 16)
    step = make_step(lengths, counts, heads, 4, torch.float32, seed=splits)
    ragged = without_rows(step.ragged, at=2, more=3)
    shape = DecodeShape(splits=splits, tile=16, stages=2, warps=1)
    attention = DecodeAttention(ragged, step.query.shape[1], step.cache.shape, shape)
    for _ in range(2):
        out = torch.full_like(torch.cat((step.query, step.query[:2])), float("nan"))
        attention.run(step.query, step.cache, out)
        assert relative_error(out[:-2], step.expected) < 2e-6
        assert bool(out[-2:].isnan().all())


@pytest.mark.parametrize("group", [1, 3, 4, 7, 16])
@pytest.mark.parametrize("shared", [0, 5, 32])
def test_packs_of_tokens_that_share_a_beginning(group: int, shared: int) -> None:
    """As many packs as tokens need and one more, a token that sees nothing else, and rows in no pack."""
    few = few_tokens(group)
    lengths = [40, 33, 90, 32, 55][: max(2, min(few, 5))] * 2
    step = make_step(lengths, [1] * len(lengths), Heads(2, group, 16), 16, torch.float32, shared)
    expected = with_shared_beginnings(step, shared, packs=few)
    order = torch.full((-(-len(lengths) // few) * few + few + 1,), -1, dtype=torch.int32)
    order[: len(lengths)] = torch.arange(len(lengths))
    common = torch.full((-(-order.numel() // few),), shared, dtype=torch.int32)
    attention = PackedAttention(
        expected.ragged,
        Packs(order, common, torch.arange(order.numel(), dtype=torch.int32) % few),
        step.query.shape[1],
        step.cache.shape,
        PackedShape(tile=16, stages=2, warps=1, resident=1),
    )
    out = torch.full_like(torch.cat((step.query, step.query[:2])), float("nan"))
    attention.run(step.query, expected.cache, out)
    assert relative_error(out[:-2], expected.expected) < 2e-6
    assert bool(out[-2:].isnan().all())


@pytest.mark.parametrize("group", [1, 3, 4, 7])
def test_tokens_of_one_sequence_in_a_pack_read_its_keys_together(group: int) -> None:
    """Packs of one sequence, of several, and sequences that are cut by the end of a pack."""
    few, counts = few_tokens(group), [3, 1, 2, 4, 1]
    step = make_step([40, 33, 90, 32, 55], counts, Heads(2, group, 16), 16, torch.float32, group)
    owners = [s for s, count in enumerate(counts) for _ in range(count)]
    step, leads = each_by_itself(step, owners, few)
    rows = len(owners)
    packs = Packs(torch.arange(rows, dtype=torch.int32), torch.zeros(-(-rows // few)).int(), leads)
    shape = PackedShape(tile=16, stages=2, warps=1, resident=1)
    attention = PackedAttention(step.ragged, packs, step.query.shape[1], step.cache.shape, shape)
    out = torch.full_like(step.query, float("nan"))
    attention.run(step.query, step.cache, out)
    assert relative_error(out, step.expected) < 2e-6


@pytest.mark.parametrize("group", [1, 3, 7, 16])
def test_tiles_of_any_group_leave_few_tokens_alone(group: int) -> None:
    few = few_tokens(group)
    lengths, counts = [90, 20, 64, 40], [50, few, 64, few + 1]
    step = make_step(lengths, counts, Heads(1, group, 16), 16, torch.float32, 1)
    out = torch.full_like(step.query, 5.0)
    attend_tiles(step, out, TileShape(rows=32, tile=16, stages=2, warps=4))
    alone = out[50 : 50 + few]
    assert bool((alone == 5).all())
    out[50 : 50 + few] = step.expected[50 : 50 + few]
    assert relative_error(out, step.expected) < 2e-6


def test_a_step_of_as_many_sequences_as_rows_needs_no_tiles() -> None:
    """One of three tokens, one of one, and two that own none."""
    heads = Heads(2, 3, 16)
    step = make_raw_step([20, 50], [3, 1], heads, normed=True, seed=2)
    here, there = step.to(torch.device("cpu")), step.to(torch.device("cpu"))
    attention = choose(torch.device("cpu")).attend(step.ragged, step.places, 6, step.cache.shape)
    expected = attention.run(here.fused, here.norms, here.cache)
    ragged = without_rows(there.ragged, at=2, more=2)
    attention = attend(ragged, there.places, 6, there.cache.shape)
    got = attention.run(there.fused, there.norms, there.cache)
    torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-5)


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
    attention = attend(there.ragged, there.places, 6, there.cache.shape)
    got = attention.run(there.fused, there.norms, there.cache)
    torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(there.cache, here.cache, atol=1e-5, rtol=1e-5)
