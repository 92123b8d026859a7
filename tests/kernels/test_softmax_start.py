"""Attention with sinks, interpreted, by every kernel: against the definition, with and without windows."""

import pytest
import torch
from intaglio.kernels.attention.paged import UnsplitAttention, attend
from intaglio.kernels.attention.prefill import TileAttention, TileShape
from intaglio.kernels.attention.shared_prefix import PackedAttention, PackedShape
from intaglio.kernels.attention.single_token import LoneAttention
from intaglio.kernels.attention.split_kv import DecodeAttention, DecodeShape, few_tokens
from intaglio.kernels.contracts import PLAIN_SCALING, Packs, ScoreScaling
from intaglio.kernels.dispatch import choose

from tests.support.paged import (
    Heads,
    RawStep,
    Step,
    make_raw_step,
    make_step,
    relative_error,
    with_shared_beginnings,
)

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="tests/gpu runs them there")

HOST = torch.device("cpu")
WINDOWS = [None, 1, 17]
SINKS = torch.tensor([-3.0, 0.0, 1.0, 2.5, 6.0, -40.0])
"""One for each of six heads: some that take most of the weight, and one that takes none."""


def sunk(step: Step, window: int | None) -> torch.Tensor:
    """The definition, for queries and keys as they are: one more score, whose weight no value gets."""
    rows, heads, dim = step.query.shape
    size, kv_heads = step.cache.shape[2:4]
    found = []
    for s, length in enumerate(step.ragged.context_lengths.tolist()):
        first, end = step.ragged.query_starts[s : s + 2].tolist()
        at = torch.arange(length)
        blocks = step.ragged.block_tables[s, at // size].long()
        keys, values = step.cache[:, blocks, at % size].double()
        for row in range(first, end):
            position = length - (end - row)
            seen = slice(0 if window is None else max(0, position - window + 1), position + 1)
            query = step.query[row].double().view(kv_heads, -1, dim)
            scores = torch.einsum("kgd,lkd->kgl", query, keys[seen]) * dim**-0.5
            sinks = SINKS[:heads].double().view(kv_heads, -1, 1)
            weights = torch.cat((scores, sinks), -1).softmax(-1)[..., :-1]
            found.append(torch.einsum("kgl,lkd->kgd", weights, values[seen]).reshape(heads, dim))
    assert len(found) == rows
    return torch.stack(found)


def expected(step: RawStep, window: int | None, scores: ScoreScaling) -> torch.Tensor:
    here = step.to(HOST)
    attention = choose(HOST).attend(here.ragged, here.places, 6, here.cache.shape, scores, window)
    return attention.run(here.fused, here.norms, here.cache, SINKS)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("scores", [PLAIN_SCALING, ScoreScaling(0.3, 2.0)])
def test_steps_of_prompts_and_single_tokens_are_those_of_the_cpu(
    scores: ScoreScaling, window: int | None
) -> None:
    step = make_raw_step(
        [50, 33, 70, 5, 64], [50, 1, 20, 3, 1], Heads(2, 3, 16), normed=True, seed=1
    )
    right = expected(step, window, scores)
    for prepare in (attend, UnsplitAttention):
        there = step.to(HOST)
        attention = prepare(there.ragged, there.places, 6, there.cache.shape, scores, window)
        got = attention.run(there.fused, there.norms, there.cache, SINKS)
        assert relative_error(got, right.double()) < 1e-5


@pytest.mark.parametrize("splits", [1, 8])
@pytest.mark.parametrize("window", WINDOWS)
def test_few_tokens_count_a_sink_once_in_any_number_of_parts(
    window: int | None, splits: int
) -> None:
    few = few_tokens(3)
    counts, lengths = [few, 1, min(2, few), 1], [16 + few, 40, 65, 100]
    step = make_step(lengths, counts, Heads(2, 3, 16), 4, torch.float32, seed=splits)
    shape = DecodeShape(splits=splits, tile=16, stages=2, warps=1)
    attention = DecodeAttention(step.ragged, 6, step.cache.shape, shape, window=window)
    for _ in range(2):
        out = torch.full_like(step.query, float("nan"))
        attention.run(step.query, step.cache, out, SINKS)
        assert relative_error(out, sunk(step, window)) < 2e-6


@pytest.mark.parametrize("window", WINDOWS)
def test_tiles_of_prompts(window: int | None) -> None:
    step = make_step([90, 70, 130], [90, 20, 40], Heads(1, 2, 16), 16, torch.float32, seed=3)
    shape = TileShape(rows=32, tile=16, stages=2, warps=1)
    attention = TileAttention(step.ragged, 150, 2, step.cache.shape, shape, window=window)
    out = torch.full_like(step.query, float("nan"))
    attention.run(step.query, step.cache, out, SINKS)
    assert relative_error(out, sunk(step, window)) < 2e-6


@pytest.mark.parametrize("splits", [1, 4])
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("length", [1, 17, 66])
def test_a_lone_token(length: int, window: int | None, splits: int) -> None:
    step = make_raw_step([length], [1], Heads(2, 3, 16), normed=True, seed=length)
    right, there = expected(step, window, PLAIN_SCALING), step.to(HOST)
    shape = DecodeShape(splits=splits, tile=16, stages=2, warps=1)
    attention = LoneAttention(
        there.ragged, there.places, 6, there.cache.shape, shape, window=window
    )
    for _ in range(2):
        got = attention.run(there.fused.clone(), there.norms, there.cache, SINKS)
        torch.testing.assert_close(got, right, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("window", WINDOWS)
def test_packs_of_tokens_that_share_a_beginning(window: int | None) -> None:
    few, shared = few_tokens(3), 32
    lengths = [40, 33, 90, 32, 55, 60, 70]
    plain = make_step(lengths, [1] * len(lengths), Heads(2, 3, 16), 16, torch.float32, seed=1)
    step = with_shared_beginnings(plain, shared, packs=few)
    order = torch.full((-(-len(lengths) // few) * few,), -1, dtype=torch.int32)
    order[: len(lengths)] = torch.arange(len(lengths))
    common = torch.full((order.numel() // few,), shared, dtype=torch.int32)
    packs = Packs(order, common, torch.arange(order.numel(), dtype=torch.int32) % few)
    shape = PackedShape(tile=16, stages=2, warps=1, resident=1)
    attention = PackedAttention(step.ragged, packs, 6, step.cache.shape, shape, window=window)
    out = torch.full_like(step.query, float("nan"))
    attention.run(step.query, step.cache, out, SINKS)
    assert relative_error(out, sunk(step, window)) < 2e-6


def test_padding_attends_to_nothing() -> None:
    step = make_step([30, 0, 0], [1, 1, 1], Heads(2, 3, 16), 16, torch.float32, 0)
    shape = DecodeShape(splits=2, tile=16, stages=2, warps=1)
    out = torch.full_like(step.query, float("nan"))
    DecodeAttention(step.ragged, 6, step.cache.shape, shape).run(step.query, step.cache, out, SINKS)
    assert not bool(out[1:].any())
