"""FlashInfer as the attention of prompts: against dense float64 attention, our kernels, and within the engine."""

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec

import pytest
import torch
from intaglio.engine.types import Request, SamplingParams
from intaglio.kernels.attention.flashinfer import FlashInfer
from intaglio.kernels.contracts import Attend, AttentionPass, Places, Ragged
from intaglio.kernels.dispatch import choose

from tests.gpu.test_attention import TOLERANCE
from tests.gpu.test_engine import agreement, engine, run, texts
from tests.support.paged import (
    Heads,
    Step,
    make_raw_step,
    make_step,
    on_host,
    random_step,
    relative_error,
)

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
    pytest.mark.skipif(find_spec("flashinfer") is None, reason="needs the extra flashinfer"),
]

DEVICE = torch.device("cuda")
LAYOUTS = [
    (Heads(8, 4, 128), 16),
    (Heads(8, 2, 128), 16),
    (Heads(2, 3, 64), 16),
    (Heads(2, 7, 64), 16),
    (Heads(1, 16, 128), 32),
    (Heads(3, 1, 64), 1),
]
TYPES = (torch.bfloat16, torch.float16)


@cache
def backend(heads: Heads, dtype: torch.dtype) -> Attend:
    """One for all steps of its kind, as an engine has it."""
    return FlashInfer(DEVICE, dtype, heads.kv * heads.per_kv, heads.kv, heads.dim).attend


def described(ragged: Ragged) -> Ragged:
    """The sequences of a step on the device, told to the host, too."""
    return Ragged(
        ragged.query_starts.to(DEVICE),
        ragged.context_lengths.to(DEVICE),
        ragged.block_tables.to(DEVICE),
        host=on_host(ragged),
    )


def nowhere(step: Step) -> Places:
    """Places where nothing is turned and nothing stored: the step's queries and cache are as they should be."""
    rows, _, dim = step.query.shape
    ones = torch.ones((1, dim), dtype=step.query.dtype, device=DEVICE)
    zeros = torch.zeros(rows, dtype=torch.int32, device=DEVICE)
    return Places(ones, torch.zeros_like(ones), zeros, zeros - 1)


def fused(step: Step) -> torch.Tensor:
    """The queries, and new keys and values that go nowhere."""
    rows, _, dim = step.query.shape
    rest = torch.zeros((rows, 2 * step.cache.shape[3], dim), dtype=step.query.dtype, device=DEVICE)
    return torch.cat((step.query.to(DEVICE), rest), 1)


def attended(step: Step) -> torch.Tensor:
    heads = step.query.shape[1]
    kv, dim = step.cache.shape[3], step.cache.shape[4]
    attend = backend(Heads(kv, heads // kv, dim), step.query.dtype)
    cache = step.cache.to(DEVICE)
    attention = attend(described(step.ragged), nowhere(step), heads, cache.shape)
    for _ in range(2):  # layer after layer
        out = attention.run(fused(step), None, cache)
    return out


@pytest.mark.parametrize("seed", range(100))
def test_any_mix_of_lengths_equals_dense_attention(seed: int) -> None:
    """What no sequence wrote is NaN."""
    dtype = TYPES[seed % 2]
    step = random_step(seed, dtype, layouts=LAYOUTS, longest=1500)
    assert relative_error(attended(step), step.expected) < TOLERANCE[dtype]


@pytest.mark.parametrize(
    ("lengths", "counts"),
    [
        ([6000], [40]),  # one short query of a long context: split
        ([3000, 20, 1], [1, 1, 1]),
        ([300] * 100, [1] * 100),
        ([2500, *([40] * 60)], [2500, *([1] * 60)]),
        ([700] * 20, [300] * 20),
    ],
)
def test_long_and_many(lengths: list[int], counts: list[int]) -> None:
    step = make_step(lengths, counts, Heads(8, 4, 128), 16, torch.bfloat16, seed=7)
    assert relative_error(attended(step), step.expected) < TOLERANCE[torch.bfloat16]


@pytest.mark.parametrize("normed", [False, True])
@pytest.mark.parametrize("heads", [Heads(8, 4, 128), Heads(2, 3, 64)])
@pytest.mark.parametrize(("lengths", "counts"), [([900], [900]), ([20, 500, 33], [3, 1, 33])])
def test_new_tokens_are_placed_as_our_kernels_place_them(
    lengths: Sequence[int], counts: Sequence[int], heads: Heads, normed: bool
) -> None:
    step = make_raw_step(lengths, counts, heads, normed=normed, seed=2).to(DEVICE)
    places = step.places
    cos, sin = places.cos.bfloat16(), places.sin.bfloat16()
    places = Places(cos, sin, places.positions, places.slots)
    norms = step.norms
    if norms is not None:
        norms = type(norms)(norms.query.bfloat16(), norms.key.bfloat16(), norms.eps)
    query_heads = heads.kv * heads.per_kv
    results = []
    for attend in (choose(DEVICE).attend, backend(heads, torch.bfloat16)):
        cache = step.cache.bfloat16()
        attention = attend(described(step.ragged), places, query_heads, cache.shape)
        results.append((attention.run(step.fused.bfloat16(), norms, cache), cache))
    (expected, stored), (got, there) = results
    assert torch.equal(there, stored)
    assert relative_error(got, expected.double().cpu()) < TOLERANCE[torch.bfloat16]


def test_steps_may_be_planned_while_the_device_is_busy_with_the_ones_before() -> None:
    """The device stands still until all steps are planned but those that must wait."""
    heads = Heads(8, 4, 128)
    sizes = [([700, 30], [700, 1]), ([40] * 30, [40] * 30), ([1200], [7]), ([300] * 9, [1] * 9)]
    steps = [make_step(*sizes[i % 4], heads, 16, torch.bfloat16, seed=i) for i in range(8)]
    attended(steps[0])  # whatever is compiled or copied once
    raggeds = [described(step.ragged) for step in steps]
    caches = [step.cache.to(DEVICE) for step in steps]
    inputs = [(fused(step), nowhere(step)) for step in steps]
    attend = backend(heads, torch.bfloat16)
    torch.cuda.synchronize()
    torch.cuda._sleep(200_000_000)
    outs = []
    for ragged, kept, (rows, places) in zip(raggeds, caches, inputs, strict=True):
        attention = attend(ragged, places, heads.kv * heads.per_kv, kept.shape)
        outs.append(attention.run(rows, None, kept))
    for step, out in zip(steps, outs, strict=True):
        assert relative_error(out, step.expected) < TOLERANCE[torch.bfloat16]


@pytest.mark.parametrize(("dtype", "least"), [("bfloat16", 0.6), ("float16", 0.8)])
def test_an_engine_finds_the_same_greedy_tokens(
    dtype: str, least: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """100 documents of 48 tokens, prompts in chunks among tokens of others. What differs are near ties, as between
    our kernels and those of other implementations (test_engine.py)."""
    planned = []
    plain = FlashInfer.attend

    def counted(self: FlashInfer, *args: object) -> AttentionPass:
        planned.append(args[0])
        return plain(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(FlashInfer, "attend", counted)
    sampling = SamplingParams(max_tokens=48, temperature=0, ignore_eos=True)
    found, steps = [], []
    for attention in ("triton", "flashinfer"):
        one, tokenizer = engine(dtype=dtype, attention=attention, max_batched_tokens=512)
        requests = [
            Request(id=str(i), prompt=tokenizer.encode(text), sampling=sampling)
            for i, text in enumerate(texts(100))
        ]
        planned.clear()  # of the start
        found.append(run(one, requests))
        steps.append(len(planned))
    assert steps[0] == 0
    assert steps[1] > 5
    same = agreement(*found)
    print(f"{dtype}: {same:.0%} of 100 documents the same, {steps[1]} steps planned")
    assert same >= least, "more than near ties differ"
