"""Soft caps of logits and of attention scores, and scores of another scale, against float64."""

from dataclasses import replace

import pytest
import torch
from intaglio.kernels.attention.paged import attend
from intaglio.kernels.attention.reference_attention import ReferenceAttention, Workspace
from intaglio.kernels.attention.split_kv import few_tokens
from intaglio.kernels.contracts import Packs, ScoreScaling
from intaglio.kernels.dispatch import choose
from intaglio.kernels.runtime.softcap import softcap

from tests.support.paged import (
    Heads,
    RawStep,
    Step,
    dense,
    make_raw_step,
    make_step,
    relative_error,
)

interpreted = pytest.mark.skipif(torch.cuda.is_available(), reason="tests/gpu runs them there")

HOST = torch.device("cpu")
SCORES = [ScoreScaling(0.4, None), ScoreScaling(None, 1.5), ScoreScaling(0.6, 3.0)]


@interpreted
@pytest.mark.parametrize("cap", [0.5, 30.0])
def test_logits_are_capped(cap: float) -> None:
    y = torch.tensor([[0.0, 1e-3, -2.0, 25.0, -1e4, 1e37, -torch.inf, torch.nan]])
    right = y.double().div(cap).tanh() * cap
    softcap(y, cap)
    torch.testing.assert_close(y.double(), right, atol=1e-5, rtol=1e-6, equal_nan=True)


def expected(step: Step, scores: ScoreScaling) -> torch.Tensor:
    """Dense attention of every sequence of `step` over its blocks."""
    ragged, size = step.ragged, step.cache.shape[2]
    starts = ragged.query_starts.tolist()
    found = []
    for s, length in enumerate(ragged.context_lengths.tolist()):
        at = torch.arange(length)
        keys, values = step.cache[:, ragged.block_tables[s, at // size].long(), at % size]
        found.append(dense(step.query[starts[s] : starts[s + 1]], keys, values, scores))
    return torch.cat(found)


@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("heads", [Heads(1, 1, 16), Heads(2, 3, 64)])
def test_the_definition_of_scores(heads: Heads, scores: ScoreScaling) -> None:
    """Lengths around the tiles of keys, one token and several, with their outputs merged over tiles."""
    lengths, counts = [1, 127, 128, 129, 300, 300, 70], [1, 1, 1, 5, 1, 300, 70]
    step = make_step(lengths, counts, heads, 16, torch.float32, seed=4)
    step = replace(step, cache=step.cache.nan_to_num(0))
    query = step.query * 3
    attention = ReferenceAttention(
        step.ragged, query.shape[1], step.cache.shape, Workspace(), scores
    )
    got = attention.run(query, step.cache)
    right = expected(replace(step, query=query), scores)
    assert relative_error(got, right) < 2e-6
    assert relative_error(got, expected(replace(step, query=query), ScoreScaling())) > 0.05


@interpreted
@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize(
    ("lengths", "counts", "packed"),
    [
        ([1], [1], False),
        ([150], [1], False),
        ([33, 7, 80], [1, 1, 1], False),
        ([33, 7, 80], [1, 1, 1], True),
        ([60, 50, 9], [3, 1, 9], False),
    ],
)
def test_every_attention_kernel_scores_alike(
    lengths: list[int], counts: list[int], packed: bool, scores: ScoreScaling
) -> None:
    """A lone token, one of each sequence, a few and many; and packs of single tokens."""
    step = make_raw_step(lengths, counts, Heads(2, 3, 16), normed=True, seed=2)
    here, there = step.to(HOST), step.to(HOST)
    right = choose(HOST).attend(step.ragged, step.places, 6, step.cache.shape, scores)
    expected = right.run(here.fused, here.norms, here.cache)
    if packed:
        there = in_packs(there)
    attention = attend(there.ragged, there.places, 6, there.cache.shape, scores)
    got = attention.run(there.fused, there.norms, there.cache)
    torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-5)


def in_packs(step: RawStep) -> RawStep:
    """The step of single tokens in packs that share nothing."""
    few, rows = few_tokens(3), step.fused.shape[0]
    order = torch.arange(rows, dtype=torch.int32)
    packs = Packs(order, torch.zeros(-(-rows // few), dtype=torch.int32), order % few)
    return replace(step, ragged=replace(step.ragged, packs=packs))
