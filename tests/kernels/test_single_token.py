"""The attention of a lone token, interpreted, against the same in several launches of torch."""

from dataclasses import replace
from itertools import product

import pytest
import torch
from intaglio.kernels.attention.paged import PagedAttention
from intaglio.kernels.attention.single_token import LoneAttention
from intaglio.kernels.attention.split_kv import DecodeShape
from intaglio.kernels.contracts import Ragged
from intaglio.kernels.dispatch import choose

from tests.support.paged import Heads, RawStep, make_raw_step

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="tests/gpu runs them there")

HOST = torch.device("cpu")
LAYOUTS = [Heads(1, 1, 16), Heads(2, 3, 16), Heads(1, 16, 80), Heads(2, 7, 64), Heads(4, 2, 128)]


def lone(step: RawStep, heads: Heads, splits: int = 4) -> LoneAttention:
    shape = DecodeShape(splits=splits, tile=16, stages=2, warps=1)
    return LoneAttention(step.ragged, step.places, heads.kv * heads.per_kv, step.cache.shape, shape)


def expected(step: RawStep, heads: Heads) -> torch.Tensor:
    attention = choose(HOST).attend(
        step.ragged, step.places, heads.kv * heads.per_kv, step.cache.shape
    )
    return attention.run(step.fused, step.norms, step.cache)


@pytest.mark.parametrize(
    ("length", "heads", "normed"),
    [
        *((length, LAYOUTS[1], True) for length in (2, 16, 17, 18, 65, 150)),
        *product((1, 66), LAYOUTS, (False, True)),
    ],
)
def test_it_places_and_attends_its_token(length: int, heads: Heads, normed: bool) -> None:
    """Layer after layer with the same counters; one tile a part, several, and parts without keys."""
    step = make_raw_step([length], [1], heads, normed=normed, seed=length)
    here, there = step.to(HOST), step.to(HOST)
    right = expected(here, heads)
    attention = lone(there, heads)
    for _ in range(2):
        got = attention.run(there.fused.clone(), there.norms, there.cache)
        torch.testing.assert_close(got, right, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(there.cache, here.cache, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("splits", [1, 2, 16])
def test_parts_do_not_change_what_is_computed(splits: int) -> None:
    heads = Heads(2, 2, 32)
    step = make_raw_step([100], [1], heads, normed=True, seed=1)
    right = expected(step.to(HOST), heads)
    got = lone(step, heads, splits).run(step.fused, step.norms, step.cache)
    torch.testing.assert_close(got, right, atol=1e-5, rtol=1e-5)


def test_what_lies_in_the_place_of_the_new_token_does_not_matter() -> None:
    heads = Heads(2, 2, 32)
    step = make_raw_step([50], [1], heads, normed=False, seed=3)
    right = expected(step.to(HOST), heads)
    slot = int(step.places.slots[0])
    block_size = step.cache.shape[2]
    step.cache[:, slot // block_size, slot % block_size] = float("nan")
    got = lone(step, heads).run(step.fused, step.norms, step.cache)
    torch.testing.assert_close(got, right, atol=1e-5, rtol=1e-5)


def test_a_row_of_nobody_sees_itself_and_leaves_the_cache_alone() -> None:
    heads = Heads(2, 2, 32)
    step = make_raw_step([20], [1], heads, normed=True, seed=4)
    places = replace(step.places, slots=torch.full_like(step.places.slots, -1))
    nobody = Ragged(
        torch.zeros_like(step.ragged.query_starts),
        torch.zeros_like(step.ragged.context_lengths),
        step.ragged.block_tables,
    )
    before = step.cache.fill_(float("nan")).clone()
    attention = LoneAttention(nobody, places, 4, step.cache.shape)
    got = attention.run(step.fused, step.norms, step.cache)
    alone = step.fused[:, -heads.kv :].repeat_interleave(heads.per_kv, dim=1)
    torch.testing.assert_close(got, alone)
    torch.testing.assert_close(step.cache, before, equal_nan=True)


def test_keys_and_values_of_one_byte() -> None:
    """Numbers that the type has: the interpreter rounds some others to it wrongly."""
    heads = Heads(2, 2, 16)
    step = make_raw_step([40], [1], heads, normed=False, seed=5)
    kept = torch.zeros_like(step.cache).to(torch.float8_e4m3fn)
    kept.copy_(torch.randint(-8, 8, kept.shape).float())
    fused = torch.randint(-600, 600, step.fused.shape).float().sign() * 512  # kept as 448
    places = replace(
        step.places, cos=torch.ones_like(step.places.cos), sin=torch.zeros_like(step.places.sin)
    )
    heads_of_queries = heads.kv * heads.per_kv
    results = []
    for kernels in (PagedAttention, LoneAttention):
        cache = kept.clone()
        attention = kernels(step.ragged, places, heads_of_queries, cache.shape)
        results.append((attention.run(fused.clone(), None, cache), cache.float()))
    torch.testing.assert_close(results[1][0], results[0][0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(results[1][1], results[0][1])
