"""Attention through sliding windows, interpreted, against the definition in torch, by every kernel."""

from dataclasses import replace

import pytest
import torch
from intaglio.kernels.attention.paged import attend
from intaglio.kernels.attention.prefill import TileAttention, TileShape
from intaglio.kernels.attention.shared_prefix import PackedAttention, PackedShape
from intaglio.kernels.attention.single_token import LoneAttention
from intaglio.kernels.attention.split_kv import DecodeAttention, DecodeShape, few_tokens
from intaglio.kernels.contracts import PLAIN_SCALING, Packs, ScoreScaling
from intaglio.kernels.dispatch import choose

from tests.support.paged import Heads, RawStep, Step, make_raw_step, make_step, relative_error

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="tests/gpu runs them there")

HOST = torch.device("cpu")
WINDOWS = [1, 15, 16, 17, 40, 1000]  # a block is 16
CAPPED = ScoreScaling(0.3, 2.0)


def expected(
    step: RawStep, heads: Heads, window: int, scores: ScoreScaling = PLAIN_SCALING
) -> torch.Tensor:
    here = step.to(HOST)
    attention = choose(HOST).attend(
        here.ragged, here.places, heads.kv * heads.per_kv, here.cache.shape, scores, window
    )
    return attention.run(here.fused, here.norms, here.cache)


@pytest.mark.parametrize(
    ("window", "scores"),
    [*((window, PLAIN_SCALING) for window in WINDOWS), (17, CAPPED), (1000, CAPPED)],
)
def test_prompts_single_tokens_and_a_few(window: int, scores: ScoreScaling) -> None:
    heads = Heads(2, 3, 16)
    step = make_raw_step([50, 33, 70, 5, 64], [50, 1, 20, 3, 1], heads, normed=True, seed=window)
    there = step.to(HOST)
    attention = attend(there.ragged, there.places, 6, there.cache.shape, scores, window)
    got = attention.run(there.fused, there.norms, there.cache)
    assert relative_error(got, expected(step, heads, window, scores).double()) < 1e-5


def windowed(step: Step, window: int) -> torch.Tensor:
    """The definition, for queries and keys as they are."""
    rows, heads, dim = step.query.shape
    size, kv_heads = step.cache.shape[2:4]
    found = []
    for s, length in enumerate(step.ragged.context_lengths.tolist()):
        first, end = step.ragged.query_starts[s : s + 2].tolist()
        at = torch.arange(length)
        keys, values = step.cache[
            :, step.ragged.block_tables[s, at // size].long(), at % size
        ].double()
        for row in range(first, end):
            position = length - (end - row)
            seen = slice(max(0, position - window + 1), position + 1)
            query = step.query[row].double().view(kv_heads, -1, dim)
            scores = torch.einsum("kgd,lkd->kgl", query, keys[seen]) * dim**-0.5
            out = torch.einsum("kgl,lkd->kgd", scores.softmax(-1), values[seen])
            found.append(out.reshape(heads, dim))
    assert len(found) == rows
    return torch.stack(found)


@pytest.mark.parametrize("splits", [1, 8])
@pytest.mark.parametrize("window", WINDOWS)
def test_few_tokens_in_any_number_of_parts(window: int, splits: int) -> None:
    few = few_tokens(3)
    counts, lengths = [few, 1, min(2, few), 1], [16 + few, 40, 65, 100]
    step = make_step(lengths, counts, Heads(2, 3, 16), 4, torch.float32, seed=splits)
    shape = DecodeShape(splits=splits, tile=16, stages=2, warps=1)
    attention = DecodeAttention(step.ragged, 6, step.cache.shape, shape, window=window)
    for _ in range(2):
        out = torch.full_like(step.query, float("nan"))
        attention.run(step.query, step.cache, out)
        assert relative_error(out, windowed(step, window)) < 2e-6


@pytest.mark.parametrize("rows", [16, 32])
@pytest.mark.parametrize("window", WINDOWS)
def test_tiles_of_prompts(window: int, rows: int) -> None:
    step = make_step([90, 70, 130], [90, 20, 40], Heads(1, 2, 16), 16, torch.float32, seed=rows)
    shape = TileShape(rows=rows, tile=16, stages=2, warps=1)
    attention = TileAttention(step.ragged, 150, 2, step.cache.shape, shape, window=window)
    out = torch.full_like(step.query, float("nan"))
    attention.run(step.query, step.cache, out)
    assert relative_error(out, windowed(step, window)) < 2e-6


@pytest.mark.parametrize("splits", [1, 4])
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("length", [1, 16, 17, 66])
def test_a_lone_token(length: int, window: int, splits: int) -> None:
    heads = Heads(2, 3, 16)
    step = make_raw_step([length], [1], heads, normed=True, seed=length)
    there = step.to(HOST)
    shape = DecodeShape(splits=splits, tile=16, stages=2, warps=1)
    attention = LoneAttention(
        there.ragged, there.places, 6, there.cache.shape, shape, window=window
    )
    for _ in range(2):
        got = attention.run(there.fused.clone(), there.norms, there.cache)
        torch.testing.assert_close(got, expected(step, heads, window), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("shared", [0, 5, 32])
@pytest.mark.parametrize("window", WINDOWS)
def test_packs_of_tokens_that_share_a_beginning(window: int, shared: int) -> None:
    few = few_tokens(3)
    lengths = [40, 33, 90, 32, 55, 60, 70]
    step = make_step(lengths, [1] * len(lengths), Heads(2, 3, 16), 16, torch.float32, seed=shared)
    tables = step.ragged.block_tables.clone()
    cache = step.cache.clone()
    for s in range(len(lengths)):
        leader, whole = s // few * few, shared // 16
        tables[s, :whole] = tables[leader, :whole]
        rest = shared % 16
        cache[:, tables[s, whole], :rest] = cache[:, tables[leader, whole], :rest]
    step = Step(step.query, replace(step.ragged, block_tables=tables), cache, step.expected)
    order = torch.full((-(-len(lengths) // few) * few,), -1, dtype=torch.int32)
    order[: len(lengths)] = torch.arange(len(lengths))
    common = torch.full((order.numel() // few,), shared, dtype=torch.int32)
    packs = Packs(order, common, torch.arange(order.numel(), dtype=torch.int32) % few)
    shape = PackedShape(tile=16, stages=2, warps=1, resident=1)
    attention = PackedAttention(step.ragged, packs, 6, cache.shape, shape, window=window)
    out = torch.full_like(step.query, float("nan"))
    attention.run(step.query, cache, out)
    assert relative_error(out, windowed(step, window)) < 2e-6
