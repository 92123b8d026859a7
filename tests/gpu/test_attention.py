"""Attention on the device against dense float64 attention, on 200 random steps."""

import pytest
import torch
from intaglio.kernels.attention.paged import split_attention, tile_attention
from intaglio.kernels.attention.shared_prefix import PackedAttention
from intaglio.kernels.attention.split_kv import few_tokens
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

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]

DEVICE = torch.device("cuda")
TOLERANCE = {torch.float32: 3e-6, torch.float16: 1.5e-3, torch.bfloat16: 1e-2}
"""Norm of the error over norm of the float64 result: probabilities are rounded to the type before they meet values."""

LAYOUTS = [
    (Heads(8, 4, 128), 16),
    (Heads(8, 2, 128), 16),
    (Heads(2, 7, 64), 16),
    (Heads(1, 5, 80), 4),
    (Heads(2, 3, 96), 32),
    (Heads(1, 2, 256), 16),
    (Heads(3, 1, 64), 1),
    (Heads(1, 16, 128), 32),
    (Heads(2, 2, 16), 16),
]


def attend(step: Step) -> torch.Tensor:
    """Both kernels, as a mixed step runs them, for queries that are rotated and keys that are stored."""
    rows, heads, _ = step.query.shape
    sequences = step.ragged.context_lengths.shape[0]
    out = torch.full_like(step.query, float("nan"))
    single = split_attention(step.ragged, heads, step.cache.shape)
    for _ in range(2):
        single.run(step.query, step.cache, out)
    if rows != sequences:
        tile_attention(step.ragged, step.query, step.cache.shape).run(step.query, step.cache, out)
    return out


def run(step: Step) -> torch.Tensor:
    return attend(step.to(DEVICE))


@pytest.mark.parametrize("seed", range(200))
def test_any_mix_of_lengths_equals_dense_attention(seed: int) -> None:
    dtype = list(TOLERANCE)[seed % 3]
    step = random_step(seed, dtype, layouts=LAYOUTS, longest=1500)
    assert relative_error(run(step), step.expected) < TOLERANCE[dtype]


@pytest.mark.parametrize("sequences", [1, 3, 64, 300])
def test_keys_and_values_of_one_byte(sequences: int) -> None:
    lengths = [37 * (s + 1) % 900 + 30 for s in range(sequences)]
    counts = [1 + 10 * (s % 3 == 2) for s in range(sequences)]
    kept = torch.float8_e4m3fn
    step = make_step(lengths, counts, Heads(8, 4, 128), 16, torch.bfloat16, 5, kept=kept)
    assert relative_error(run(step), step.expected) < TOLERANCE[torch.bfloat16]


@pytest.mark.parametrize("sequences", [1, 3, 17, 33, 64, 200, 300])
def test_decode_steps(sequences: int) -> None:
    lengths = [(37 * s) % 900 for s in range(sequences)]
    step = make_step(lengths, [1] * sequences, Heads(8, 4, 128), 16, torch.bfloat16, sequences)
    assert relative_error(run(step), step.expected) < TOLERANCE[torch.bfloat16]


@pytest.mark.parametrize("sequences", [1, 3, 17, 64, 300])
@pytest.mark.parametrize("group", [1, 2, 4, 7])
def test_decode_steps_of_few_tokens(sequences: int, group: int) -> None:
    few = few_tokens(group)
    counts = [1 + s % few for s in range(sequences)]
    lengths = [count + (37 * s) % 900 for s, count in enumerate(counts)]
    step = make_step(lengths, counts, Heads(8, group, 128), 16, torch.bfloat16, sequences)
    here = step.to(DEVICE)
    ragged = without_rows(here.ragged, at=sequences, more=sum(counts) - sequences)
    out = torch.full_like(here.query, float("nan"))
    attention = split_attention(ragged, 8 * group, here.cache.shape)
    for _ in range(2):
        attention.run(here.query, here.cache, out)
    assert relative_error(out, step.expected) < TOLERANCE[torch.bfloat16]


@pytest.mark.parametrize("group", [1, 2, 4])
@pytest.mark.parametrize("shared", [0, 48, 310])
def test_packs_of_tokens_that_share_a_beginning(group: int, shared: int) -> None:
    few, count = few_tokens(group), 200
    lengths = [shared + 1 + (37 * s) % 500 for s in range(count)]
    step = make_step(lengths, [1] * count, Heads(8, group, 128), 16, torch.bfloat16, 1)
    step = with_shared_beginnings(step, shared, packs=few)
    here = step.to(DEVICE)
    order = torch.arange(count, dtype=torch.int32, device=DEVICE)
    common = torch.full((-(-count // few),), shared, dtype=torch.int32, device=DEVICE)
    out = torch.full_like(here.query, float("nan"))
    packs = Packs(order, common, order % few)
    attention = PackedAttention(here.ragged, packs, 8 * group, here.cache.shape)
    for _ in range(2):
        attention.run(here.query, here.cache, out)
    assert relative_error(out, step.expected) < TOLERANCE[torch.bfloat16]


@pytest.mark.parametrize("group", [1, 2, 4])
def test_tokens_of_one_sequence_in_a_pack_read_its_keys_together(group: int) -> None:
    few, counts = few_tokens(group), [1, 3, 1, 2, 5, 1, 1, 4] * 25
    lengths = [8 + (37 * s) % 500 for s in range(len(counts))]
    step = make_step(lengths, counts, Heads(8, group, 128), 16, torch.bfloat16, 1)
    owners = [s for s, count in enumerate(counts) for _ in range(count)]
    step, leads = each_by_itself(step, owners, few)
    here, rows = step.to(DEVICE), len(owners)
    common = torch.zeros(-(-rows // few), dtype=torch.int32, device=DEVICE)
    order = torch.arange(rows, dtype=torch.int32, device=DEVICE)
    packs = Packs(order, common, leads.to(DEVICE))
    out = torch.full_like(here.query, float("nan"))
    attention = PackedAttention(here.ragged, packs, 8 * group, here.cache.shape)
    attention.run(here.query, here.cache, out)
    assert relative_error(out, step.expected) < TOLERANCE[torch.bfloat16]


def test_a_captured_step_follows_its_buffers() -> None:
    """The graph holds addresses and launch sizes only: lengths, tables and keys may change between replays."""
    steps = [
        make_step([900, 30, 400, 0], [1] * 4, Heads(2, 4, 64), 16, torch.bfloat16, seed=3),
        make_step([31, 900, 385, 0], [1] * 4, Heads(2, 4, 64), 16, torch.bfloat16, seed=6),
    ]
    here = steps[0].to(DEVICE)
    attend(here)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(3):
            out = attend(here)
    for step in (*steps, *steps):
        there = step.to(DEVICE)
        here.query.copy_(there.query)
        here.cache.copy_(there.cache)
        here.ragged.context_lengths.copy_(there.ragged.context_lengths)
        here.ragged.block_tables.copy_(there.ragged.block_tables)
        out.fill_(float("nan"))
        graph.replay()
        assert relative_error(out, step.expected) < TOLERANCE[torch.bfloat16]


@pytest.mark.parametrize("normed", [False, True])
@pytest.mark.parametrize("heads", [Heads(8, 4, 128), Heads(2, 7, 64), Heads(1, 2, 80)])
@pytest.mark.parametrize(
    ("lengths", "counts"),
    [([900], [1]), ([16], [1]), ([1], [1]), ([2500], [1]), ([333, 7], [1, 1]), ([20, 500], [3, 1])],
)
def test_new_tokens_are_placed_and_attended(
    lengths: list[int], counts: list[int], heads: Heads, normed: bool
) -> None:
    step = make_raw_step(lengths, counts, heads, normed=normed, seed=2)
    results = []
    for device in (torch.device("cpu"), DEVICE):
        here = step.to(device)
        attention = choose(device).attend(
            here.ragged, here.places, heads.kv * heads.per_kv, here.cache.shape
        )
        results.append((attention.run(here.fused, here.norms, here.cache), here.cache))
    (expected, stored), (got, there) = results
    assert relative_error(got, expected.double()) < 1e-5
    assert relative_error(there, stored.double()) < 1e-6


@pytest.mark.parametrize("window", [None, 128])
@pytest.mark.parametrize(
    "counts", [[1], [1] * 9, [1] * 300, [1, 3, 1, 2], [200, 1, 70, 1]], ids=str
)
def test_sinks_are_those_of_the_cpu(counts: list[int], window: int | None) -> None:
    lengths = [count + (37 * s) % 500 for s, count in enumerate(counts)]
    step = make_raw_step(lengths, counts, Heads(8, 8, 64), normed=False, seed=1)
    sinks = torch.randn(64, generator=torch.Generator().manual_seed(0)) * 3
    here, there = step.to(torch.device("cpu")), step.to(DEVICE)
    right, got = (
        choose(device)
        .attend(each.ragged, each.places, 64, each.cache.shape, window=window)
        .run(each.fused, None, each.cache, sinks.to(device))
        for device, each in ((torch.device("cpu"), here), (DEVICE, there))
    )
    assert relative_error(got, right.double()) < 1e-4
